#include "engine/ops/ops.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/ops/rules.h"
#include "grammar/suggest.h"

namespace rekey {
namespace {

using enum OpArity;
using enum OpKind;
using enum OpGrade;
using T = OpParam::Type;

const OpParam kDim{"d", T::kInt};

std::vector<OpInfo> MakeOps() {
  return {
      {"transpose",
       "transpose or transpose(i, j)",
       "two dimensions exchanged; without arguments, of a matrix",
       kOneToOne,
       kLayout,
       kExact,
       "itself",
       {{"i", T::kInt, true}, {"j", T::kInt, true}},
       1,
       "with more than two dimensions it is `permute(d0, d1, ...)`",
       InferTranspose},
      {"permute",
       "permute(d0, d1, ...)",
       "output dimension k is input dimension dk",
       kOneToOne,
       kLayout,
       kExact,
       "permute",
       {{"d", T::kInt, false, true}},
       1,
       nullptr,
       InferPermute},
      {"reshape",
       "reshape(n0, n1, ...)",
       "the same elements, row-major; one size may be -1",
       kOneToOne,
       kLayout,
       kExact,
       "reshape",
       {{"n", T::kInt, false, true}},
       1,
       nullptr,
       InferReshape},
      {"unflatten",
       "unflatten(d, [n0, n1, ...])",
       "one dimension cut into several; one size may be -1",
       kOneToOne,
       kLayout,
       kExact,
       "flatten",
       {kDim, {"sizes", T::kIntList}},
       1,
       "the sizes are a list: `unflatten(d, [n0, n1])`",
       InferUnflatten},
      {"flatten",
       "flatten(a, b)",
       "dimensions a to b, both counted in, joined to one",
       kOneToOne,
       kLayout,
       kExact,
       "unflatten",
       {{"a", T::kInt}, {"b", T::kInt}},
       1,
       nullptr,
       InferFlatten},
      {"squeeze",
       "squeeze(d)",
       "a dimension of size 1 removed",
       kOneToOne,
       kLayout,
       kExact,
       "unsqueeze",
       {kDim},
       1,
       nullptr,
       InferSqueeze},
      {"unsqueeze",
       "unsqueeze(d)",
       "a dimension of size 1 added",
       kOneToOne,
       kLayout,
       kExact,
       "squeeze",
       {kDim},
       1,
       nullptr,
       InferUnsqueeze},
      {"slice",
       "slice(d, a..b) or slice(d, a..b, step: s)",
       "indices a to b - 1, every s-th of them",
       kOneToOne,
       kLayout,
       kLossy,
       "lossy",
       {kDim, {"range", T::kRange}, {"step", T::kInt, true}},
       1,
       "the range is one argument: `slice(d, a..b)`",
       InferSlice},
      {"take",
       "take(d, [i, ...])",
       "the listed indices in the listed order",
       kOneToOne,
       kLayout,
       kExact,
       "take, if the list is a permutation; else lossy",
       {kDim, {"indices", T::kIntList}},
       1,
       "the indices are a list: `take(d, [i, j])`",
       InferTake},
      {"reorder",
       "reorder(d, [i, ...])",
       "the dimension cut into as many equal blocks as the list has entries, block list[k] k-th",
       kOneToOne,
       kLayout,
       kExact,
       "reorder",
       {kDim, {"blocks", T::kIntList}},
       1,
       "the blocks are a list: `reorder(d, [1, 0, 2])`",
       InferReorder},
      {"flip",
       "flip(d)",
       "a dimension in reverse order",
       kOneToOne,
       kLayout,
       kExact,
       "itself",
       {kDim},
       1,
       nullptr,
       InferFlip},
      {"roll",
       "roll(d, k)",
       "shifted by k places to higher indices, the end coming round",
       kOneToOne,
       kLayout,
       kExact,
       "roll",
       {kDim, {"k", T::kInt}},
       1,
       nullptr,
       InferRoll},
      {"pad",
       "pad(d, n, value: zero|repeat_last)",
       "brought to size n at the end, with zeros unless told otherwise",
       kOneToOne,
       kLayout,
       kExact,
       "slice",
       {kDim, {"n", T::kInt}, {"value", T::kWord, true, false, {"zero", "repeat_last"}}},
       1,
       nullptr,
       InferPad},
      {"repeat",
       "repeat(d, k)",
       "the whole dimension k times",
       kOneToOne,
       kLayout,
       kLossy,
       "lossy",
       {kDim, {"k", T::kInt}},
       1,
       nullptr,
       InferRepeat},
      {"cast",
       "cast(type) or cast(type, overflow: clamp|inf)",
       "to another type, rounded to nearest even; too large is an error unless told otherwise",
       kOneToOne,
       kValue,
       kExact,
       "cast, if the type is wider; else lossy",
       {{"type", T::kType}, {"overflow", T::kWord, true, false, {"clamp", "inf"}}},
       1,
       nullptr,
       InferCast},
      {"scale",
       "scale(x)",
       "times x, computed in f32 (f64 for f64) and rounded once",
       kOneToOne,
       kValue,
       kExact,
       "scale, if x is a power of two; else lossy",
       {{"x", T::kNumber}},
       1,
       nullptr,
       InferScale},
      {"add",
       "add(x)",
       "plus x, computed in f32 (f64 for f64) and rounded once",
       kOneToOne,
       kValue,
       kLossy,
       "lossy",
       {{"x", T::kNumber}},
       1,
       nullptr,
       InferAdd},
      {"cat",
       "cat(d)",
       "joined along a dimension, in `by` order or list order",
       kManyToOne,
       kLayout,
       kExact,
       "sections",
       {kDim},
       0,
       nullptr,
       InferCat},
      {"stack",
       "stack(d)",
       "joined along a new dimension",
       kManyToOne,
       kLayout,
       kExact,
       "unstack",
       {kDim},
       0,
       nullptr,
       InferStack},
      {"sum",
       "sum or sum(acc: stored)",
       "the sum, in f32 (f64 for f64), rounded once",
       kManyToOne,
       kValue,
       kLossy,
       "lossy",
       {{"acc", T::kWord, true, false, {"stored"}}},
       0,
       nullptr,
       InferSum},
      {"mean",
       "mean or mean(acc: stored)",
       "the mean, in f32 (f64 for f64), rounded once",
       kManyToOne,
       kValue,
       kLossy,
       "lossy",
       {{"acc", T::kWord, true, false, {"stored"}}},
       0,
       nullptr,
       InferMean},
      {"diff",
       "diff",
       "first minus second, of exactly two",
       kManyToOne,
       kValue,
       kLossy,
       "lossy",
       {},
       2,
       nullptr,
       InferDiff},
      {"same",
       "same",
       "all equal byte for byte, else an error; the first is kept",
       kManyToOne,
       kLayout,
       kCanonical,
       "copies of the one",
       {},
       0,
       nullptr,
       InferSame},
      {"dequant_block",
       "dequant_block(rows, columns) or dequant_block()",
       "weight and scale to f32: each block times its scale, ragged edges allowed",
       kManyToOne,
       kValue,
       kLossy,
       "lossy",
       {{"rows", T::kInt, true}, {"columns", T::kInt, true}},
       2,
       nullptr,
       InferDequantBlock},
      {"dequant_mxfp4",
       "dequant_mxfp4",
       "blocks and scales to f32: low nibble first, scale 2^(b - 127)",
       kManyToOne,
       kValue,
       kLossy,
       "lossy",
       {},
       2,
       nullptr,
       InferDequantMxfp4},
      {"lora",
       "lora(s)",
       "weight, A, B: weight + s * (B @ A), accumulated in f32",
       kManyToOne,
       kValue,
       kLossy,
       "lossy",
       {{"s", T::kNumber}},
       3,
       nullptr,
       InferLora},
      {"chunk",
       "chunk(d)",
       "as many equal pieces as there are targets",
       kOneToMany,
       kLayout,
       kExact,
       "cat",
       {kDim},
       1,
       "the number of pieces is the number of targets: write `chunk(d)`",
       InferChunk},
      {"sections",
       "sections(d, [n0, n1, ...])",
       "pieces of the sizes listed, one a target",
       kOneToMany,
       kLayout,
       kExact,
       "cat",
       {kDim, {"sizes", T::kIntList}},
       1,
       "the sizes are a list: `sections(d, [n0, n1])`",
       InferSections},
      {"unstack",
       "unstack(d)",
       "one piece an index, the dimension removed",
       kOneToMany,
       kLayout,
       kExact,
       "stack",
       {kDim},
       1,
       "the number of pieces is the number of targets: write `unstack(d)`",
       InferUnstack},
  };
}

Diagnostic WithSignature(const OpInfo& op, std::string message) {
  return WrongArgument(std::move(message)).Note("it is " + std::string(op.signature));
}

std::string Quoted(std::string_view text) { return "`" + std::string(text) + "`"; }

int FindParam(const OpInfo& op, std::string_view name) {
  for (size_t i = 0; i < op.params.size(); ++i) {
    if (name == op.params[i].name) return static_cast<int>(i);
  }
  return -1;
}

Diagnostic UnknownName(const OpInfo& op, const std::string& name) {
  Diagnostic error = WithSignature(op, Quoted(op.name) + " has no argument " + Quoted(name));
  std::vector<std::string_view> names;
  for (const OpParam& param : op.params) {
    if (!param.variadic) names.push_back(param.name);
  }
  for (std::string_view near : Nearest(name, names, 1)) {
    error.Help("did you mean " + Quoted(near) + "?");
  }
  return error;
}

Diagnostic Surplus(const OpInfo& op, size_t written) {
  const size_t most = op.params.size();
  Diagnostic error =
      WithSignature(op, Quoted(op.name) +
                            (most == 0 ? std::string(" takes no arguments")
                                       : " takes at most " + std::to_string(most) +
                                             (most == 1 ? " argument" : " arguments")) +
                            ", not " + std::to_string(written));
  if (op.surplus_help != nullptr) error.Help(op.surplus_help);
  return error;
}

// --- Values to what a parameter wants -----------------------------------------------------------

std::optional<int64_t> AsInteger(const Value& value) {
  if (value.integer() != nullptr) return *value.integer();
  // A whole-valued float counts: configurations store sizes as 12.0.
  const double* real = value.real();
  if (real == nullptr || !(*real >= -9007199254740992.0 && *real <= 9007199254740992.0)) {
    return std::nullopt;
  }
  const auto whole = static_cast<int64_t>(*real);
  if (static_cast<double>(whole) != *real) return std::nullopt;
  return whole;
}

Diagnostic WrongValue(const OpInfo& op, const OpParam& param, const Value& value,
                      const std::string& wanted) {
  return WithSignature(op, "argument " + Quoted(param.name) + " of " + Quoted(op.name) + " is " +
                               wanted + ", not " + ToString(value));
}

Result<Value> IntegerList(const OpInfo& op, const OpParam& param, const Value& value,
                          const std::string& wanted) {
  if (value.list() == nullptr) return WrongValue(op, param, value, wanted);
  ValueList list;
  for (const Value& item : *value.list()) {
    const std::optional<int64_t> integer = AsInteger(item);
    if (!integer) return WrongValue(op, param, value, wanted);
    list.emplace_back(*integer);
  }
  return Value(std::move(list));
}

std::string OneOf(const std::vector<std::string_view>& words) {
  std::string text;
  for (size_t i = 0; i < words.size(); ++i) {
    if (i > 0) text += i + 1 == words.size() ? " or " : ", ";
    text += Quoted(words[i]);
  }
  return text;
}

Result<Value> BindValue(const OpInfo& op, const OpParam& param, const Value& value) {
  switch (param.type) {
    case T::kInt: {
      const std::optional<int64_t> integer = AsInteger(value);
      if (!integer) return WrongValue(op, param, value, "an integer");
      return Value(*integer);
    }
    case T::kNumber:
      if (value.integer() == nullptr && value.real() == nullptr) {
        return WrongValue(op, param, value, "a number");
      }
      return value;
    case T::kIntList:
      return IntegerList(op, param, value, "a list of integers");
    case T::kRange: {
      Result<Value> range = IntegerList(op, param, value, "a range a..b");
      if (range.ok() && range->list()->size() != 2) {
        return WrongValue(op, param, value, "a range a..b");
      }
      return range;
    }
    case T::kType: {
      if (value.dtype() != nullptr) return value;
      const std::optional<DType> dtype =
          value.text() == nullptr ? std::nullopt : DTypeByName(*value.text());
      if (dtype) return Value(*dtype);
      Diagnostic error = WrongValue(op, param, value, "an element type");
      if (value.text() != nullptr) {
        for (std::string_view near : Nearest(*value.text(), DTypeNames(), 1)) {
          error.Help("did you mean " + Quoted(near) + "?");
        }
      }
      return error;
    }
    case T::kWord: {
      const auto& words = param.words;
      if (value.text() == nullptr ||
          std::find(words.begin(), words.end(), *value.text()) == words.end()) {
        return WrongValue(op, param, value, OneOf(words));
      }
      return value;
    }
  }
  return value;
}

}  // namespace

const std::vector<OpInfo>& Ops() {
  static const std::vector<OpInfo>* const ops = new std::vector<OpInfo>(MakeOps());
  return *ops;
}

const OpInfo* FindOp(std::string_view name) {
  for (const OpInfo& op : Ops()) {
    if (name == op.name) return &op;
  }
  return nullptr;
}

Result<std::vector<int>> MatchArgs(const OpInfo& op, const std::vector<ArgShape>& written) {
  std::vector<int> matched(op.params.size(), -1);
  size_t next = 0;  // the parameter that the next positional argument fills
  bool named = false;
  for (size_t i = 0; i < written.size(); ++i) {
    int at = 0;
    if (written[i].name.empty()) {
      if (named) {
        return WithSignature(
            op, "an argument of " + Quoted(op.name) + " without a name follows one with a name");
      }
      if (next == op.params.size()) return Surplus(op, written.size());
      at = static_cast<int>(next);
      if (!op.params[next].variadic) ++next;
    } else {
      named = true;
      at = FindParam(op, written[i].name);
      if (at < 0 || op.params[static_cast<size_t>(at)].variadic) {
        return UnknownName(op, written[i].name);
      }
    }
    const OpParam& param = op.params[static_cast<size_t>(at)];
    int& index = matched[static_cast<size_t>(at)];
    if (index >= 0 && !param.variadic) {
      return WithSignature(
          op, "argument " + Quoted(param.name) + " of " + Quoted(op.name) + " is given twice");
    }
    if (index < 0) index = static_cast<int>(i);
    if (written[i].is_range != (param.type == T::kRange)) {
      Diagnostic error =
          WithSignature(op, "argument " + Quoted(param.name) + " of " + Quoted(op.name) +
                                (written[i].is_range ? " cannot be a range" : " is a range"));
      if (!written[i].is_range) error.Help("write `a..b`: indices a to b - 1");
      return error;
    }
  }
  for (size_t i = 0; i < matched.size(); ++i) {
    const OpParam& param = op.params[i];
    if (matched[i] >= 0 || param.optional || param.variadic) continue;
    return WithSignature(op, Quoted(op.name) + " needs its argument " + Quoted(param.name));
  }
  return matched;
}

Result<OpArgs> BindArgs(const OpInfo& op, const std::vector<int>& matched,
                        const std::vector<Value>& written) {
  OpArgs args;
  for (size_t i = 0; i < op.params.size(); ++i) {
    const OpParam& param = op.params[i];
    if (matched[i] < 0) {
      args.emplace_back(ValueList{});
      continue;
    }
    const auto first = static_cast<size_t>(matched[i]);
    if (!param.variadic) {
      Result<Value> value = BindValue(op, param, written[first]);
      if (!value.ok()) return std::move(value).error();
      args.push_back(*std::move(value));
      continue;
    }
    ValueList list;
    for (size_t k = first; k < written.size(); ++k) {
      Result<Value> value = BindValue(op, param, written[k]);
      if (!value.ok()) return std::move(value).error();
      list.push_back(*std::move(value));
    }
    args.emplace_back(std::move(list));
  }
  return args;
}

}  // namespace rekey
