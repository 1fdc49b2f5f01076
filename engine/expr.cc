#include "engine/expr.h"

#include <algorithm>
#include <utility>

#include "engine/arithmetic.h"
#include "engine/object.h"
#include "engine/pattern.h"
#include "grammar/suggest.h"

namespace rekey {
namespace {

Value FromScalar(const Scalar& scalar) {
  return std::visit([](const auto& value) { return Value(value); }, scalar);
}

Diagnostic Placed(Diagnostic error, Span span) {
  if (!error.primary.span) error.At(span);
  return error;
}

Diagnostic MissingParam(const Code& code) {
  Diagnostic error = Error("missing-param", "param `" + code.text + "` has no value");
  error.At(code.span);
  std::string meta;
  if (!code.args.empty()) {
    error.Also(code.args[0].span, "declared here");
    meta = *code.args[0].value.text();
  }
  if (!meta.empty() && code.index == 1) error.Note("the checkpoint has no `" + meta + "`");
  error.Help("give it: `-p " + code.text + "=...`");
  if (!meta.empty() && code.index == 0)
    error.Help("or name a checkpoint that carries `" + meta + "`");
  return error;
}

Result<Value> EvaluateMeta(const Code& code, const Env& env) {
  if (env.meta) {
    Result<std::optional<Scalar>> found = (*env.meta)(code.text);
    if (!found.ok()) return Placed(std::move(found).error(), code.span);
    if (*found) return FromScalar(**found);
  }
  if (!code.args.empty()) return code.args[0].Evaluate(env);
  Diagnostic error = Error("missing-meta", env.meta || code.index == 1
                                               ? "the checkpoint has no `" + code.text + "`"
                                               : "`meta` is asked for and no checkpoint is open");
  return error.At(code.span)
      .Help("give a default: `meta(\"" + code.text + "\", 0)`")
      .Help("or read it into a param, which `-p` can set");
}

std::string_view VariableText(const Code& code, const Env& env) {
  return (*env.variables)[static_cast<size_t>(code.index)];
}

Result<Value> EvaluateVariable(const Code& code, const Env& env) {
  const std::string_view text = VariableText(code, env);
  if (code.variable != Variable::Kind::kInt) return Value(std::string(text));
  if (const auto number = ParseDigits(text)) return Value(*number);
  return Error("overflow", "the number `" + std::string(text) + "` does not fit into 64 bits")
      .At(code.span);
}

// A regex group in arithmetic is read as a decimal number; other values stay.
Result<Value> Numeric(const Code& code, Value value, const Env& env) {
  if (code.kind != Code::Kind::kVariable || code.variable != Variable::Kind::kGroup) return value;
  const std::string_view text = VariableText(code, env);
  if (const auto number = ParseDigits(text)) return Value(*number);
  if (text.data() == nullptr)
    return Error("text-in-arithmetic", "the group took no part in the match")
        .At(code.span, "a number is needed");
  return Error("text-in-arithmetic", "the group is `" + std::string(text) + "`, which is no number")
      .At(code.span, "a number is needed")
      .Help("let the group match digits alone: `(\\d+)`");
}

Result<bool> Truth(const Code& code, const Env& env) {
  Result<Value> value = code.Evaluate(env);
  if (!value.ok()) return std::move(value).error();
  if (const bool* truth = value->truth()) return *truth;
  return Error("type-mismatch",
               ToString(*value) + " is " + std::string(TypeName(*value)) + ", no truth value")
      .At(code.span, "a condition is needed");
}

Result<Value> EvaluateUnary(const Code& code, const Env& env) {
  if (code.text == "not") {
    Result<bool> truth = Truth(code.args[0], env);
    if (!truth.ok()) return std::move(truth).error();
    return Value(!*truth);
  }
  Result<Value> value = code.args[0].Evaluate(env);
  if (value.ok()) value = Numeric(code.args[0], std::move(*value), env);
  if (!value.ok()) return value;
  Result<Value> negated = Negate(*value);
  if (!negated.ok()) return Placed(std::move(negated).error(), code.span);
  return negated;
}

Result<Value> EvaluateBinary(const Code& code, const Env& env) {
  const std::string& op = code.text;
  if (op == "and" || op == "or") {
    for (const Code& arg : code.args) {
      Result<bool> truth = Truth(arg, env);
      if (!truth.ok()) return std::move(truth).error();
      if (*truth == (op == "or")) return Value(*truth);
    }
    return Value(op == "and");
  }
  std::vector<Value> sides;
  for (const Code& arg : code.args) {
    Result<Value> side = arg.Evaluate(env);
    if (!side.ok()) return side;
    sides.push_back(std::move(*side));
  }
  const bool compares = op.find_first_of("=<>") != std::string::npos;
  for (size_t i = 0; i < 2; ++i) {
    // `\1 == "a"` compares texts, `\1 == 3` numbers.
    if (compares && !IsNumber(sides[1 - i])) continue;
    Result<Value> number = Numeric(code.args[i], std::move(sides[i]), env);
    if (!number.ok()) return number;
    sides[i] = std::move(*number);
  }
  Result<Value> result =
      compares ? Compare(op, sides[0], sides[1]) : Operate(op, sides[0], sides[1]);
  if (!result.ok()) return Placed(std::move(result).error(), code.span);
  return result;
}

Result<Value> EvaluateDim(const Code& code, const Env& env) {
  const TensorType* tensor = env.tensor;
  std::string of;
  if (code.target) {
    if (Status printed = code.target->Print(env, &of); !printed.ok())
      return std::move(printed).error();
    tensor = env.output ? (*env.output)(of) : nullptr;
    if (tensor == nullptr)
      return Error("no-output", "there is no output key `" + of + "`").At(code.span);
  }
  if (tensor == nullptr)
    return Error("no-tensor", "`dim` is asked for where there is no tensor").At(code.span);
  Result<int64_t> dim = code.args[0].EvaluateInt(env);
  if (!dim.ok()) return std::move(dim).error();
  const int64_t rank = static_cast<int64_t>(tensor->shape.size());
  const int64_t index = *dim < 0 ? *dim + rank : *dim;
  if (index < 0 || index >= rank)
    return Error("no-dimension",
                 "there is no dimension " + std::to_string(*dim) + " in " + ToString(*tensor))
        .At(code.span)
        .Help("dimensions count from 0");
  return Value(static_cast<int64_t>(tensor->shape[static_cast<size_t>(index)]));
}

// The text that a variable stands for as it was in the key, or the value's own.
Result<std::string> TextOf(const Code& code, const Env& env) {
  if (code.kind == Code::Kind::kVariable && !code.decimal)
    return std::string(VariableText(code, env));
  Result<Value> value = code.Evaluate(env);
  if (!value.ok()) return std::move(value).error();
  if (value->text()) return *value->text();
  if (const auto whole = WholeNumber(*value)) return std::to_string(*whole);
  return Error("type-mismatch",
               ToString(*value) + " is " + std::string(TypeName(*value)) + ", no text")
      .At(code.span);
}

Result<Value> EvaluateTable(const Code& code, const Env& env) {
  Result<std::string> key = TextOf(code.args[0], env);
  if (!key.ok()) return std::move(key).error();
  const TableValues& table = *code.table;
  auto row = table.values.find(*key);
  // 02 is the row 2 where there is no row 02.
  if (row == table.values.end())
    if (const auto number = ParseDigits(*key)) row = table.values.find(std::to_string(*number));
  if (row != table.values.end()) return row->second;
  Diagnostic error = Error("not-in-table", "table `" + table.name + "` has no `" + *key + "`");
  error.At(code.span).Also(table.span, "the table");
  std::vector<std::string_view> keys(table.keys.begin(), table.keys.end());
  for (const std::string_view near : Nearest(*key, keys, 1))
    error.Help("the nearest row is `" + std::string(near) + "`");
  return error;
}

Result<Value> EvaluateReplace(const Code& code, const Env& env, char from, char to) {
  Result<std::string> text = TextOf(code.args[0], env);
  if (!text.ok()) return std::move(text).error();
  std::replace(text->begin(), text->end(), from, to);
  return Value(std::move(*text));
}

Result<Value> EvaluateHas(const Code& code, const Env& env) {
  std::string key;
  if (Status printed = code.target->Print(env, &key); !printed.ok())
    return std::move(printed).error();
  return Value(env.has != nullptr && (*env.has)(key));
}

Result<Value> EvaluateList(const Code& code, const Env& env) {
  ValueList list;
  for (const Code& arg : code.args) {
    Result<Value> value = arg.Evaluate(env);
    if (value.ok()) value = Numeric(arg, std::move(*value), env);
    if (!value.ok()) return value;
    list.push_back(std::move(*value));
  }
  return Value(std::move(list));
}

Diagnostic NoTensor(const Code& code, const char* word) {
  return Error("no-tensor", "`" + std::string(word) + "` is asked for where there is no tensor")
      .At(code.span);
}

}  // namespace

Result<Value> Code::Evaluate(const Env& env) const {
  switch (kind) {
    case Kind::kConstant:
      return value;
    case Kind::kVariable:
      return EvaluateVariable(*this, env);
    case Kind::kMissing:
      return MissingParam(*this);
    case Kind::kRank:
      if (!env.tensor) return NoTensor(*this, "rank");
      return Value(static_cast<int64_t>(env.tensor->shape.size()));
    case Kind::kDType:
      if (!env.tensor) return NoTensor(*this, "dtype");
      return Value(env.tensor->dtype);
    case Kind::kDim:
      return EvaluateDim(*this, env);
    case Kind::kHas:
      return EvaluateHas(*this, env);
    case Kind::kTable:
      return EvaluateTable(*this, env);
    case Kind::kDots:
      return EvaluateReplace(*this, env, '/', '.');
    case Kind::kSlashes:
      return EvaluateReplace(*this, env, '.', '/');
    case Kind::kMeta:
      return EvaluateMeta(*this, env);
    case Kind::kList:
      return EvaluateList(*this, env);
    case Kind::kUnary:
      return EvaluateUnary(*this, env);
    case Kind::kBinary:
      return EvaluateBinary(*this, env);
  }
  return Error("expression", "an expression of no kind").At(span);
}

Result<int64_t> Code::EvaluateInt(const Env& env) const {
  Result<Value> result = Evaluate(env);
  if (result.ok()) result = Numeric(*this, std::move(*result), env);
  if (!result.ok()) return std::move(result).error();
  if (const auto whole = WholeNumber(*result)) return *whole;
  return Error("type-mismatch",
               ToString(*result) + " is " + std::string(TypeName(*result)) + ", no integer")
      .At(span, "an integer is needed");
}

Result<bool> Code::EvaluateBool(const Env& env) const { return Truth(*this, env); }

}  // namespace rekey
