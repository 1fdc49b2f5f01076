#include "engine/shape.h"

#include <algorithm>
#include <utility>

namespace rekey {

Dims::Dims(std::initializer_list<int64_t> values) {
  Grow(values.size());
  std::copy(values.begin(), values.end(), data());
  size_ = static_cast<uint32_t>(values.size());
}

Dims::Dims(const std::vector<int64_t>& values) {
  Grow(values.size());
  std::copy(values.begin(), values.end(), data());
  size_ = static_cast<uint32_t>(values.size());
}

Dims::Dims(size_t count, int64_t value) {
  Grow(count);
  std::fill_n(data(), count, value);
  size_ = static_cast<uint32_t>(count);
}

Dims::Dims(const Dims& other) {
  Grow(other.size_);
  std::copy(other.begin(), other.end(), data());
  size_ = other.size_;
}

Dims::Dims(Dims&& other) noexcept { *this = std::move(other); }

Dims& Dims::operator=(const Dims& other) {
  if (this == &other) return *this;
  size_ = 0;
  Grow(other.size_);
  std::copy(other.begin(), other.end(), data());
  size_ = other.size_;
  return *this;
}

Dims& Dims::operator=(Dims&& other) noexcept {
  if (this == &other) return *this;
  if (capacity_ > kInline) delete[] heap_;
  size_ = other.size_;
  capacity_ = other.capacity_;
  if (capacity_ > kInline) {
    heap_ = other.heap_;
  } else {
    std::copy_n(other.inline_, size_, inline_);
  }
  other.size_ = 0;
  other.capacity_ = kInline;
  return *this;
}

Dims::~Dims() {
  if (capacity_ > kInline) delete[] heap_;
}

// Room for `capacity` numbers; those in use are kept.
void Dims::Grow(size_t capacity) {
  if (capacity <= capacity_) return;
  int64_t* grown = new int64_t[capacity];
  std::copy_n(data(), size_, grown);
  if (capacity_ > kInline) delete[] heap_;
  heap_ = grown;
  capacity_ = static_cast<uint32_t>(capacity);
}

void Dims::push_back(int64_t value) {
  if (size_ == capacity_) Grow(2 * static_cast<size_t>(capacity_));
  data()[size_++] = value;
}

void Dims::insert(size_t at, int64_t value) {
  push_back(value);
  std::rotate(begin() + at, end() - 1, end());
}

void Dims::erase(size_t at) {
  std::copy(begin() + at + 1, end(), begin() + at);
  --size_;
}

bool operator==(const Dims& a, const Dims& b) {
  return a.size_ == b.size_ && std::equal(a.begin(), a.end(), b.begin());
}

std::optional<int64_t> NumElements(const Shape& shape) {
  int64_t product = 1;
  bool none = false;
  for (int64_t size : shape) {
    if (size < 0) return std::nullopt;
    if (size == 0) {
      none = true;
    } else if (__builtin_mul_overflow(product, size, &product)) {
      return std::nullopt;
    }
  }
  return none ? 0 : product;
}

std::optional<int64_t> NumBytes(DType dtype, const Shape& shape) {
  std::optional<int64_t> elements = NumElements(shape);
  if (!elements) return std::nullopt;
  const int bits = BitsOf(dtype);
  int64_t bytes = 0;
  if (bits % 8 == 0) {
    if (__builtin_mul_overflow(*elements, int64_t{bits / 8}, &bytes)) return std::nullopt;
    return bytes;
  }
  int64_t total_bits = 0;
  if (__builtin_mul_overflow(*elements, int64_t{bits}, &total_bits)) return std::nullopt;
  if (total_bits % 8 != 0) return std::nullopt;
  return total_bits / 8;
}

Strides ContiguousStrides(const Shape& shape) {
  Strides strides(shape.size(), 1);
  int64_t stride = 1;
  for (size_t i = shape.size(); i-- > 0;) {
    strides[i] = stride;
    stride *= std::max<int64_t>(shape[i], 1);
  }
  return strides;
}

bool IsContiguous(const Shape& shape, const Strides& strides) {
  if (std::find(shape.begin(), shape.end(), 0) != shape.end()) return true;
  int64_t expected = 1;
  for (size_t i = shape.size(); i-- > 0;) {
    if (shape[i] == 1) continue;
    if (strides[i] != expected) return false;
    expected *= shape[i];
  }
  return true;
}

std::string ToString(const Dims& dims) {
  std::string text = "[";
  for (size_t i = 0; i < dims.size(); ++i) {
    if (i > 0) text += ", ";
    text += std::to_string(dims[i]);
  }
  return text + "]";
}

}  // namespace rekey
