// Type rules of the operations that join tensors or cut one into several.
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "engine/ops/rules.h"

namespace rekey {
namespace {

Status SameDTypes(const char* op, const Types& in) {
  for (size_t i = 1; i < in.size(); ++i) {
    if (in[i].dtype == in[0].dtype) continue;
    return WrongType("`" + std::string(op) + "` joins tensors of one type, but piece 0 is " +
                     ToString(in[0]) + " and piece " + Number(i) + " is " + ToString(in[i]))
        .Help("`cast` the pieces to one type before they are joined");
  }
  return {};
}

}  // namespace

InferResult InferCat(const OpArgs& args, const Types& in, uint32_t) {
  const Result<size_t> dim = DimOf("cat", args[0], in[0]);
  if (!dim.ok()) return dim.error();
  Status types = SameDTypes("cat", in);
  if (!types.ok()) return std::move(types).error();
  TensorType result = in[0];
  for (size_t i = 1; i < in.size(); ++i) {
    Shape a = in[0].shape, b = in[i].shape;
    if (a.size() == b.size()) a[*dim] = b[*dim] = 0;
    if (!(a == b)) {
      return WrongShape("`cat(" + Number(*dim) +
                        ")` needs shapes that agree in all other dimensions, but piece 0 is " +
                        ToString(in[0].shape) + " and piece " + Number(i) + " is " +
                        ToString(in[i].shape));
    }
    if (__builtin_add_overflow(result.shape[*dim], in[i].shape[*dim], &result.shape[*dim])) {
      return WrongShape("`cat` of these pieces is too large");
    }
  }
  return OneResult(std::move(result));
}

InferResult InferStack(const OpArgs& args, const Types& in, uint32_t) {
  const Result<size_t> dim = NewDimOf("stack", args[0], in[0]);
  if (!dim.ok()) return dim.error();
  Status types = SameDTypes("stack", in);
  if (!types.ok()) return std::move(types).error();
  for (size_t i = 1; i < in.size(); ++i) {
    if (in[i].shape == in[0].shape) continue;
    return WrongShape("`stack` needs equal shapes, but piece 0 is " + ToString(in[0].shape) +
                      " and piece " + Number(i) + " is " + ToString(in[i].shape));
  }
  TensorType result = in[0];
  result.shape.insert(*dim, static_cast<int64_t>(in.size()));
  return OneResult(std::move(result));
}

InferResult InferSame(const OpArgs&, const Types& in, uint32_t) {
  for (size_t i = 1; i < in.size(); ++i) {
    if (in[i] == in[0]) continue;
    return WrongShape("`same` needs equal tensors, but piece 0 is " + ToString(in[0]) +
                      " and piece " + Number(i) + " is " + ToString(in[i]));
  }
  return Types{in[0]};
}

InferResult InferChunk(const OpArgs& args, const Types& in, uint32_t results) {
  const Result<size_t> dim = DimOf("chunk", args[0], in[0]);
  if (!dim.ok()) return dim.error();
  TensorType piece = in[0];
  const int64_t n = piece.shape[*dim];
  if (n % int64_t{results} != 0) {
    return WrongShape("`chunk(" + Number(*dim) + ")`: " + Number(int64_t{results}) +
                      " targets do not divide dimension " + Number(*dim) + " of " +
                      ToString(in[0]) + ", which has " + Number(n))
        .Help("`sections(d, [n0, n1, ...])` cuts into unequal pieces");
  }
  piece.shape[*dim] = n / int64_t{results};
  return Types(results, piece);
}

InferResult InferSections(const OpArgs& args, const Types& in, uint32_t results) {
  const Result<size_t> dim = DimOf("sections", args[0], in[0]);
  if (!dim.ok()) return dim.error();
  const std::vector<int64_t> sizes = IntsOf(args[1]);
  const int64_t n = in[0].shape[*dim];
  if (sizes.size() != results) {
    return WrongArgument("`sections` names " + Number(sizes.size()) + " sizes for " +
                         Number(int64_t{results}) + " targets");
  }
  int64_t sum = 0;
  for (int64_t size : sizes) {
    if (size < 0) return WrongArgument("`sections` has a size of " + Number(size));
    if (__builtin_add_overflow(sum, size, &sum)) {
      return WrongArgument("the sizes of `sections` add up to more than 63 bits hold");
    }
  }
  if (sum != n) {
    return WrongShape("the sizes of `" + CallText("sections", args) + "` add up to " + Number(sum) +
                      ", but dimension " + Number(*dim) + " of " + ToString(in[0]) + " has " +
                      Number(n));
  }
  Types pieces(results, in[0]);
  for (size_t i = 0; i < sizes.size(); ++i) pieces[i].shape[*dim] = sizes[i];
  return pieces;
}

InferResult InferUnstack(const OpArgs& args, const Types& in, uint32_t results) {
  const Result<size_t> dim = DimOf("unstack", args[0], in[0]);
  if (!dim.ok()) return dim.error();
  const int64_t n = in[0].shape[*dim];
  if (n != int64_t{results}) {
    return WrongShape("`unstack(" + Number(*dim) + ")` has " + Number(int64_t{results}) +
                      (results == 1 ? " target" : " targets") + ", but dimension " + Number(*dim) +
                      " of " + ToString(in[0]) + " has " + Number(n));
  }
  TensorType piece = in[0];
  piece.shape.erase(*dim);
  return Types(results, piece);
}

}  // namespace rekey
