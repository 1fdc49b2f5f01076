// Tensors written out in a rule file: `given K = [[1, 2], [3, 4]]`, and `expect` and `fill` alike.
//
// A literal is a number or nested lists of numbers of one length each. Its numbers are rounded to
// the element type, to nearest even; a number outside the type's range is an error, as is a
// fraction in an integer. It is not a cast of tensors: that is an operation.
//
//   Result<TensorLiteral> t = EncodeLiteral(ValueList{1, 2}, DType::kF16);
//   t->shape                   // [2]
//   t->bytes                   // 00 3c 00 40
#ifndef REKEY_ENGINE_LITERAL_H_
#define REKEY_ENGINE_LITERAL_H_

#include <string>
#include <string_view>

#include "engine/dtype.h"
#include "engine/shape.h"
#include "engine/status.h"
#include "engine/value.h"

namespace rekey {

struct TensorLiteral {
  Shape shape;
  std::string bytes;  // row-major, little endian
};

// The bytes of one element. Errors: not a number, out of range, a fraction in an integer, a type
// whose elements are not whole bytes.
Result<std::string> EncodeElement(const Value& number, DType dtype);

// Errors: those of EncodeElement; lists of different lengths side by side.
Result<TensorLiteral> EncodeLiteral(const Value& literal, DType dtype);

// The first element in which the two differ, or -1. NaN equals NaN, 0 equals -0. Both hold whole
// elements of that type, the same number of them.
int64_t FirstDifference(DType dtype, std::string_view a, std::string_view b);

// One element as a person reads it: "0.5", "nan", "-3", "true", "1+2i".
std::string PrintElement(DType dtype, std::string_view element);

}  // namespace rekey

#endif  // REKEY_ENGINE_LITERAL_H_
