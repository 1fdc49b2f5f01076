// Parts of statements: words, patterns, targets, expressions.
//
// The lower half of the way from nodes to tree (build.h): everything that stands inside a statement
// and needs no knowledge of statements.
#ifndef REKEY_GRAMMAR_BUILD_PARTS_H_
#define REKEY_GRAMMAR_BUILD_PARTS_H_

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "grammar/ast.h"
#include "grammar/diagnostic.h"
#include "grammar/node.h"

namespace rekey {

class PartBuilder {
 public:
  PartBuilder(const Source& source, Diagnostics* diagnostics)
      : source_(source), diagnostics_(*diagnostics) {}

  ast::Pattern BuildPattern(const Node& node);
  ast::Target BuildTarget(const Node& node);
  ast::Expr BuildExpr(const Node& node);

 protected:
  const Source& source() const { return source_; }
  Span SpanOf(const Node& node) const;
  static Span Join(Span first, Span last) { return {first.source, first.begin, last.end}; }
  void Report(Diagnostic&& diagnostic) { diagnostics_.push_back(std::move(diagnostic)); }

  static std::string Text(const Node& node) { return std::string(node.Text()); }
  // kStr unescaped, or a bare kText.
  static std::string Str(const Node& node);
  static std::optional<std::string> OptionalStr(const Node& node);
  // A name that is declared here: reported if it is a word of the language.
  std::string Declared(const Node& node);

  std::vector<ast::Expr> Exprs(const Node& node);

 private:
  ast::Expr Number(const Node& node);
  ast::Expr Chain(const Node& node, const char* keyword);
  ast::Expr Compare(const Node& node);
  ast::Expr Unary(const Node& node);
  ast::Expr Binary(std::string op, ast::Expr left, ast::Expr right);
  ast::Expr Prefixed(std::string op, const Node& sign, ast::Expr operand);
  ast::Expr Bounded(ast::Expr expr);

  const Source& source_;
  Diagnostics& diagnostics_;
};

}  // namespace rekey

#endif  // REKEY_GRAMMAR_BUILD_PARTS_H_
