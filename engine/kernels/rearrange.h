// Boxes of elements from one place in memory to another, with strides on both sides.
//
// This is the inner loop of every move: rows that run the same way on both sides are copied, planes
// whose sides run crosswise are transposed in SIMD blocks, and more dimensions loop around these.
// It knows nothing of files, pieces or types.
//
//   Rearrange(src, dst, 4, {{3, 4, 8}, {2, 12, 4}});   // [2, 3] f32 to [3, 2]
#ifndef REKEY_ENGINE_KERNELS_REARRANGE_H_
#define REKEY_ENGINE_KERNELS_REARRANGE_H_

#include <cstddef>
#include <cstdint>
#include <vector>

namespace rekey {

struct MoveDim {
  int64_t extent = 0;
  int64_t source = 0;  // strides in bytes, of any sign; 0 repeats
  int64_t target = 0;  // positive
};

// Copies `unit` bytes from each place of the box to its place. Targets do not overlap.
void Rearrange(const uint8_t* source, uint8_t* target, size_t unit, std::vector<MoveDim> dims);

// The transpose inside it: rows[j][o] to target[o * target_stride + j], elements of `unit` bytes,
// which is 1, 2, 4, 8 or 16; rows hold `columns` elements one after another.
void TransposeRows(const uint8_t* const* rows, size_t row_count, size_t columns, size_t unit,
                   uint8_t* target, int64_t target_stride);

}  // namespace rekey

#endif  // REKEY_ENGINE_KERNELS_REARRANGE_H_
