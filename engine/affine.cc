#include "engine/affine.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "engine/fold.h"

namespace rekey {
namespace {

// The box with digit `d` of `axis` cut to [begin, end).
Box Cut(const Box& box, size_t axis, size_t d, int64_t begin, int64_t end) {
  Box part = box;
  Axis& cut = part.axes[axis];
  const Digit digit = cut.digits[d];
  cut.start += begin * digit.step;
  part.source += begin * digit.stride;
  if (end - begin == 1) {
    cut.digits.erase(cut.digits.begin() + static_cast<std::ptrdiff_t>(d));
  } else {
    cut.digits[d].extent = end - begin;
  }
  return part;
}

int64_t FloorDiv(int64_t a, int64_t b) {  // b > 0
  return a / b - (a % b < 0);
}

int64_t CeilDiv(int64_t a, int64_t b) { return -FloorDiv(-a, b); }

// How far the index reaches beyond the start.
int64_t SpanOf(const Axis& axis) {
  int64_t span = 0;
  for (const Digit& digit : axis.digits) span += (digit.extent - 1) * digit.step;
  return span;
}

// Emits the parts of `box` with an index in [begin, end) along `axis`; false past `budget` boxes.
bool ClipInto(const Box& box, size_t axis, int64_t begin, int64_t end, size_t budget,
              std::vector<Box>* out) {
  std::vector<Box> open = {box};
  while (!open.empty()) {
    const Box next = std::move(open.back());
    open.pop_back();
    const Axis& along = next.axes[axis];
    const int64_t first = along.start, last = along.start + SpanOf(along);
    if (last < begin || first >= end) continue;
    if (first >= begin && last < end) {
      out->push_back(next);
      if (out->size() > budget) return false;
      continue;
    }
    // The largest digit is cut: positions that lie wholly inside stay together, those that only
    // reach in are cut further one by one.
    const size_t d = along.digits.size() - 1;
    const Digit& digit = along.digits[d];
    const int64_t rest = last - first - (digit.extent - 1) * digit.step;
    const int64_t touch_begin = std::max<int64_t>(0, CeilDiv(begin - first - rest, digit.step));
    const int64_t touch_end = std::min(digit.extent, FloorDiv(end - 1 - first, digit.step) + 1);
    int64_t whole_begin = std::max<int64_t>(touch_begin, CeilDiv(begin - first, digit.step));
    int64_t whole_end = std::min(touch_end, FloorDiv(end - 1 - rest - first, digit.step) + 1);
    if (whole_begin >= whole_end) whole_begin = whole_end = touch_end;
    if (whole_begin < whole_end) {
      out->push_back(Cut(next, axis, d, whole_begin, whole_end));
    }
    if (out->size() + open.size() + static_cast<size_t>(touch_end - touch_begin) -
            static_cast<size_t>(whole_end - whole_begin) >
        budget) {
      return false;
    }
    for (int64_t k = touch_begin; k < whole_begin; ++k)
      open.push_back(Cut(next, axis, d, k, k + 1));
    for (int64_t k = whole_end; k < touch_end; ++k) open.push_back(Cut(next, axis, d, k, k + 1));
  }
  return true;
}

}  // namespace

void Normalize(Axis* axis) {
  std::vector<Digit>& digits = axis->digits;
  std::sort(digits.begin(), digits.end(), [](const Digit& a, const Digit& b) {
    return a.step != b.step ? a.step < b.step : a.extent < b.extent;
  });
  size_t kept = 0;
  for (size_t i = 0; i < digits.size(); ++i) {
    if (digits[i].extent == 1) continue;
    if (kept > 0) {
      Digit& low = digits[kept - 1];
      if (digits[i].step == low.step * low.extent && digits[i].stride == low.stride * low.extent) {
        low.extent *= digits[i].extent;
        continue;
      }
    }
    digits[kept++] = digits[i];
  }
  digits.resize(kept);
}

std::vector<Box> Clip(const Box& box, int64_t begin, int64_t end) {
  std::vector<Box> parts;
  ClipInto(box, 0, begin, end, SIZE_MAX, &parts);
  return parts;
}

Layout Layout::Strided(const Shape& shape, const std::vector<int64_t>& strides, Box box) {
  if (*NumElements(shape) == 0) return Layout(shape, {});
  box.axes.clear();
  for (size_t i = 0; i < shape.size(); ++i) {
    Axis axis;
    if (shape[i] > 1) axis.digits.push_back({shape[i], 1, strides[i]});
    box.axes.push_back(std::move(axis));
  }
  return Layout(shape, {std::move(box)});
}

Layout Layout::Contiguous(const Shape& shape, int64_t bits, Box box) {
  std::vector<int64_t> strides;
  for (int64_t stride : ContiguousStrides(shape)) strides.push_back(stride * bits);
  return Strided(shape, strides, std::move(box));
}

void Layout::Permute(const std::vector<size_t>& order) {
  Shape shape;
  for (size_t from : order) shape.push_back(shape_[from]);
  for (Box& box : boxes_) {
    std::vector<Axis> axes;
    axes.reserve(order.size());
    for (size_t from : order) axes.push_back(std::move(box.axes[from]));
    box.axes = std::move(axes);
  }
  shape_ = std::move(shape);
}

// All axes become one, then sizes are split off from the last.
void Layout::Reshape(const Shape& shape) {
  for (Box& box : boxes_) {
    Axis flat;
    int64_t size = 1;  // of the axes behind
    for (size_t i = shape_.size(); i-- > 0;) {
      flat.start += box.axes[i].start * size;
      for (Digit digit : box.axes[i].digits) {
        digit.step *= size;
        flat.digits.push_back(digit);
      }
      size *= shape_[i];
    }
    Normalize(&flat);
    box.axes = {std::move(flat)};
  }
  const int64_t elements = *NumElements(shape_);
  if (elements == 0) {
    shape_ = shape;
    return;
  }
  shape_ = {elements};
  if (shape.empty()) {
    EraseAxis(0);
    return;
  }
  for (size_t i = shape.size(); i-- > 1;) SplitAxis(0, shape[i]);
}

void Layout::InsertAxis(size_t axis) {
  shape_.insert(axis, 1);
  for (Box& box : boxes_) {
    box.axes.insert(box.axes.begin() + static_cast<std::ptrdiff_t>(axis), Axis());
  }
}

void Layout::EraseAxis(size_t axis) {
  shape_.erase(axis);
  for (Box& box : boxes_) box.axes.erase(box.axes.begin() + static_cast<std::ptrdiff_t>(axis));
}

void Layout::Narrow(size_t axis, int64_t begin, int64_t end, int64_t step) {
  std::vector<Box> clipped;
  for (const Box& box : boxes_) {
    within_budget_ = within_budget_ && ClipBox(box, axis, begin, end, &clipped);
  }
  for (Box& box : clipped) box.axes[axis].start -= begin;
  boxes_ = std::move(clipped);
  shape_[axis] = end - begin;
  if (step == 1 || end - begin <= 1) return;
  if (step >= end - begin) return Narrow(axis, 0, 1);
  // Every step-th: cut into rounds of `step` and keep the first of each.
  SplitAxis(axis, step);
  Narrow(axis + 1, 0, 1);
  EraseAxis(axis + 1);
}

void Layout::Flip(size_t axis) {
  for (Box& box : boxes_) {
    Axis& along = box.axes[axis];
    along.start = shape_[axis] - 1 - along.start - SpanOf(along);
    for (Digit& digit : along.digits) {
      box.source += (digit.extent - 1) * digit.stride;
      digit.stride = -digit.stride;
    }
  }
}

void Layout::Repeat(size_t axis, int64_t times) {
  const int64_t size = shape_[axis];
  shape_[axis] = size * times;
  if (times == 1) return;
  for (Box& box : boxes_) {
    box.axes[axis].digits.push_back({times, size, 0});
    Normalize(&box.axes[axis]);
  }
}

void Layout::Take(size_t axis, const std::vector<int64_t>& list) {
  Layout taken(shape_, {});
  taken.shape_[axis] = 0;
  taken.within_budget_ = within_budget_;
  for (size_t i = 0; i < list.size() && taken.within_budget_;) {
    // The longest run of equal steps from here.
    size_t end = i + 1;
    const int64_t step = end < list.size() ? list[end] - list[i] : 1;
    while (end < list.size() && list[end] - list[end - 1] == step) ++end;
    Layout run = *this;
    const int64_t first = list[i], last = list[end - 1];
    if (step == 0) {
      run.Narrow(axis, first, first + 1);
      run.Repeat(axis, static_cast<int64_t>(end - i));
    } else {
      run.Narrow(axis, std::min(first, last), std::max(first, last) + 1, step < 0 ? -step : step);
      if (step < 0) run.Flip(axis);
    }
    taken.Append(axis, run);
    i = end;
  }
  *this = std::move(taken);
  Fold();
}

void Layout::Append(size_t axis, const Layout& next) {
  within_budget_ =
      within_budget_ && next.within_budget_ && boxes_.size() + next.boxes_.size() <= kMaxBoxes;
  if (!within_budget_) return;
  for (Box box : next.boxes_) {
    box.axes[axis].start += shape_[axis];
    boxes_.push_back(std::move(box));
  }
  shape_[axis] += next.shape_[axis];
}

bool Layout::ClipBox(const Box& box, size_t axis, int64_t begin, int64_t end,
                     std::vector<Box>* out) const {
  return ClipInto(box, axis, begin, end, kMaxBoxes, out);
}

void Layout::SplitAxis(size_t axis, int64_t inner) {
  std::vector<Box> split;
  for (const Box& box : boxes_) {
    within_budget_ = within_budget_ && SplitBox(box, axis, inner, &split);
  }
  boxes_ = std::move(split);
  const int64_t size = shape_[axis];
  shape_[axis] = CeilDiv(size, inner);
  shape_.insert(axis + 1, inner);
}

// index = outer * inner + rest: digits whose step is a multiple of `inner` move `outer` alone. The
// others must stay inside one round of `inner`; where they do not, the box is cut.
bool Layout::SplitBox(const Box& box, size_t axis, int64_t inner, std::vector<Box>* out) const {
  std::vector<Box> open = {box};
  while (!open.empty()) {
    if (out->size() + open.size() > kMaxBoxes) return false;
    Box next = std::move(open.back());
    open.pop_back();
    Axis& along = next.axes[axis];
    const int64_t start = along.start % inner;
    int64_t span = 0;
    size_t d = along.digits.size();  // the largest digit that moves the rest
    for (size_t i = 0; i < along.digits.size(); ++i) {
      if (along.digits[i].step % inner == 0) continue;
      span += (along.digits[i].extent - 1) * along.digits[i].step;
      d = i;
    }
    if (start + span < inner) {
      Axis outer{along.start / inner, {}}, rest{start, {}};
      for (Digit digit : along.digits) {
        if (digit.step % inner != 0) {
          rest.digits.push_back(digit);
        } else {
          digit.step /= inner;
          outer.digits.push_back(digit);
        }
      }
      next.axes[axis] = std::move(rest);
      next.axes.insert(next.axes.begin() + static_cast<std::ptrdiff_t>(axis), std::move(outer));
      out->push_back(std::move(next));
      continue;
    }
    const Digit digit = along.digits[d];
    const int64_t others = span - (digit.extent - 1) * digit.step;
    const int64_t period = inner / std::gcd(digit.step, inner);
    int64_t cut = 0;  // [0, cut) and [cut, extent)
    if (inner % digit.step == 0 && start >= digit.step &&
        start % digit.step + others < digit.step && period - start / digit.step < digit.extent) {
      cut = period - start / digit.step;  // up to the end of the first round
    } else if (digit.extent > period && digit.extent % period != 0) {
      cut = digit.extent - digit.extent % period;  // whole periods
    } else if (digit.extent > period) {
      along.digits[d].extent = period;
      along.digits.push_back({digit.extent / period, digit.step * period, digit.stride * period});
      std::sort(along.digits.begin(), along.digits.end(),
                [](const Digit& a, const Digit& b) { return a.step < b.step; });
      open.push_back(std::move(next));
      continue;
    } else {
      // As many as stay inside this round, at least one.
      const int64_t room = inner - 1 - start - others;
      cut = room < 0 ? 1 : std::min(room / digit.step + 1, digit.extent - 1);
    }
    open.push_back(Cut(next, axis, d, cut, digit.extent));
    open.push_back(Cut(next, axis, d, 0, cut));
  }
  return true;
}

void Layout::Fold() {
  if (!within_budget_ || boxes_.size() < 2) return;
  Layout folded = *this;
  folded.Reshape({*NumElements(shape_)});
  FoldBoxes(&folded.boxes_);
  folded.Reshape(shape_);
  // A box that crosses the edges of axes is cut again: then nothing was won.
  if (folded.within_budget_ && folded.boxes_.size() < boxes_.size()) *this = std::move(folded);
}

}  // namespace rekey
