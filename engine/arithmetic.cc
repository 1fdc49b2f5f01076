#include "engine/arithmetic.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string>

namespace rekey {
namespace {

std::string Written(std::string_view op, const Value& a, const Value& b) {
  return "`" + ToString(a) + " " + std::string(op) + " " + ToString(b) + "`";
}

Diagnostic Overflow(const std::string& what) {
  return Error("overflow", what + " does not fit into 64 bits");
}

Diagnostic ByZero(std::string_view op, const Value& a, const Value& b) {
  return Error("division", Written(op, a, b) + " divides by zero");
}

// Rounds down, as `//` does; C++ rounds towards zero.
int64_t FloorDivide(int64_t a, int64_t b) {
  const int64_t quotient = a / b;
  return a % b != 0 && (a < 0) != (b < 0) ? quotient - 1 : quotient;
}

Result<Value> OperateIntegers(std::string_view op, int64_t a, int64_t b) {
  int64_t result = 0;
  bool overflow = false;
  if (op == "+") {
    overflow = __builtin_add_overflow(a, b, &result);
  } else if (op == "-") {
    overflow = __builtin_sub_overflow(a, b, &result);
  } else if (op == "*") {
    overflow = __builtin_mul_overflow(a, b, &result);
  } else {
    if (b == 0) return ByZero(op, a, b);
    if (b == -1) {  // the one quotient that may not fit; C++ leaves the remainder undefined too
      overflow = op != "%" && __builtin_sub_overflow(int64_t{0}, a, &result);
    } else if (op == "/") {
      if (a % b != 0)
        return Error("division", Written(op, a, b) + " does not come out")
            .Help("`/` divides exactly; `//` rounds down");
      result = a / b;
    } else if (op == "//") {
      result = FloorDivide(a, b);
    } else {
      result = a - FloorDivide(a, b) * b;
    }
  }
  if (overflow) return Overflow(Written(op, a, b));
  return Value(result);
}

double AsReal(const Value& value) {
  return value.real() ? *value.real() : static_cast<double>(*value.integer());
}

Result<Value> OperateReals(std::string_view op, double a, double b) {
  if (op == "+") return Value(a + b);
  if (op == "-") return Value(a - b);
  if (op == "*") return Value(a * b);
  if (b == 0) return ByZero(op, a, b);
  if (op == "/") return Value(a / b);
  if (op == "//") return Value(std::floor(a / b));
  return Value(a - std::floor(a / b) * b);
}

std::optional<bool> Ordered(std::string_view op, int order) {
  if (op == "<") return order < 0;
  if (op == "<=") return order <= 0;
  if (op == ">") return order > 0;
  if (op == ">=") return order >= 0;
  return std::nullopt;
}

// Exact, also where an integer has no double. Neither is NaN.
int CompareNumbers(const Value& a, const Value& b) {
  if (a.integer() && b.integer())
    return *a.integer() < *b.integer() ? -1 : *a.integer() > *b.integer();
  const long double x = a.real() ? *a.real() : static_cast<long double>(*a.integer());
  const long double y = b.real() ? *b.real() : static_cast<long double>(*b.integer());
  return x < y ? -1 : x > y;
}

Result<bool> Equal(const Value& a, const Value& b) {
  if (IsNumber(a) && IsNumber(b)) {
    const bool nan = (a.real() && std::isnan(*a.real())) || (b.real() && std::isnan(*b.real()));
    return !nan && CompareNumbers(a, b) == 0;
  }
  if (a.v.index() != b.v.index())
    return Error("type-mismatch", std::string(TypeName(a)) + " is compared with " +
                                      std::string(TypeName(b)) + ": " + Written("and", a, b));
  if (!a.list()) {
    if (a.text()) return *a.text() == *b.text();
    if (a.truth()) return *a.truth() == *b.truth();
    return *a.dtype() == *b.dtype();
  }
  const ValueList& x = *a.list();
  const ValueList& y = *b.list();
  if (x.size() != y.size()) return false;
  for (size_t i = 0; i < x.size(); ++i) {
    Result<bool> same = Equal(x[i], y[i]);
    if (!same.ok() || !*same) return same;
  }
  return true;
}

}  // namespace

bool IsNumber(const Value& value) { return value.integer() || value.real(); }

bool AllDigits(std::string_view text) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

std::optional<int64_t> ParseDigits(std::string_view text) {
  int64_t number = 0;
  if (!AllDigits(text)) return std::nullopt;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (code != std::errc()) return std::nullopt;
  return number;
}

std::optional<int64_t> WholeNumber(const Value& value) {
  if (value.integer()) return *value.integer();
  if (!value.real()) return std::nullopt;
  const double real = *value.real();
  // 2^63 itself does not fit; -2^63 does.
  if (!(real >= -0x1p63 && real < 0x1p63) || std::floor(real) != real) return std::nullopt;
  return static_cast<int64_t>(real);
}

Result<Value> Operate(std::string_view op, const Value& a, const Value& b) {
  for (const Value* value : {&a, &b})
    if (!IsNumber(*value))
      return Error("text-in-arithmetic", ToString(*value) + " is " + std::string(TypeName(*value)) +
                                             ", and `" + std::string(op) + "` wants numbers");
  if (a.integer() && b.integer()) return OperateIntegers(op, *a.integer(), *b.integer());
  return OperateReals(op, AsReal(a), AsReal(b));
}

Result<Value> Compare(std::string_view op, const Value& a, const Value& b) {
  if (op == "==" || op == "!=") {
    Result<bool> equal = Equal(a, b);
    if (!equal.ok()) return std::move(equal).error();
    return Value((op == "==") == *equal);
  }
  if (!IsNumber(a) || !IsNumber(b))
    return Error("type-mismatch", Written(op, a, b) + ": only numbers have an order");
  const bool nan = (a.real() && std::isnan(*a.real())) || (b.real() && std::isnan(*b.real()));
  return Value(!nan && *Ordered(op, CompareNumbers(a, b)));
}

Result<Value> Negate(const Value& value) {
  if (value.real()) return Value(-*value.real());
  if (!value.integer())
    return Error("text-in-arithmetic", ToString(value) + " is " + std::string(TypeName(value)) +
                                           ", and `-` wants a number");
  int64_t result = 0;
  if (__builtin_sub_overflow(int64_t{0}, *value.integer(), &result))
    return Overflow("`-(" + ToString(value) + ")`");
  return Value(result);
}

}  // namespace rekey
