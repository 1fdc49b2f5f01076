// Expressions, compiled: `{i + per_stage * p}`, guards, operation arguments.
//
// Code is a small tree in which params, lets and tables are already folded in; what is left open
// depends on a match (variables), on a tensor (rank, dtype, dim) or on the keys (has). Evaluation
// never throws and never wraps: overflow, a division that does not come out, text in arithmetic, a
// missing param are errors at the place in the rule file.
//
//   Env env;  env.variables = texts;                 // {"3", "attn"}
//   Result<Value> v = code.Evaluate(env);            // `i + 1` -> 4
#ifndef REKEY_ENGINE_EXPR_H_
#define REKEY_ENGINE_EXPR_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "engine/graph.h"
#include "engine/status.h"
#include "engine/value.h"
#include "grammar/source.h"

namespace rekey {

struct KeyTarget;

// table norm { gamma = weight, beta = bias }: values are texts, or integers where they are digits.
struct TableValues {
  std::string name;
  Span span;
  std::vector<std::string> keys;  // as written
  std::unordered_map<std::string, Value> values;
};

// A hole or a regex group of a rule, numbered over all its sources.
struct Variable {
  enum class Kind { kText, kInt, kGroup };  // kGroup: a regex group, text or decimal as needed
  std::string name;                         // "i", "\\1"; "_" when it cannot be named
  Kind kind = Kind::kText;
  bool any = false;    // {x:any}
  int min_digits = 0;  // {i:03}
  Span span;
};

struct Env {
  // By variable number; data() == nullptr for a group that took no part.
  const std::vector<std::string_view>* variables = nullptr;
  const TensorType* tensor = nullptr;  // rank, dtype, dim(i)
  const std::function<bool(std::string_view key)>* has = nullptr;
  // meta("path") where it must wait for a file (guards of `source`); folded elsewhere.
  const std::function<Result<std::optional<Scalar>>(std::string_view path)>* meta = nullptr;
  // dim(KEY, i) in a fill: the type of an output key.
  const std::function<const TensorType*(std::string_view key)>* output = nullptr;
};

struct Code {
  enum class Kind {
    kConstant,  // value
    kVariable,  // index: a number where arithmetic needs one, its source text where text is printed
    kMissing,   // text: a param that has no value; evaluating it is the error that asks for it.
                // args[0]: a constant with the place of its declaration and the path of its meta
                // ("" if it has none); `index` 1 if a checkpoint was open and lacks the path
    kRank,
    kDType,
    kDim,      // args[0]; with target: dim(KEY, i)
    kHas,      // target
    kTable,    // table, args[0]
    kDots,     // args[0]: '/' becomes '.'
    kSlashes,  // args[0]: '.' becomes '/'
    kMeta,     // text: path; args[0] is the default, if any; `index` as for kMissing
    kList,     // args
    kUnary,    // text: "-", "not"
    kBinary,   // text: the operator
  };
  Kind kind = Kind::kConstant;
  Span span;
  Value value = int64_t{0};
  int index = 0;
  std::string text;
  Variable::Kind variable = Variable::Kind::kText;
  bool decimal = false;  // kVariable of {i:03}: printed as a number, not as its source text
  std::shared_ptr<const TableValues> table;
  std::shared_ptr<const KeyTarget> target;
  std::vector<Code> args;

  bool IsConstant() const { return kind == Kind::kConstant; }

  Result<Value> Evaluate(const Env& env) const;

  // Evaluate, then demand that type; a whole-valued float passes as an integer.
  Result<int64_t> EvaluateInt(const Env& env) const;
  Result<bool> EvaluateBool(const Env& env) const;
};

}  // namespace rekey

#endif  // REKEY_ENGINE_EXPR_H_
