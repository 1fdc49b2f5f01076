// Rules and scopes of the tree to flat Rules.
//
// `in P -> Q { map R -> T }` is exactly `map PR -> QT`; without `->` the scope's text is put back.
// A scope is carried down as a ScopeFrame: the patterns so far as one text, their holes, what goes
// in front of targets, and the guards. The structure of merge and split is checked here too; which
// keys they take is not (rewrite.h).
//
//   RuleCompiler rules(context);
//   rules.Compile(statement, &pass.rules);     // a Rule or a Scope
#ifndef REKEY_ENGINE_RULE_COMPILE_H_
#define REKEY_ENGINE_RULE_COMPILE_H_

#include <optional>
#include <string>
#include <vector>

#include "engine/bind.h"
#include "engine/pattern_text.h"
#include "engine/program.h"
#include "grammar/ast.h"
#include "grammar/diagnostic.h"

namespace rekey {

struct CompileContext {
  Names* names = nullptr;
  Binder* binder = nullptr;
  PatternCompiler* patterns = nullptr;
  Diagnostics* diagnostics = nullptr;
  bool lints = true;
};

// What encloses a rule.
struct ScopeFrame {
  PatternText pattern;
  Holes holes;
  std::vector<KeyTarget::Part> target;  // goes in front of every target
  bool renames = false;
  Span renames_span;           // of the scope that does
  std::vector<bool> put_back;  // by hole: of a scope without `->`
  std::optional<Code> guard;
  bool maybe = false;
};

class RuleCompiler {
 public:
  explicit RuleCompiler(const CompileContext& context) : context_(context) {}

  void Compile(const ast::Statement& statement, std::vector<Rule>* rules) {
    Compile(statement, ScopeFrame(), rules);
  }

 private:
  void Compile(const ast::Statement& statement, const ScopeFrame& frame, std::vector<Rule>* rules);
  void CompileScope(const ast::Scope& scope, Span span, ScopeFrame frame, std::vector<Rule>* rules);
  void CompileRule(const ast::Rule& rule, Span span, const ScopeFrame& frame,
                   std::vector<Rule>* rules);
  CompileContext context_;
};

// Warns of holes and groups, from variable `from` on, that nothing refers to.
void LintUnusedHoles(const Holes& holes, size_t from, Diagnostics* diagnostics);

}  // namespace rekey

#endif  // REKEY_ENGINE_RULE_COMPILE_H_
