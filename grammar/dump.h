// The tree in brackets: what tests compare, and what two trees are equal by.
//
// Shows all that a rule file means and nothing of its layout: places and comments are left out.
//
//   Dump(Parse(source).file)    // (map (pattern "a" {i:int}) (target "b" {(+ i 1)}))\n
#ifndef REKEY_GRAMMAR_DUMP_H_
#define REKEY_GRAMMAR_DUMP_H_

#include <string>

#include "grammar/ast.h"

namespace rekey {

// One statement a line.
std::string Dump(const ast::File& file);

std::string Dump(const ast::Statement& statement);
std::string Dump(const ast::Expr& expr);
std::string Dump(const ast::Pattern& pattern);
std::string Dump(const ast::Target& target);

}  // namespace rekey

#endif  // REKEY_GRAMMAR_DUMP_H_
