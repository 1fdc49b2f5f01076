// The operators of expressions on values: checked, never wrapping, never rounding unasked.
//
// `/` must come out exactly, `//` rounds down, `%` has the sign of the divisor (as `//` rounds).
// An integer and a float give a float. It knows neither variables nor places: errors are without a
// span, Code::Evaluate adds it.
//
//   Operate("//", 7, 2)    // 3
//   Operate("/", 7, 2)     // error: 7 / 2 does not come out
#ifndef REKEY_ENGINE_ARITHMETIC_H_
#define REKEY_ENGINE_ARITHMETIC_H_

#include <cstdint>
#include <optional>
#include <string_view>

#include "engine/status.h"
#include "engine/value.h"

namespace rekey {

// + - * / // % on two numbers.
Result<Value> Operate(std::string_view op, const Value& a, const Value& b);

// == != < <= > >=. Only numbers have an order; values of two types are an error, not unequal.
Result<Value> Compare(std::string_view op, const Value& a, const Value& b);

Result<Value> Negate(const Value& value);

bool IsNumber(const Value& value);

// Decimal digits alone, as a number that fits 64 bits.
std::optional<int64_t> ParseDigits(std::string_view text);

bool AllDigits(std::string_view text);  // false when empty

// The integer that the value is: an integer, or a float without a fraction.
std::optional<int64_t> WholeNumber(const Value& value);

}  // namespace rekey

#endif  // REKEY_ENGINE_ARITHMETIC_H_
