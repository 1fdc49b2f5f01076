// The type rules behind the operation table: for each operation a function from the arguments and
// the types of its inputs to the types of its results.
//
// They are grouped as the files are: layout.cc (one tensor, bytes unchanged), joins.cc (several in
// or several out, bytes unchanged), values.cc (elements change). ops.cc puts them into the table.
// Lowering (engine/lower_ops.cc) asks the helpers below the same questions, so that both read an
// argument alike.
//
//   InferTranspose({0, 1}, {f32[2, 3]}, 1)   // {f32[3, 2]}
#ifndef REKEY_ENGINE_OPS_RULES_H_
#define REKEY_ENGINE_OPS_RULES_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/graph.h"
#include "engine/status.h"
#include "engine/value.h"

namespace rekey {

using Types = std::vector<TensorType>;
using InferResult = Result<Types>;

InferResult InferTranspose(const OpArgs&, const Types&, uint32_t);
InferResult InferPermute(const OpArgs&, const Types&, uint32_t);
InferResult InferReshape(const OpArgs&, const Types&, uint32_t);
InferResult InferUnflatten(const OpArgs&, const Types&, uint32_t);
InferResult InferFlatten(const OpArgs&, const Types&, uint32_t);
InferResult InferSqueeze(const OpArgs&, const Types&, uint32_t);
InferResult InferUnsqueeze(const OpArgs&, const Types&, uint32_t);
InferResult InferSlice(const OpArgs&, const Types&, uint32_t);
InferResult InferTake(const OpArgs&, const Types&, uint32_t);
InferResult InferReorder(const OpArgs&, const Types&, uint32_t);
InferResult InferFlip(const OpArgs&, const Types&, uint32_t);
InferResult InferRoll(const OpArgs&, const Types&, uint32_t);
InferResult InferPad(const OpArgs&, const Types&, uint32_t);
InferResult InferRepeat(const OpArgs&, const Types&, uint32_t);

InferResult InferCat(const OpArgs&, const Types&, uint32_t);
InferResult InferStack(const OpArgs&, const Types&, uint32_t);
InferResult InferSame(const OpArgs&, const Types&, uint32_t);
InferResult InferChunk(const OpArgs&, const Types&, uint32_t);
InferResult InferSections(const OpArgs&, const Types&, uint32_t);
InferResult InferUnstack(const OpArgs&, const Types&, uint32_t);

InferResult InferCast(const OpArgs&, const Types&, uint32_t);
InferResult InferScale(const OpArgs&, const Types&, uint32_t);
InferResult InferAdd(const OpArgs&, const Types&, uint32_t);
InferResult InferSum(const OpArgs&, const Types&, uint32_t);
InferResult InferMean(const OpArgs&, const Types&, uint32_t);
InferResult InferDiff(const OpArgs&, const Types&, uint32_t);
InferResult InferDequantBlock(const OpArgs&, const Types&, uint32_t);
InferResult InferDequantMxfp4(const OpArgs&, const Types&, uint32_t);
InferResult InferLora(const OpArgs&, const Types&, uint32_t);

// --- Shared by the rules and by lowering -------------------------------------------------------

Diagnostic WrongShape(std::string message);     // [wrong-shape]
Diagnostic WrongType(std::string message);      // [wrong-dtype]
Diagnostic WrongArgument(std::string message);  // [wrong-argument]

// The type itself; an error when its elements or dimensions are more than formats carry.
InferResult OneResult(TensorType type);

inline std::string Number(int64_t n) { return std::to_string(n); }
inline std::string Number(size_t n) { return std::to_string(n); }

inline bool IsAbsent(const Value& value) {
  return value.list() != nullptr && value.list()->empty();
}

// The dimension that `value` names among `rank`: negative ones count from the end.
Result<size_t> DimOf(std::string_view op, const Value& value, const TensorType& type);

// As DimOf, for a dimension that is to be put in: `rank` itself is allowed, the place after the
// last.
Result<size_t> NewDimOf(std::string_view op, const Value& value, const TensorType& type);

// The integers of a list argument.
std::vector<int64_t> IntsOf(const Value& value);

// `sizes` with a -1 replaced so that they multiply to `elements`.
Result<Shape> ResolveSizes(std::string_view op, const std::vector<int64_t>& sizes, int64_t elements,
                           const TensorType& type);

// "transpose(0, 5)": the operation as called, for messages.
std::string CallText(std::string_view op, const OpArgs& args);

// The block of dequant_block: as given, or from the two shapes when they divide.
struct BlockSize {
  int64_t rows = 0, columns = 0;
};
Result<BlockSize> BlockSizeOf(const OpArgs& args, const TensorType& weight,
                              const TensorType& scale);

// Dtype classes: what value operations compute with.
bool IsReal(DType dtype);     // floating point, any width
bool IsInteger(DType dtype);  // signed or unsigned; not bool, not quantised

}  // namespace rekey

#endif  // REKEY_ENGINE_OPS_RULES_H_
