#include "engine/ops/rules.h"

#include <utility>

namespace rekey {
namespace {

// The dimension `value` of `count` ones.
Result<size_t> Resolve(std::string_view op, const Value& value, size_t count,
                       const TensorType& type) {
  const int64_t dim = *value.integer();
  const auto n = static_cast<int64_t>(count);
  if (dim >= -n && dim < n) return static_cast<size_t>(dim < 0 ? dim + n : dim);
  Diagnostic error = WrongShape("`" + std::string(op) + "`: there is no dimension " + Number(dim) +
                                " in " + ToString(type));
  if (n == 0) return error.Note("it is a scalar, of no dimensions");
  return error.Help("its dimensions are 0 to " + Number(n - 1) + ", or -" + Number(n) +
                    " to -1 counted from the end");
}

}  // namespace

Diagnostic WrongShape(std::string message) { return Error("wrong-shape", std::move(message)); }
Diagnostic WrongType(std::string message) { return Error("wrong-dtype", std::move(message)); }
Diagnostic WrongArgument(std::string message) {
  return Error("wrong-argument", std::move(message));
}

InferResult OneResult(TensorType type) {
  if (!NumElements(type.shape)) {
    return WrongShape("a tensor of shape " + ToString(type.shape) +
                      " would have more elements than 63 bits count");
  }
  if (type.shape.size() > kMaxRank) {
    return WrongShape("a tensor of " + Number(type.shape.size()) + " dimensions is more than the " +
                      Number(kMaxRank) + " that formats carry");
  }
  return Types{std::move(type)};
}

Result<size_t> DimOf(std::string_view op, const Value& value, const TensorType& type) {
  return Resolve(op, value, type.shape.size(), type);
}

Result<size_t> NewDimOf(std::string_view op, const Value& value, const TensorType& type) {
  return Resolve(op, value, type.shape.size() + 1, type);
}

std::vector<int64_t> IntsOf(const Value& value) {
  std::vector<int64_t> ints;
  for (const Value& item : *value.list()) ints.push_back(*item.integer());
  return ints;
}

Result<Shape> ResolveSizes(std::string_view op, const std::vector<int64_t>& sizes, int64_t elements,
                           const TensorType& type) {
  const std::string text = "`" + std::string(op) + "` to " + ToString(Dims(sizes));
  Shape shape;
  int open = -1;  // the dimension that was written -1
  for (int64_t size : sizes) {
    if (size < -1) return WrongArgument(text + ": a size of " + Number(size));
    if (size == -1) {
      if (open >= 0) return WrongArgument(text + ": only one size may be -1");
      open = static_cast<int>(shape.size());
    }
    shape.push_back(size == -1 ? 1 : size);
  }
  const std::optional<int64_t> known = NumElements(shape);
  if (!known) return WrongShape(text + " has more elements than 63 bits count");
  const std::string does_not_fit =
      text + " does not fit the " + Number(elements) + " elements of " + ToString(type);
  if (open < 0) {
    if (*known != elements) return WrongShape(does_not_fit);
    return shape;
  }
  if (*known == 0) {
    return WrongShape(text + ": with a size of 0 beside it, the -1 could be anything")
        .Help("write the size");
  }
  if (elements % *known != 0) {
    return WrongShape(does_not_fit).Note("the other sizes multiply to " + Number(*known));
  }
  shape[static_cast<size_t>(open)] = elements / *known;
  return shape;
}

std::string CallText(std::string_view op, const OpArgs& args) {
  std::string text;
  for (const Value& arg : args) {
    if (IsAbsent(arg)) continue;
    if (!text.empty()) text += ", ";
    text += ToString(arg);
  }
  return std::string(op) + "(" + text + ")";
}

bool IsReal(DType dtype) { return KindOf(dtype) == DTypeKind::kFloat; }

bool IsInteger(DType dtype) {
  return KindOf(dtype) == DTypeKind::kSigned || KindOf(dtype) == DTypeKind::kUnsigned;
}

}  // namespace rekey
