// Tree to rule text: the one canonical layout.
//
// What `rekey fmt` prints and what `invert` and `draft` write. Format(Parse(Format(t))) ==
// Format(t) and the formatted text parses to the same tree. Comments and single blank lines between
// statements stay; runs of blank lines become one.
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
