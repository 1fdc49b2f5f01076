// The SIMD transpose. Vectors of 128 bits, which every CPU that Highway knows has: a transpose of
// blocks is bound by memory before it is bound by wider shuffles. Highway picks the best variant
// for the CPU at run time.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/kernels/transpose.cc"
#include <hwy/foreach_target.h>  // IWYU pragma: keep: compiles this file once for each target
// clang-format off
#include <hwy/highway.h>
// clang-format on

#include <algorithm>
#include <cstring>

#include "engine/kernels/rearrange.h"

HWY_BEFORE_NAMESPACE();
namespace rekey::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET == HWY_SCALAR
constexpr bool kHasBlocks = false;

template <typename T>
void TransposeBlock(const uint8_t* const*, size_t, uint8_t*, int64_t) {}
#else
constexpr bool kHasBlocks = true;

// A block of N x N elements, N to a vector. Each stage interleaves the two halves of the rows,
// which rotates the bits of an element's place by one; after log2(N) stages row and column have
// changed places.
template <typename T>
HWY_INLINE void TransposeBlock(const uint8_t* const* rows, size_t column, uint8_t* target,
                               int64_t target_stride) {
  constexpr size_t kN = 16 / sizeof(T);
  const hn::FixedTag<T, kN> d;
  hn::Vec<decltype(d)> a[kN], b[kN];
  for (size_t i = 0; i < kN; ++i) {
    a[i] = hn::LoadU(d, reinterpret_cast<const T*>(rows[i] + column * sizeof(T)));
  }
  for (size_t stage = 1; stage < kN; stage *= 2) {
    for (size_t i = 0; i < kN / 2; ++i) {
      b[2 * i] = hn::InterleaveLower(d, a[i], a[i + kN / 2]);
      b[2 * i + 1] = hn::InterleaveUpper(d, a[i], a[i + kN / 2]);
    }
    for (size_t i = 0; i < kN; ++i) a[i] = b[i];
  }
  for (size_t i = 0; i < kN; ++i) {
    hn::StoreU(a[i], d, reinterpret_cast<T*>(target + static_cast<int64_t>(i) * target_stride));
  }
}

#endif

template <size_t kUnit>
void TransposeEdge(const uint8_t* const* rows, size_t row_begin, size_t row_end,
                   size_t column_begin, size_t column_end, uint8_t* target, int64_t target_stride) {
  for (size_t o = column_begin; o < column_end; ++o) {
    uint8_t* to = target + static_cast<int64_t>(o) * target_stride;
    for (size_t j = row_begin; j < row_end; ++j) {
      std::memcpy(to + j * kUnit, rows[j] + o * kUnit, kUnit);
    }
  }
}

template <typename T>
void TransposeTyped(const uint8_t* const* rows, size_t row_count, size_t columns, uint8_t* target,
                    int64_t target_stride) {
  constexpr size_t kN = 16 / sizeof(T);
  // Rows in bands that fill a cache line of the target.
  constexpr size_t kBand = std::max<size_t>(64 / sizeof(T), kN);
  const size_t whole = kHasBlocks ? columns / kN * kN : 0;
  for (size_t band = 0; band < row_count; band += kBand) {
    const size_t end = std::min(band + kBand, row_count);
    const size_t blocks_end = band + (end - band) / kN * kN;
    for (size_t o = 0; o < whole; o += kN) {
      uint8_t* to = target + static_cast<int64_t>(o) * target_stride;
      for (size_t j = band; j < blocks_end; j += kN) {
        TransposeBlock<T>(rows + j, o, to + j * sizeof(T), target_stride);
      }
    }
    TransposeEdge<sizeof(T)>(rows, blocks_end, end, 0, whole, target, target_stride);
    TransposeEdge<sizeof(T)>(rows, band, end, whole, columns, target, target_stride);
  }
}

void TransposeAny(const uint8_t* const* rows, size_t row_count, size_t columns, size_t unit,
                  uint8_t* target, int64_t target_stride) {
  switch (unit) {
    case 1:
      return TransposeTyped<uint8_t>(rows, row_count, columns, target, target_stride);
    case 2:
      return TransposeTyped<uint16_t>(rows, row_count, columns, target, target_stride);
    case 4:
      return TransposeTyped<uint32_t>(rows, row_count, columns, target, target_stride);
    case 8:
      return TransposeTyped<uint64_t>(rows, row_count, columns, target, target_stride);
    default:  // 16: a vector holds one element
      for (size_t band = 0; band < row_count; band += 4) {
        TransposeEdge<16>(rows, band, std::min(band + 4, row_count), 0, columns, target,
                          target_stride);
      }
  }
}

}  // namespace rekey::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace rekey {

HWY_EXPORT(TransposeAny);

void TransposeRows(const uint8_t* const* rows, size_t row_count, size_t columns, size_t unit,
                   uint8_t* target, int64_t target_stride) {
  HWY_DYNAMIC_DISPATCH(TransposeAny)(rows, row_count, columns, unit, target, target_stride);
}

}  // namespace rekey
#endif  // HWY_ONCE
