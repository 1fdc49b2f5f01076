// Type rules of the operations that change elements.
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "engine/ops/rules.h"

namespace rekey {
namespace {

bool IsFractional(const Value& value) {
  return value.real() != nullptr && *value.real() != std::floor(*value.real());
}

// What sums and factors are computed on: real and complex numbers and integers; not bool, not
// quantised, not types below a byte.
Status Arithmetic(std::string_view op, const TensorType& type) {
  const bool fits =
      (IsReal(type.dtype) && BitsOf(type.dtype) >= 8 && type.dtype != DType::kF8E8M0) ||
      KindOf(type.dtype) == DTypeKind::kComplex || IsInteger(type.dtype);
  if (fits) return {};
  return WrongType("`" + std::string(op) + "` does not compute with " +
                   std::string(Name(type.dtype)) + " (" + ToString(type) + ")")
      .Help("`cast` to a type that holds numbers first");
}

InferResult Scaled(const char* op, const OpArgs& args, const Types& in) {
  Status arithmetic = Arithmetic(op, in[0]);
  if (!arithmetic.ok()) return std::move(arithmetic).error();
  if (IsInteger(in[0].dtype) && IsFractional(args[0])) {
    return WrongType("`" + CallText(op, args) + "` is not a whole number, and " + ToString(in[0]) +
                     " holds integers")
        .Help("`cast` to a float type first");
  }
  return Types{in[0]};
}

InferResult Reduced(const char* op, const Types& in) {
  Status arithmetic = Arithmetic(op, in[0]);
  if (!arithmetic.ok()) return std::move(arithmetic).error();
  for (size_t i = 1; i < in.size(); ++i) {
    if (in[i] == in[0]) continue;
    return WrongShape("`" + std::string(op) + "` needs equal types and shapes, but piece 0 is " +
                      ToString(in[0]) + " and piece " + Number(i) + " is " + ToString(in[i]));
  }
  return Types{in[0]};
}

int64_t CeilDiv(int64_t a, int64_t b) { return a / b + (a % b != 0); }

// Scales that dequantisation reads: floats, and exponents stored as u8.
bool IsScale(DType dtype) { return dtype == DType::kU8 || (IsReal(dtype) && BitsOf(dtype) >= 8); }

}  // namespace

InferResult InferCast(const OpArgs& args, const Types& in, uint32_t) {
  const DType from = in[0].dtype, to = *args[0].dtype();
  const auto from_kind = KindOf(from), to_kind = KindOf(to);
  const std::string what =
      "`cast` from " + std::string(Name(from)) + " to " + std::string(Name(to));
  if (from_kind == DTypeKind::kQuantized || to_kind == DTypeKind::kQuantized) {
    return WrongType(what + " is not done: the scale of quantised numbers is not in the tensor");
  }
  if (from_kind == DTypeKind::kComplex && to_kind != DTypeKind::kComplex) {
    return WrongType(what + " would lose the imaginary parts");
  }
  if (to != from && BitsOf(to) < 8) {
    return WrongType(what + " is not done: rekey reads types below a byte and does not make them");
  }
  return Types{{to, in[0].shape}};
}

InferResult InferScale(const OpArgs& args, const Types& in, uint32_t) {
  return Scaled("scale", args, in);
}

InferResult InferAdd(const OpArgs& args, const Types& in, uint32_t) {
  return Scaled("add", args, in);
}

InferResult InferSum(const OpArgs&, const Types& in, uint32_t) { return Reduced("sum", in); }

InferResult InferMean(const OpArgs&, const Types& in, uint32_t) {
  if (IsInteger(in[0].dtype)) {
    return WrongType("`mean` of integers (" + ToString(in[0]) + ") is no integer")
        .Help("`cast` to a float type first");
  }
  return Reduced("mean", in);
}

InferResult InferDiff(const OpArgs&, const Types& in, uint32_t) { return Reduced("diff", in); }

Result<BlockSize> BlockSizeOf(const OpArgs& args, const TensorType& weight,
                              const TensorType& scale) {
  const size_t rank = weight.shape.size();
  const int64_t rows = weight.shape[rank - 2], columns = weight.shape[rank - 1];
  const int64_t scale_rows = scale.shape[rank - 2], scale_columns = scale.shape[rank - 1];
  const std::string both = "weight " + ToString(weight) + " and scale " + ToString(scale);
  if (IsAbsent(args[0]) != IsAbsent(args[1])) {
    return WrongArgument("`dequant_block` takes rows and columns of a block, or neither");
  }
  if (IsAbsent(args[0])) {
    if (scale_rows < 1 || scale_columns < 1 || rows % scale_rows != 0 ||
        columns % scale_columns != 0 || rows == 0 || columns == 0) {
      return WrongShape("`dequant_block()` cannot tell the block from " + both +
                        ": the sizes do not divide")
          .Help("write it: `dequant_block(rows, columns)`; the last blocks may be smaller");
    }
    return BlockSize{rows / scale_rows, columns / scale_columns};
  }
  const BlockSize block{*args[0].integer(), *args[1].integer()};
  if (block.rows < 1 || block.columns < 1) {
    return WrongArgument("`" + CallText("dequant_block", args) +
                         "`: a block has at least 1 row "
                         "and 1 column");
  }
  if (CeilDiv(rows, block.rows) != scale_rows || CeilDiv(columns, block.columns) != scale_columns) {
    return WrongShape("`" + CallText("dequant_block", args) + "` of " + both + " needs " +
                      Number(CeilDiv(rows, block.rows)) + " x " +
                      Number(CeilDiv(columns, block.columns)) + " scales, one a block");
  }
  return block;
}

InferResult InferDequantBlock(const OpArgs& args, const Types& in, uint32_t) {
  const TensorType &weight = in[0], &scale = in[1];
  const size_t rank = weight.shape.size();
  if (rank < 2 || scale.shape.size() != rank) {
    return WrongShape(
        "`dequant_block` needs a weight and a scale of the same rank, 2 or more, and "
        "has " +
        ToString(weight) + " and " + ToString(scale));
  }
  for (size_t i = 0; i + 2 < rank; ++i) {
    if (weight.shape[i] == scale.shape[i]) continue;
    return WrongShape("`dequant_block`: weight " + ToString(weight) + " and scale " +
                      ToString(scale) + " differ in dimension " + Number(i));
  }
  if (!(IsReal(weight.dtype) && BitsOf(weight.dtype) >= 8) && !IsInteger(weight.dtype)) {
    return WrongType("`dequant_block` does not read weights of " + ToString(weight));
  }
  if (!IsScale(scale.dtype)) {
    return WrongType("`dequant_block`: scales are floats, or exponents as u8 or f8_e8m0, not " +
                     ToString(scale))
        .Help("the list of a merge is [weight, scale]");
  }
  const Result<BlockSize> block = BlockSizeOf(args, weight, scale);
  if (!block.ok()) return block.error();
  return Types{{DType::kF32, weight.shape}};
}

InferResult InferDequantMxfp4(const OpArgs&, const Types& in, uint32_t) {
  const TensorType &blocks = in[0], &scales = in[1];
  const std::string both = ToString(blocks) + " and " + ToString(scales);
  if (blocks.dtype != DType::kU8 ||
      (scales.dtype != DType::kU8 && scales.dtype != DType::kF8E8M0)) {
    return WrongType("`dequant_mxfp4` needs blocks of u8 and scales of u8 or f8_e8m0, and has " +
                     both);
  }
  Shape outer = blocks.shape;
  if (!outer.empty()) outer.erase(outer.size() - 1);
  if (outer.empty() || !(outer == scales.shape)) {
    return WrongShape(
        "`dequant_mxfp4` needs blocks [..., groups, bytes] and scales [..., groups], "
        "and has " +
        both);
  }
  int64_t joined = 0;
  if (__builtin_mul_overflow(outer.back(), blocks.shape.back(), &joined) ||
      __builtin_mul_overflow(joined, int64_t{2}, &outer.back()) || !NumElements(outer)) {
    return WrongShape("`dequant_mxfp4` of " + both + " is too large");
  }
  return Types{{DType::kF32, outer}};
}

InferResult InferLora(const OpArgs&, const Types& in, uint32_t) {
  const TensorType &weight = in[0], &a = in[1], &b = in[2];
  const std::string all = ToString(weight) + ", " + ToString(a) + " and " + ToString(b);
  for (const TensorType& type : in) {
    if (IsReal(type.dtype) && BitsOf(type.dtype) >= 8 && type.dtype != DType::kF8E8M0) continue;
    return WrongType("`lora` computes with floats, and has " + all);
  }
  const bool ranks = weight.shape.size() == 2 && a.shape.size() == 2 && b.shape.size() == 2;
  if (!ranks || b.shape[1] != a.shape[0] || b.shape[0] != weight.shape[0] ||
      a.shape[1] != weight.shape[1]) {
    return WrongShape("`lora` needs weight [out, in], A [r, in] and B [out, r], and has " + all)
        .Help("the list of a merge is [weight, A, B]");
  }
  return Types{weight};
}

}  // namespace rekey
