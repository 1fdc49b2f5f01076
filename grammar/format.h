// Tree to rule text: the one canonical layout.
//
// What `rekey fmt` prints and what `invert` and `draft` write. Format(Parse(Format(t))) ==
// Format(t) and the formatted text parses to the same tree.
//
// Blocks are indented by two columns, tokens separated one way. Kept as the author wrote them:
// comments (the column of one at the end of a line too, if there is room), single blank lines
// between statements (runs become one), quotes, parentheses, and line breaks before `|`, `by`, `if`
// and inside brackets. A rule wider than 100 columns is broken before `by`, `if` and every `|`, a
// list of sources or targets into one a line. No text is ever shortened: a key may be wider.
//
// A tree that was not parsed has no places: give its parts no spans, or those of one source in
// their order. Statements of different kinds are then set apart by blank lines. A text with a
// newline cannot be written in the language; it comes out as text that does not parse.
#ifndef REKEY_GRAMMAR_FORMAT_H_
#define REKEY_GRAMMAR_FORMAT_H_

#include <string>

#include "grammar/ast.h"

namespace rekey {

std::string Format(const ast::File& file);

// One construct alone, on one line: what messages, `explain` and the rule lines of `run` quote.
std::string Format(const ast::Pattern& pattern);
std::string Format(const ast::Target& target);
std::string Format(const ast::Expr& expr);
std::string Format(const ast::Op& op);
std::string Format(const ast::Statement& statement);

}  // namespace rekey

#endif  // REKEY_GRAMMAR_FORMAT_H_
