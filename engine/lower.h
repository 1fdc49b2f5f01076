// Tensor expressions to bytes: the cheapest recipe for each output.
//
// Lower turns an expression (graph.h) into one of three recipes. `copy`: bytes that lie contiguous
// in the source and in the output. `move`: pieces, boxes of elements with strides on both sides, so
// that a chain of layout operations costs one pass. `compute`: values change, and LibTorch does it
// on tiles. It plans; engine/work.h moves.
//
//   Lowered l = *Lower(graph, id);      // recipe kCopy, pieces {storage 0, src 704, dst 0, 2560 B}
#ifndef REKEY_ENGINE_LOWER_H_
#define REKEY_ENGINE_LOWER_H_

#include <cstdint>
#include <string>
#include <vector>

#include "engine/graph.h"
#include "engine/status.h"

namespace rekey {

enum class Recipe { kCopy, kMove, kCompute };
const char* Name(Recipe recipe);

// A box of elements: extent[k] steps of source_stride[k] and target_stride[k], all in bytes, from
// `source` (in the storage) to `target` (in the output). Dimensions are ordered by target_stride,
// largest first; a copy is one dimension with stride 1 on both sides. Source strides may be zero
// (expand) or negative (flip); pieces of one output never overlap in the target and cover it.
struct PieceDim {
  int64_t extent = 0;
  int64_t source_stride = 0;
  int64_t target_stride = 0;
};
struct Piece {
  uint32_t storage = 0;
  uint64_t source = 0;
  uint64_t target = 0;
  uint32_t unit = 1;  // bytes that always stay together: the element, or a longer run
  std::vector<PieceDim> dims;
};

// A stretch of the output that comes from no storage: constants and padding.
struct Constant {
  uint64_t target = 0;
  uint64_t bytes = 0;
  TensorId node = 0;  // a constant of the graph
};

struct Lowered {
  Recipe recipe = Recipe::kCopy;
  TensorType type;
  uint64_t bytes = 0;
  std::vector<Piece> pieces;
  std::vector<Constant> constants;
  // Lazily negated or conjugated torch views: the sign bit of every element (neg), or of every
  // imaginary part (conj), is flipped on the way. big_endian: elements are byte-swapped first.
  bool flip_sign = false;
  bool flip_imaginary = false;
  bool swap_bytes = false;
  TensorId value = 0;  // kCompute: the expression
};

// Errors: a sub-byte type in a layout change that is not byte-aligned, a meta tensor without
// bytes, an operation that this build cannot carry out.
Result<Lowered> Lower(const TensorGraph& graph, TensorId id);

}  // namespace rekey

#endif  // REKEY_ENGINE_LOWER_H_
