// Layouts: where each element of a tensor that layout operations made comes from.
//
// A Layout covers a tensor's index space with boxes. A box is affine: each axis has a start and
// digits, and digit k adds i_k * step to the index along the axis and i_k * stride to the place in
// the source, for i_k in [0, extent). Boxes of one layout never overlap and cover every index, by
// construction: each operation below maps or cuts boxes and drops nothing but what is sliced away.
// So a chain of operations stays a short list of boxes, and no element is ever looked at.
//
// It is not tied to bytes of files (lower.h makes pieces of it) nor to rule arguments
// (lower_ops.h).
//
//   Layout t = Layout::Contiguous({2, 3}, 32, box);   // one box, digits (2, 1, 96) and (3, 1, 32)
//   t.Permute({1, 0});                                // the same digits, axes exchanged
//   t.Reshape({6});                                   // digits (2, step 1) and (3, step 2)
#ifndef REKEY_ENGINE_AFFINE_H_
#define REKEY_ENGINE_AFFINE_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/lower.h"
#include "engine/shape.h"

namespace rekey {

struct Digit {
  int64_t extent = 0;  // 2 or more
  int64_t step = 0;    // along the axis, 1 or more
  int64_t stride = 0;  // in the source, in bits; any sign
  friend bool operator==(const Digit&, const Digit&) = default;
};

struct Axis {
  int64_t start = 0;
  std::vector<Digit> digits;  // by step, smallest first
};

struct Box {
  uint32_t storage = Piece::kNone;   // of the catalog
  uint32_t constant = Piece::kNone;  // or a constant of the lowering
  ElementFixes fixes;
  int64_t source = 0;  // of the box's first element, in bits
  std::vector<Axis> axes;
};

// Boxes that one output may be cut into, before folding and after. More are a rearrangement that no
// stride describes, or a rule gone wrong.
constexpr size_t kMaxBoxes = size_t{1} << 18;

class Layout {
 public:
  Layout() = default;
  Layout(Shape shape, std::vector<Box> boxes)
      : shape_(std::move(shape)), boxes_(std::move(boxes)) {}

  // One box that holds all of `shape`, with strides in bits. `box` says what it is cut from and
  // where element 0 lies.
  static Layout Strided(const Shape& shape, const std::vector<int64_t>& strides, Box box);
  static Layout Contiguous(const Shape& shape, int64_t bits, Box box);

  const Shape& shape() const { return shape_; }
  const std::vector<Box>& boxes() const { return boxes_; }

  // False when the budget of boxes ran out; the layout is then of no use.
  bool within_budget() const { return within_budget_; }

  // Arguments must have passed the type rules (ops/rules.h).
  void Permute(const std::vector<size_t>& order);
  void Reshape(const Shape& shape);
  void InsertAxis(size_t axis);  // of size 1
  void Narrow(size_t axis, int64_t begin, int64_t end, int64_t step = 1);
  void Flip(size_t axis);
  void Repeat(size_t axis, int64_t times);
  // The indices of `list` along `axis`, in that order.
  void Take(size_t axis, const std::vector<int64_t>& list);
  // Puts `next` behind this along `axis`; the other sizes agree.
  void Append(size_t axis, const Layout& next);

  // Joins boxes that one box describes.
  void Fold();

 private:
  void SplitAxis(size_t axis, int64_t inner);  // n becomes n / inner and inner, rounded up
  bool SplitBox(const Box& box, size_t axis, int64_t inner, std::vector<Box>* out) const;
  bool ClipBox(const Box& box, size_t axis, int64_t begin, int64_t end,
               std::vector<Box>* out) const;
  void EraseAxis(size_t axis);  // of size 1

  Shape shape_;
  std::vector<Box> boxes_;
  bool within_budget_ = true;
};

// The parts of a one-axis box whose index is in [begin, end).
std::vector<Box> Clip(const Box& box, int64_t begin, int64_t end);

// Sorts digits by step and joins those that one digit describes.
void Normalize(Axis* axis);

}  // namespace rekey

#endif  // REKEY_ENGINE_AFFINE_H_
