// A value of the rule language's expressions: `layers / 2`, `"text"`, `[1, 2]`, `f32`, `i >= 5`.
//
// Integers are 64-bit and checked: overflow is an error, never a wrap. It is not a tensor value;
// literals of tensors (fill, given, expect) are Lists of numbers.
//
//   Value v = int64_t{12};
//   ToString(v)                  // "12"
#ifndef REKEY_ENGINE_VALUE_H_
#define REKEY_ENGINE_VALUE_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "engine/dtype.h"

namespace rekey {

struct Value;
using ValueList = std::vector<Value>;

struct Value {
  std::variant<bool, int64_t, double, std::string, DType, ValueList> v;

  Value(bool b) : v(b) {}                        // NOLINT
  Value(int64_t i) : v(i) {}                     // NOLINT
  Value(int i) : v(int64_t{i}) {}                // NOLINT
  Value(double d) : v(d) {}                      // NOLINT
  Value(std::string s) : v(std::move(s)) {}      // NOLINT
  Value(const char* s) : v(std::string(s)) {}    // NOLINT
  Value(DType t) : v(t) {}                       // NOLINT
  Value(ValueList list) : v(std::move(list)) {}  // NOLINT

  // The alternative if it is that one, else null.
  const int64_t* integer() const { return std::get_if<int64_t>(&v); }
  const double* real() const { return std::get_if<double>(&v); }
  const bool* truth() const { return std::get_if<bool>(&v); }
  const std::string* text() const { return std::get_if<std::string>(&v); }
  const DType* dtype() const { return std::get_if<DType>(&v); }
  const ValueList* list() const { return std::get_if<ValueList>(&v); }
};

std::string ToString(const Value& value);       // as the language writes it; texts quoted
std::string_view TypeName(const Value& value);  // "an integer", "a text", ... for messages

}  // namespace rekey

#endif  // REKEY_ENGINE_VALUE_H_
