#include "engine/kernels/rearrange.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace rekey {
namespace {

// Rows that a crosswise plane gathers at a time.
constexpr size_t kMaxRows = 512;

template <size_t kUnit>
void CopyFixed(const uint8_t* source, uint8_t* target, const MoveDim& row) {
  for (int64_t k = 0; k < row.extent; ++k) {
    std::memcpy(target + k * row.target, source + k * row.source, kUnit);
  }
}

void CopyRow(const uint8_t* source, uint8_t* target, size_t unit, const MoveDim& row) {
  switch (unit) {
    case 1:
      if (row.source == 0 && row.target == 1) {
        std::memset(target, *source, static_cast<size_t>(row.extent));
        return;
      }
      return CopyFixed<1>(source, target, row);
    case 2:
      return CopyFixed<2>(source, target, row);
    case 4:
      return CopyFixed<4>(source, target, row);
    case 8:
      return CopyFixed<8>(source, target, row);
    case 16:
      return CopyFixed<16>(source, target, row);
    default:
      for (int64_t k = 0; k < row.extent; ++k) {
        std::memcpy(target + k * row.target, source + k * row.source, unit);
      }
  }
}

// Calls `body(source, target)` for each place of `dims`, the last running fastest.
template <typename Body>
void ForEach(const uint8_t* source, uint8_t* target, const std::vector<MoveDim>& dims,
             const Body& body) {
  std::vector<int64_t> at(dims.size(), 0);
  int64_t from = 0, to = 0;
  while (true) {
    body(source + from, target + to);
    size_t d = dims.size();
    for (; d > 0; --d) {
      const MoveDim& dim = dims[d - 1];
      from += dim.source;
      to += dim.target;
      if (++at[d - 1] < dim.extent) break;
      from -= dim.source * dim.extent;
      to -= dim.target * dim.extent;
      at[d - 1] = 0;
    }
    if (d == 0) return;
  }
}

bool IsVectorUnit(size_t unit) {
  return unit == 1 || unit == 2 || unit == 4 || unit == 8 || unit == 16;
}

// The dimension along which source elements lie one after another; dims.size() if there is none.
size_t DenseSource(const std::vector<MoveDim>& dims, size_t unit) {
  size_t d = 0;
  while (d < dims.size() && dims[d].source != static_cast<int64_t>(unit)) ++d;
  return d;
}

// `columns` runs along the source; `inner` are the dimensions that fill the target's rows, largest
// target stride first. They are gathered as rows, wherever those lie, and transposed together.
void TransposePlane(const uint8_t* source, uint8_t* target, size_t unit, const MoveDim& columns,
                    const std::vector<MoveDim>& inner) {
  const uint8_t* rows[kMaxRows];
  size_t count = 0;
  const auto flush = [&] {
    TransposeRows(rows, count, static_cast<size_t>(columns.extent), unit, target, columns.target);
    target += count * unit;
    count = 0;
  };
  ForEach(source, target, inner, [&](const uint8_t* row, uint8_t*) {
    rows[count++] = row;
    if (count == kMaxRows) flush();
  });
  if (count > 0) flush();
}

}  // namespace

void Rearrange(const uint8_t* source, uint8_t* target, size_t unit, std::vector<MoveDim> dims) {
  dims.erase(
      std::remove_if(dims.begin(), dims.end(), [](const MoveDim& d) { return d.extent == 1; }),
      dims.end());
  std::sort(dims.begin(), dims.end(),
            [](const MoveDim& a, const MoveDim& b) { return a.target > b.target; });
  const size_t dense = IsVectorUnit(unit) ? DenseSource(dims, unit) : dims.size();
  // Dimensions behind the dense one that together fill the target without gaps.
  size_t first = dims.size();
  int64_t run = static_cast<int64_t>(unit);
  while (first > dense + 1 && dims[first - 1].target == run) run *= dims[--first].extent;
  if (first < dims.size()) {
    const MoveDim columns = dims[dense];
    const std::vector<MoveDim> inner(dims.begin() + static_cast<std::ptrdiff_t>(first), dims.end());
    dims.resize(first);
    dims.erase(dims.begin() + static_cast<std::ptrdiff_t>(dense));
    ForEach(source, target, dims, [&](const uint8_t* from, uint8_t* to) {
      TransposePlane(from, to, unit, columns, inner);
    });
    return;
  }
  MoveDim row{1, 0, 0};
  if (!dims.empty()) {
    row = dims.back();
    dims.pop_back();
  }
  ForEach(source, target, dims,
          [&](const uint8_t* from, uint8_t* to) { CopyRow(from, to, unit, row); });
}

}  // namespace rekey
