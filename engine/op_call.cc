#include "engine/op_call.h"

#include <algorithm>
#include <string>
#include <utility>

#include "engine/ops/ops.h"
#include "grammar/suggest.h"

namespace rekey {
namespace {

std::string Quoted(std::string_view text) { return "`" + std::string(text) + "`"; }

Diagnostic UnknownOp(const ast::Op& op) {
  Diagnostic error =
      Error("unknown-operation", "unknown operation " + Quoted(op.name)).At(op.name_span);
  std::vector<std::string_view> names;
  for (const OpInfo& info : Ops()) names.push_back(info.name);
  for (const std::string_view near : Nearest(op.name, names, 1))
    error.Help("did you mean " + Quoted(near) + "?");
  if (error.helps.empty()) error.Help("`rekey help ops` lists them all");
  return error;
}

// The parameter that argument `index` supplies.
const OpParam* ParamOf(const OpInfo& info, const std::vector<int>& matched, size_t index) {
  const OpParam* variadic = nullptr;
  for (size_t i = 0; i < matched.size(); ++i) {
    if (matched[i] == static_cast<int>(index)) return &info.params[i];
    if (info.params[i].variadic && matched[i] >= 0 && static_cast<int>(index) > matched[i])
      variadic = &info.params[i];
  }
  return variadic;
}

// A word such as `clamp`, which is no name.
std::optional<Code> WordArg(const OpParam& param, const ast::Arg& arg, Diagnostics* diagnostics) {
  if (param.type != OpParam::Type::kWord) return std::nullopt;
  if (arg.value.kind != ast::Expr::Kind::kName && arg.value.kind != ast::Expr::Kind::kText)
    return std::nullopt;
  const std::string& word = arg.value.text;
  if (std::find(param.words.begin(), param.words.end(), word) == param.words.end()) {
    std::string all;
    for (const std::string_view one : param.words) all += (all.empty() ? "" : ", ") + Quoted(one);
    diagnostics->push_back(
        Error("operation-argument", "`" + std::string(param.name) + "` is not " + Quoted(word))
            .At(arg.value.span)
            .Help("it is one of " + all));
  }
  return ConstantCode(word, arg.value.span);
}

Code BindArg(const OpParam* param, const ast::Arg& arg, const BindPlace& place, Binder* binder,
             Diagnostics* diagnostics) {
  if (param)
    if (std::optional<Code> word = WordArg(*param, arg, diagnostics)) return *word;
  if (!arg.range_end) {
    const bool integer = param && param->type == OpParam::Type::kInt;
    return integer ? binder->BindInt(arg.value, place) : binder->Bind(arg.value, place);
  }
  Code range;
  range.kind = Code::Kind::kList;
  range.span = arg.span;
  range.args.push_back(binder->BindInt(arg.value, place));
  range.args.push_back(binder->BindInt(*arg.range_end, place));
  return range;
}

// Constants are checked at once.
void CheckConstants(const OpCall& call, Diagnostics* diagnostics) {
  std::vector<Value> values;
  for (const Code& arg : call.args) {
    const bool constant =
        arg.IsConstant() || (arg.kind == Code::Kind::kList &&
                             std::all_of(arg.args.begin(), arg.args.end(),
                                         [](const Code& item) { return item.IsConstant(); }));
    if (!constant) return;
    Result<Value> value = arg.Evaluate(Env());
    if (!value.ok()) return;
    values.push_back(std::move(*value));
  }
  Result<OpArgs> bound = BindArgs(*call.op, call.matched, values);
  if (bound.ok()) return;
  Diagnostic error = std::move(bound).error();
  if (!error.primary.span) error.At(call.span);
  diagnostics->push_back(std::move(error));
}

}  // namespace

std::optional<OpCall> CompileOp(const ast::Op& op, BindPlace place, Binder* binder,
                                Diagnostics* diagnostics) {
  OpCall call;
  call.span = op.span;
  call.op = FindOp(op.name);
  if (call.op == nullptr) {
    diagnostics->push_back(UnknownOp(op));
    return std::nullopt;
  }
  std::vector<ArgShape> shapes;
  for (const ast::Arg& arg : op.args) shapes.push_back({arg.name, arg.range_end.has_value()});
  Result<std::vector<int>> matched = MatchArgs(*call.op, shapes);
  if (!matched.ok()) {
    Diagnostic error = std::move(matched).error();
    if (!error.primary.span) error.At(op.span);
    diagnostics->push_back(std::move(error));
    return std::nullopt;
  }
  call.matched = std::move(*matched);
  place.tensor = true;
  const size_t errors = diagnostics->size();
  for (size_t i = 0; i < op.args.size(); ++i)
    call.args.push_back(
        BindArg(ParamOf(*call.op, call.matched, i), op.args[i], place, binder, diagnostics));
  if (diagnostics->size() == errors) CheckConstants(call, diagnostics);
  return call;
}

}  // namespace rekey
