// The text of a /regex/ before RE2 sees it: anchors, lints, errors with a column.
//
// Patterns match whole keys, so `^` and `$` at the ends say nothing; they are taken off with a
// lint. Everything else goes to RE2 unchanged.
//
//   RegexText r = ReadRegex(pattern, true, &diagnostics);   // /^conv.(\d+)$/
//   r.text      // "conv.(\d+)", and two lints
//   r.groups    // {"", "1st"}: names of the groups, from number 0
#ifndef REKEY_ENGINE_REGEX_TEXT_H_
#define REKEY_ENGINE_REGEX_TEXT_H_

#include <string>
#include <string_view>
#include <vector>

#include "grammar/ast.h"
#include "grammar/diagnostic.h"

namespace rekey {

struct RegexText {
  bool ok = false;
  std::string text;
  std::vector<std::string> groups;  // names by group number, "" for unnamed ones; [0] is ""
  std::string prefix;               // every match begins with it
};

// `whole_key`: anchors are redundant there.
RegexText ReadRegex(const ast::Pattern& pattern, bool whole_key, Diagnostics* diagnostics);

// Literal text as RE2 text.
std::string EscapeRegex(std::string_view text);

}  // namespace rekey

#endif  // REKEY_ENGINE_REGEX_TEXT_H_
