// Expressions and targets of the tree to Code: every name gets its meaning.
//
// Params, lets and tables are folded in, holes and groups become numbered variables, whatever is
// constant is evaluated at once, so that its errors come before any key is read. A type that cannot
// be right (a text in arithmetic) is an error here, not at the first key. Matching and evaluation
// on keys are not its business (expr.h, pattern.h).
//
//   BindPlace place;  place.variables = &holes.variables;  place.groups = &groups;
//   KeyTarget target = binder.BindTarget(rule.targets[0], place);
#ifndef REKEY_ENGINE_BIND_H_
#define REKEY_ENGINE_BIND_H_

#include <string>
#include <vector>

#include "engine/catalog.h"
#include "engine/expr.h"
#include "engine/names.h"
#include "engine/pattern.h"
#include "grammar/ast.h"
#include "grammar/diagnostic.h"

namespace rekey {

// What an expression may refer to where it stands.
struct BindPlace {
  const std::vector<Variable>* variables = nullptr;
  const std::vector<int>* groups = nullptr;  // \n is variable groups[n], -1 when there is none
  bool tensor = false;                       // rank, dtype, dim(i)
  bool keys = false;                         // has(K)
  bool outputs = false;                      // dim(KEY, i)
  std::vector<bool>* used = nullptr;         // by variable: set for those that are referred to
  const char* help = "";                     // said with an unknown name
  bool quiet = false;  // the pattern is broken and reported: its holes are not known
};

// Where meta("...") is looked up.
struct MetaSource {
  const Catalog* catalog = nullptr;
  bool deferred = false;  // each file has its own: stay Code
};

class Binder {
 public:
  Binder(Names* names, MetaSource meta, Diagnostics* diagnostics)
      : names_(names), meta_(meta), diagnostics_(diagnostics) {}

  Code Bind(const ast::Expr& expr, const BindPlace& place) { return Build(expr, place, false); }
  Code BindCondition(const ast::Expr& expr, const BindPlace& place);
  Code BindInt(const ast::Expr& expr, const BindPlace& place);
  KeyTarget BindTarget(const ast::Target& target, const BindPlace& place);

 private:
  // `lazy`: it may never be evaluated (`a and b`), so that its errors wait.
  Code Build(const ast::Expr& expr, const BindPlace& place, bool lazy);
  Code BuildName(const ast::Expr& expr, const BindPlace& place);
  Code BuildGroup(int group, Span span, const BindPlace& place);
  Code BuildCall(const ast::Expr& expr, const BindPlace& place, bool lazy);
  Code BuildMeta(const ast::Expr& expr, const BindPlace& place, bool lazy);
  Code BuildDim(const ast::Expr& expr, const BindPlace& place, bool lazy);
  Code BuildOperator(const ast::Expr& expr, const BindPlace& place, bool lazy);
  Code Fold(Code code, bool lazy);
  bool CheckOperands(const Code& code);
  bool TakesArgs(const ast::Expr& expr, size_t least, size_t most, const char* form);
  KeyTarget OutputKey(const ast::Expr& text, const BindPlace& place);
  Code VariableCode(int index, Span span, const BindPlace& place);
  Code Broken(Diagnostic error);
  Code UnknownName(const ast::Expr& expr, const BindPlace& place);
  Code UnknownFunction(const ast::Expr& expr);

  Names* names_;
  MetaSource meta_;
  Diagnostics* diagnostics_;
};

// The first leaf of that kind, or null.
const Code* FindCode(const Code& code, Code::Kind kind);

Code ConstantCode(Value value, Span span);

// Stands for what could not be compiled and has been reported: nothing trips over it again.
Code ReportedCode(Span span);

}  // namespace rekey

#endif  // REKEY_ENGINE_BIND_H_
