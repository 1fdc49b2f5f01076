// Rule text to tree.
//
// Parse never opens a file and never throws; all of PEGTL stays in parser.cc. A syntax error stops
// the parse: there is one error, at the deepest point that commits the author to a construct, with
// the hint for that point (messages.h). Warnings may accompany a good tree.
//
//   ParseResult r = Parse(std::make_shared<Source>("a.rekey", text));
//   if (HasErrors(r.diagnostics)) ...
#ifndef REKEY_GRAMMAR_PARSER_H_
#define REKEY_GRAMMAR_PARSER_H_

#include <memory>
#include <string_view>

#include "grammar/ast.h"
#include "grammar/diagnostic.h"

namespace rekey {

struct ParseResult {
  ast::File file;  // when there are errors, only its `source`, which the diagnostics point into
  Diagnostics diagnostics;
};

ParseResult Parse(std::shared_ptr<const Source> source);

// A pattern alone, as `keys --filter` takes it. Here and below the caller keeps the source alive as
// long as the result.
struct ParsePatternResult {
  ast::Pattern pattern;
  Diagnostics diagnostics;
};
ParsePatternResult ParsePattern(std::shared_ptr<const Source> source);

// An expression alone, as `-p name=value` and `--params` values are read: 12, 1.5, "text", word.
struct ParseExprResult {
  ast::Expr expr;
  Diagnostics diagnostics;
};
ParseExprResult ParseExpr(std::shared_ptr<const Source> source);

// PEGTL's grammar analysis: the number of rules that may loop without progress. Tests ask for 0.
size_t AnalyzeGrammar();

}  // namespace rekey

#endif  // REKEY_GRAMMAR_PARSER_H_
