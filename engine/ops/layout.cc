// Type rules of the operations that move one tensor's elements.
#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "engine/ops/rules.h"

namespace rekey {
namespace {

// "0 to 3", for messages about indices of `n` things.
std::string UpTo(int64_t n) { return n == 1 ? "only 0" : "0 to " + Number(n - 1); }

// True if `list` holds each of 0 .. n-1 once.
bool IsPermutation(const std::vector<int64_t>& list, int64_t n) {
  if (static_cast<int64_t>(list.size()) != n) return false;
  std::vector<bool> seen(list.size());
  for (int64_t i : list) {
    if (i < 0 || i >= n || seen[static_cast<size_t>(i)]) return false;
    seen[static_cast<size_t>(i)] = true;
  }
  return true;
}

}  // namespace

InferResult InferTranspose(const OpArgs& args, const Types& in, uint32_t) {
  TensorType type = in[0];
  size_t a = 0, b = 1;
  if (IsAbsent(args[0]) != IsAbsent(args[1])) {
    return WrongArgument("`transpose` takes two dimensions or none")
        .Help("write `transpose(i, j)`, or `transpose` for a matrix");
  }
  if (IsAbsent(args[0])) {
    if (type.shape.size() != 2) {
      return WrongShape("`transpose` without dimensions is for matrices, and this is " +
                        ToString(type))
          .Help(
              "write `transpose(i, j)`, or `permute(d0, d1, ...)` with all dimensions: a "
              "convolution kernel [height, width, in, out] becomes [out, in, height, width] by "
              "`permute(3, 2, 0, 1)`");
    }
  } else {
    const Result<size_t> first = DimOf("transpose", args[0], type);
    if (!first.ok()) return first.error();
    const Result<size_t> second = DimOf("transpose", args[1], type);
    if (!second.ok()) return second.error();
    a = *first;
    b = *second;
  }
  std::swap(type.shape[a], type.shape[b]);
  return OneResult(std::move(type));
}

InferResult InferPermute(const OpArgs& args, const Types& in, uint32_t) {
  const TensorType& type = in[0];
  std::vector<int64_t> order;
  for (const Value& value : *args[0].list()) {
    const Result<size_t> dim = DimOf("permute", value, type);
    if (!dim.ok()) return dim.error();
    order.push_back(static_cast<int64_t>(*dim));
  }
  if (!IsPermutation(order, static_cast<int64_t>(type.shape.size()))) {
    return WrongArgument("`" + CallText("permute", args) + "` does not name each dimension of " +
                         ToString(type) + " once")
        .Help("it has " + Number(type.shape.size()) +
              " dimensions; output dimension k is input dimension dk");
  }
  TensorType result{type.dtype, {}};
  for (int64_t d : order) result.shape.push_back(type.shape[static_cast<size_t>(d)]);
  return OneResult(std::move(result));
}

InferResult InferReshape(const OpArgs& args, const Types& in, uint32_t) {
  Result<Shape> shape = ResolveSizes("reshape", IntsOf(args[0]), *NumElements(in[0].shape), in[0]);
  if (!shape.ok()) return std::move(shape).error();
  return OneResult({in[0].dtype, *std::move(shape)});
}

InferResult InferUnflatten(const OpArgs& args, const Types& in, uint32_t) {
  const Result<size_t> dim = DimOf("unflatten", args[0], in[0]);
  if (!dim.ok()) return dim.error();
  Result<Shape> sizes = ResolveSizes("unflatten", IntsOf(args[1]), in[0].shape[*dim], in[0]);
  if (!sizes.ok()) return std::move(sizes).error();
  if (sizes->empty()) return WrongArgument("`unflatten` needs at least one size");
  TensorType result{in[0].dtype, {}};
  for (size_t i = 0; i < in[0].shape.size(); ++i) {
    if (i != *dim) {
      result.shape.push_back(in[0].shape[i]);
      continue;
    }
    for (int64_t size : *sizes) result.shape.push_back(size);
  }
  return OneResult(std::move(result));
}

InferResult InferFlatten(const OpArgs& args, const Types& in, uint32_t) {
  const Result<size_t> first = DimOf("flatten", args[0], in[0]);
  if (!first.ok()) return first.error();
  const Result<size_t> last = DimOf("flatten", args[1], in[0]);
  if (!last.ok()) return last.error();
  if (*first > *last) {
    return WrongArgument("`" + CallText("flatten", args) + "` ends before it begins")
        .Help("write the first dimension first: both are counted in");
  }
  TensorType result{in[0].dtype, {}};
  int64_t joined = 1;
  for (size_t i = 0; i < in[0].shape.size(); ++i) {
    if (i < *first || i > *last) {
      result.shape.push_back(in[0].shape[i]);
      continue;
    }
    joined *= in[0].shape[i];
    if (i == *last) result.shape.push_back(joined);
  }
  return OneResult(std::move(result));
}

InferResult InferSqueeze(const OpArgs& args, const Types& in, uint32_t) {
  const Result<size_t> dim = DimOf("squeeze", args[0], in[0]);
  if (!dim.ok()) return dim.error();
  TensorType result = in[0];
  if (result.shape[*dim] != 1) {
    return WrongShape("`" + CallText("squeeze", args) + "`: that dimension of " + ToString(in[0]) +
                      " has size " + Number(result.shape[*dim]) + ", not 1")
        .Help("only a dimension of size 1 can be taken out; `reshape` joins others");
  }
  result.shape.erase(*dim);
  return OneResult(std::move(result));
}

InferResult InferUnsqueeze(const OpArgs& args, const Types& in, uint32_t) {
  const Result<size_t> dim = NewDimOf("unsqueeze", args[0], in[0]);
  if (!dim.ok()) return dim.error();
  TensorType result = in[0];
  result.shape.insert(*dim, 1);
  return OneResult(std::move(result));
}

InferResult InferSlice(const OpArgs& args, const Types& in, uint32_t) {
  const Result<size_t> dim = DimOf("slice", args[0], in[0]);
  if (!dim.ok()) return dim.error();
  TensorType result = in[0];
  const std::vector<int64_t> range = IntsOf(args[1]);
  const int64_t n = result.shape[*dim];
  const int64_t step = IsAbsent(args[2]) ? 1 : *args[2].integer();
  if (range[0] < 0 || range[0] > range[1] || range[1] > n) {
    return WrongShape("`slice` of " + Number(range[0]) + ".." + Number(range[1]) +
                      " does not lie in dimension " + Number(*dim) + " of " + ToString(in[0]) +
                      ", which has " + Number(n))
        .Help("a..b takes indices a to b - 1, with 0 <= a <= b <= " + Number(n));
  }
  if (step < 1) {
    return WrongArgument("`slice` has a step of " + Number(step))
        .Help("a step is 1 or more; `flip` turns the order around");
  }
  const int64_t count = range[1] - range[0];
  result.shape[*dim] = count == 0 ? 0 : (count - 1) / step + 1;
  return OneResult(std::move(result));
}

InferResult InferTake(const OpArgs& args, const Types& in, uint32_t) {
  const Result<size_t> dim = DimOf("take", args[0], in[0]);
  if (!dim.ok()) return dim.error();
  TensorType result = in[0];
  const std::vector<int64_t> list = IntsOf(args[1]);
  const int64_t n = result.shape[*dim];
  for (int64_t i : list) {
    if (i >= 0 && i < n) continue;
    return WrongShape("`take`: index " + Number(i) + " is not in dimension " + Number(*dim) +
                      " of " + ToString(in[0]))
        .Help(n == 0 ? "the dimension is empty" : "its indices are " + UpTo(n));
  }
  result.shape[*dim] = static_cast<int64_t>(list.size());
  return OneResult(std::move(result));
}

InferResult InferReorder(const OpArgs& args, const Types& in, uint32_t) {
  const Result<size_t> dim = DimOf("reorder", args[0], in[0]);
  if (!dim.ok()) return dim.error();
  const std::vector<int64_t> list = IntsOf(args[1]);
  const auto count = static_cast<int64_t>(list.size());
  if (count == 0 || !IsPermutation(list, count)) {
    return WrongArgument("`" + CallText("reorder", args) + "`: the list is no permutation of " +
                         UpTo(std::max<int64_t>(count, 1)))
        .Help("each block is named once; `take` picks some or repeats them");
  }
  const int64_t n = in[0].shape[*dim];
  if (n % count != 0) {
    return WrongShape("`" + CallText("reorder", args) + "`: dimension " + Number(*dim) + " of " +
                      ToString(in[0]) + " has size " + Number(n) + ", which " + Number(count) +
                      " blocks do not divide");
  }
  return OneResult(in[0]);
}

InferResult InferFlip(const OpArgs& args, const Types& in, uint32_t) {
  const Result<size_t> dim = DimOf("flip", args[0], in[0]);
  if (!dim.ok()) return dim.error();
  return OneResult(in[0]);
}

InferResult InferRoll(const OpArgs& args, const Types& in, uint32_t) {
  const Result<size_t> dim = DimOf("roll", args[0], in[0]);
  if (!dim.ok()) return dim.error();
  return OneResult(in[0]);
}

InferResult InferPad(const OpArgs& args, const Types& in, uint32_t) {
  const Result<size_t> dim = DimOf("pad", args[0], in[0]);
  if (!dim.ok()) return dim.error();
  TensorType result = in[0];
  const int64_t size = *args[1].integer();
  const int64_t n = result.shape[*dim];
  if (size < n) {
    return WrongShape("`pad` to " + Number(size) + ": dimension " + Number(*dim) + " of " +
                      ToString(in[0]) + " is larger already")
        .Help("`slice(" + Number(*dim) + ", 0.." + Number(std::max<int64_t>(size, 0)) +
              ")` cuts it");
  }
  const bool repeat = !IsAbsent(args[2]) && *args[2].text() == "repeat_last";
  if (repeat && n == 0 && size > 0) {
    return WrongShape("`pad` with `repeat_last`: " + ToString(in[0]) +
                      " has no last element there");
  }
  result.shape[*dim] = size;
  return OneResult(std::move(result));
}

InferResult InferRepeat(const OpArgs& args, const Types& in, uint32_t) {
  const Result<size_t> dim = DimOf("repeat", args[0], in[0]);
  if (!dim.ok()) return dim.error();
  TensorType result = in[0];
  const int64_t times = *args[1].integer();
  if (times < 1) {
    return WrongArgument("`repeat` of " + Number(times) + " times")
        .Help("a dimension is repeated once or more");
  }
  if (__builtin_mul_overflow(result.shape[*dim], times, &result.shape[*dim])) {
    return WrongShape("`repeat` of " + Number(times) + " times makes " + ToString(in[0]) +
                      " too large");
  }
  return OneResult(std::move(result));
}

}  // namespace rekey
