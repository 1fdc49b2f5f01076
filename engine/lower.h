// Tensor expressions to bytes: the cheapest recipe for each output.
//
// Lower turns an expression (graph.h) into one of three recipes. `copy`: bytes that lie contiguous
// in the source and in the output. `move`: pieces, boxes of elements with strides on both sides, so
// that a chain of layout operations costs one pass. `compute`: values change, and LibTorch does it
// on tiles. It plans; engine/work.h moves.
//
//   Lowered l = *Lower(graph, id);   // recipe kCopy, pieces {storage 0, source 704, 2560 B}
#ifndef REKEY_ENGINE_LOWER_H_
#define REKEY_ENGINE_LOWER_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "engine/graph.h"
#include "engine/status.h"

namespace rekey {

enum class Recipe { kCopy, kMove, kCompute };
const char* Name(Recipe recipe);

// A box of elements: extent[k] steps of source_stride[k] and target_stride[k], all in bytes, from
// `source` (in the storage) to `target` (in the output). Dimensions are ordered by target_stride,
// largest first. Source strides may be zero (expand) or negative (flip); pieces of one output never
// overlap in the target and cover it. A piece of a `copy` has one dimension, of strides 1.
struct PieceDim {
  int64_t extent = 0;
  int64_t source_stride = 0;
  int64_t target_stride = 0;
  friend bool operator==(const PieceDim&, const PieceDim&) = default;
};

// What happens to each element on the way, in this order.
struct ElementFixes {
  bool swap_bytes = false;      // big-endian storages
  bool flip_sign = false;       // torch's lazy negation: the sign bit (of both complex parts)
  bool flip_imaginary = false;  // torch's lazy conjugate: the sign bit of the imaginary part
  bool any() const { return swap_bytes || flip_sign || flip_imaginary; }
  friend bool operator==(const ElementFixes&, const ElementFixes&) = default;
};

struct Piece {
  static constexpr uint32_t kNone = UINT32_MAX;
  uint32_t storage = kNone;   // of the catalog
  uint32_t constant = kNone;  // or of Lowered::constants: `source` is an offset into its text
  uint64_t source = 0;
  uint64_t target = 0;
  uint64_t unit = 1;  // bytes that always stay together: the element, or a longer run
  std::vector<PieceDim> dims;
  ElementFixes fixes;
};

uint64_t BytesOf(const Piece& piece);  // that it makes in the target

struct Lowered {
  Recipe recipe = Recipe::kCopy;
  TensorType type;
  uint64_t bytes = 0;
  std::vector<Piece> pieces;  // by target
  // Bytes that come from no storage: constants of the graph, and padding.
  std::vector<std::shared_ptr<const std::string>> constants;
  TensorId value = 0;  // kCompute: the expression
};

// Errors: a sub-byte type in a layout change that is not byte-aligned, a meta tensor without
// bytes, more pieces than the budget allows, an operation that this build cannot carry out. They
// stand at the operation in the rule file, if there is one.
Result<Lowered> Lower(const TensorGraph& graph, TensorId id);

}  // namespace rekey

#endif  // REKEY_ENGINE_LOWER_H_
