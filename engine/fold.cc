#include "engine/fold.h"

#include <algorithm>
#include <compare>
#include <optional>
#include <tuple>
#include <utility>

namespace rekey {
namespace {

auto OriginOf(const Box& box) {
  return std::make_tuple(box.storage, box.constant, box.fixes.swap_bytes, box.fixes.flip_sign,
                         box.fixes.flip_imaginary);
}

std::strong_ordering Compare(const std::vector<Digit>& a, const std::vector<Digit>& b) {
  if (a.size() != b.size()) return a.size() <=> b.size();
  for (size_t i = 0; i < a.size(); ++i) {
    const auto order = std::tie(a[i].extent, a[i].step, a[i].stride) <=>
                       std::tie(b[i].extent, b[i].step, b[i].stride);
    if (order != 0) return order;
  }
  return std::strong_ordering::equal;
}

bool Alike(const Box& a, const Box& b) {
  return OriginOf(a) == OriginOf(b) && a.axes[0].digits == b.axes[0].digits;
}

bool ByStart(const Box& a, const Box& b) { return a.axes[0].start < b.axes[0].start; }

// Boxes alike at equal distances become one.
void FoldRepeats(std::vector<Box>* boxes) {
  std::sort(boxes->begin(), boxes->end(), [](const Box& a, const Box& b) {
    if (OriginOf(a) != OriginOf(b)) return OriginOf(a) < OriginOf(b);
    const auto order = Compare(a.axes[0].digits, b.axes[0].digits);
    return order != 0 ? order < 0 : ByStart(a, b);
  });
  std::vector<Box> folded;
  for (size_t i = 0; i < boxes->size();) {
    Box box = (*boxes)[i];
    size_t end = i + 1;
    if (end < boxes->size() && Alike(box, (*boxes)[end])) {
      const int64_t step = (*boxes)[end].axes[0].start - box.axes[0].start;
      const int64_t stride = (*boxes)[end].source - box.source;
      for (; end < boxes->size(); ++end) {
        const Box &last = (*boxes)[end - 1], &next = (*boxes)[end];
        if (!Alike(box, next) || next.axes[0].start - last.axes[0].start != step ||
            next.source - last.source != stride) {
          break;
        }
      }
      box.axes[0].digits.push_back({static_cast<int64_t>(end - i), step, stride});
      Normalize(&box.axes[0]);
    }
    folded.push_back(std::move(box));
    i = end;
  }
  *boxes = std::move(folded);
}

// The digits with the one at `at` left out.
std::vector<Digit> Without(std::vector<Digit> digits, size_t at) {
  digits.erase(digits.begin() + static_cast<std::ptrdiff_t>(at));
  return digits;
}

// `a` continued by `b` along a digit: the box of both.
std::optional<Box> Continued(const Box& a, const Box& b) {
  if (OriginOf(a) != OriginOf(b)) return std::nullopt;
  const int64_t step = b.axes[0].start - a.axes[0].start, stride = b.source - a.source;
  const std::vector<Digit>&da = a.axes[0].digits, &db = b.axes[0].digits;
  Box both = a;
  // Along a digit of `a`, which `b` has too, or lacks because it is one step long.
  for (size_t i = 0; i < da.size(); ++i) {
    const Digit& digit = da[i];
    if (digit.step * digit.extent != step || digit.stride * digit.extent != stride) continue;
    const std::vector<Digit> others = Without(da, i);
    if (others == db) {
      both.axes[0].digits[i].extent += 1;
      return both;
    }
    for (size_t j = 0; j < db.size(); ++j) {
      if (db[j].step != digit.step || db[j].stride != digit.stride || Without(db, j) != others) {
        continue;
      }
      both.axes[0].digits[i].extent += db[j].extent;
      return both;
    }
  }
  // `a` is the first step of a digit of `b`.
  for (size_t j = 0; j < db.size(); ++j) {
    if (db[j].step != step || db[j].stride != stride || Without(db, j) != da) continue;
    both.axes[0].digits = db;
    both.axes[0].digits[j].extent += 1;
    return both;
  }
  return std::nullopt;
}

void FoldNeighbours(std::vector<Box>* boxes) {
  std::sort(boxes->begin(), boxes->end(), ByStart);
  std::vector<Box> folded;
  for (Box& box : *boxes) {
    if (!folded.empty()) {
      std::optional<Box> both = Continued(folded.back(), box);
      if (both) {
        Normalize(&both->axes[0]);
        folded.back() = *std::move(both);
        continue;
      }
    }
    folded.push_back(std::move(box));
  }
  *boxes = std::move(folded);
}

}  // namespace

void FoldBoxes(std::vector<Box>* boxes) {
  size_t before = 0;
  do {
    before = boxes->size();
    FoldNeighbours(boxes);
    if (boxes->size() > 1) FoldRepeats(boxes);
  } while (boxes->size() < before && boxes->size() > 1);
  std::sort(boxes->begin(), boxes->end(), ByStart);
}

}  // namespace rekey
