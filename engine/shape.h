// Shapes and strides: short lists of 64-bit sizes.
//
// Dims holds up to six numbers in place and more on the heap, because a catalog may have a million
// of them. A shape is Dims in elements; strides are Dims in elements, row-major unless said.
// Every product is checked: a shape from a file may multiply past 2^63.
//
//   Shape s{3, 3, 16, 32};
//   NumElements(s)          // 4608
//   ToString(s)             // "[3, 3, 16, 32]"
#ifndef REKEY_ENGINE_SHAPE_H_
#define REKEY_ENGINE_SHAPE_H_

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

#include "engine/dtype.h"

namespace rekey {

class Dims {
 public:
  Dims() = default;
  Dims(std::initializer_list<int64_t> values);
  explicit Dims(const std::vector<int64_t>& values);
  Dims(size_t count, int64_t value);
  Dims(const Dims& other);
  Dims(Dims&& other) noexcept;
  Dims& operator=(const Dims& other);
  Dims& operator=(Dims&& other) noexcept;
  ~Dims();

  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  int64_t* begin() { return data(); }
  int64_t* end() { return data() + size_; }
  const int64_t* begin() const { return data(); }
  const int64_t* end() const { return data() + size_; }
  int64_t& operator[](size_t i) { return data()[i]; }
  int64_t operator[](size_t i) const { return data()[i]; }
  int64_t& back() { return data()[size_ - 1]; }
  int64_t back() const { return data()[size_ - 1]; }

  void push_back(int64_t value);
  void insert(size_t at, int64_t value);
  void erase(size_t at);
  void clear() { size_ = 0; }

  friend bool operator==(const Dims& a, const Dims& b);

 private:
  static constexpr size_t kInline = 6;
  int64_t* data() { return capacity_ > kInline ? heap_ : inline_; }
  const int64_t* data() const { return capacity_ > kInline ? heap_ : inline_; }
  void Grow(size_t capacity);

  uint32_t size_ = 0;
  uint32_t capacity_ = kInline;
  union {
    int64_t inline_[kInline];
    int64_t* heap_;
  };
};

using Shape = Dims;
using Strides = Dims;

// torch's own limit; a file that declares more is broken.
constexpr size_t kMaxRank = 64;

// Product of the sizes; 1 for rank 0; nothing if a size is negative or the product passes 2^63 - 1,
// taking sizes of 0 as 1 there, so that strides cannot overflow either.
std::optional<int64_t> NumElements(const Shape& shape);

// Bytes of a contiguous tensor; nothing on overflow, or when bits do not fill whole bytes.
std::optional<int64_t> NumBytes(DType dtype, const Shape& shape);

// Row-major strides in elements; a size of 0 counts as 1, as torch does. The shape must have passed
// NumElements.
Strides ContiguousStrides(const Shape& shape);

// True if the strides visit the elements in row-major order without gaps (sizes 0 and 1 free).
bool IsContiguous(const Shape& shape, const Strides& strides);

std::string ToString(const Dims& dims);  // "[]", "[3]", "[2, 3]"

}  // namespace rekey

#endif  // REKEY_ENGINE_SHAPE_H_
