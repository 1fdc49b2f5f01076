// From the nodes of the parse to the tree of ast.h.
//
// Besides copying, it unescapes texts, reads numbers, and refuses what the grammar cannot see in
// one rule: reserved names, a clause written twice, a number too large. It reports all of those.
// Part of the parser; others call Parse (parser.h).
#ifndef REKEY_GRAMMAR_BUILD_H_
#define REKEY_GRAMMAR_BUILD_H_

#include "grammar/ast.h"
#include "grammar/diagnostic.h"
#include "grammar/node.h"

namespace rekey {

// `root` holds statements and comments; the comments are taken out of it. With errors in
// `diagnostics` the tree is not to be used.
ast::File BuildFile(Node* root, const Source& source, Diagnostics* diagnostics);

ast::Pattern BuildPattern(const Node& node, const Source& source, Diagnostics* diagnostics);
ast::Expr BuildExpr(const Node& node, const Source& source, Diagnostics* diagnostics);

}  // namespace rekey

#endif  // REKEY_GRAMMAR_BUILD_H_
