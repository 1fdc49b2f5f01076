// From "did not match" to a message that helps.
//
// PEGTL reports an offset and the text of the commit point that failed (messages.h). SyntaxError
// makes the Diagnostic: it points at the word that stands there, says what it is, and adds advice
// where that word is a known slip (`*` as a wildcard, `$1`, `=>` for `->`). The other functions
// word the mistakes that the grammar recognises as a whole (`wrong::` in grammar.h).
#ifndef REKEY_GRAMMAR_HINTS_H_
#define REKEY_GRAMMAR_HINTS_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "grammar/diagnostic.h"

namespace rekey {

// `message`: one line, then a line for each help. `open`: offsets of the brackets and quotes that
// are open at `offset`, outermost first, blocks (`in … {`) left out unless the text ends.
Diagnostic SyntaxError(const Source& source, uint32_t offset, std::string_view message,
                       const std::vector<uint32_t>& open);

Diagnostic UnknownStatement(Span word);  // at the top of a file
// Between the braces of `in`, the first of which stands at `opening`.
Diagnostic UnknownScopeStatement(Span word, Span opening);
Diagnostic UnknownTestLine(Span first);
Diagnostic BareStripText(Span text);
Diagnostic LongGroup(Span group);  // \10
Diagnostic UnknownEscape(Span escape);
Diagnostic LateClause(Span word);  // `if` or `by` after `|`
Diagnostic TargetList(Span list);  // merge … -> [A, B]

}  // namespace rekey

#endif  // REKEY_GRAMMAR_HINTS_H_
