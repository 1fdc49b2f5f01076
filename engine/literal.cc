#include "engine/literal.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>
#include <optional>
#include <utility>

namespace rekey {
namespace {

// How a float of at most 16 bits is laid out: sign, exponent, mantissa.
struct SmallFloat {
  int exponent_bits;
  int mantissa_bits;
  int bias;
  // kIeee: the largest exponent is infinity and NaN. kFinite: no infinity, NaN is all ones (the
  // "fn" types). kUnsignedZero: no infinity, NaN stands in the place of -0 ("fnuz"). kNumbers:
  // neither infinity nor NaN.
  enum class Special { kIeee, kFinite, kUnsignedZero, kNumbers } special;
};

std::optional<SmallFloat> SmallFloatOf(DType dtype) {
  using Special = SmallFloat::Special;
  switch (dtype) {
    case DType::kF16:
      return SmallFloat{5, 10, 15, Special::kIeee};
    case DType::kBF16:
      return SmallFloat{8, 7, 127, Special::kIeee};
    case DType::kF8E4M3:
      return SmallFloat{4, 3, 7, Special::kFinite};
    case DType::kF8E4M3FNUZ:
      return SmallFloat{4, 3, 8, Special::kUnsignedZero};
    case DType::kF8E5M2:
      return SmallFloat{5, 2, 15, Special::kIeee};
    case DType::kF8E5M2FNUZ:
      return SmallFloat{5, 2, 16, Special::kUnsignedZero};
    default:
      return std::nullopt;
  }
}

uint32_t SignBit(const SmallFloat& f) { return 1u << (f.exponent_bits + f.mantissa_bits); }

// The bits of the largest finite number.
uint32_t LargestBits(const SmallFloat& f) {
  const uint32_t all = SignBit(f) - 1;
  switch (f.special) {
    case SmallFloat::Special::kIeee:
      return all - (1u << f.mantissa_bits);
    case SmallFloat::Special::kFinite:
      return all - 1;
    default:
      return all;
  }
}

double DecodeSmall(const SmallFloat& f, uint32_t bits) {
  const bool negative = bits & SignBit(f);
  const uint32_t magnitude = bits & (SignBit(f) - 1);
  if (magnitude > LargestBits(f)) {
    const bool infinite =
        f.special == SmallFloat::Special::kIeee && magnitude == LargestBits(f) + 1;
    if (!infinite) return std::numeric_limits<double>::quiet_NaN();
    return negative ? -std::numeric_limits<double>::infinity()
                    : std::numeric_limits<double>::infinity();
  }
  if (negative && magnitude == 0 && f.special == SmallFloat::Special::kUnsignedZero) {
    return std::numeric_limits<double>::quiet_NaN();
  }
  const uint32_t exponent = magnitude >> f.mantissa_bits;
  const uint32_t mantissa = magnitude & ((1u << f.mantissa_bits) - 1);
  const double fraction = exponent == 0 ? mantissa : mantissa + (1u << f.mantissa_bits);
  const double value = std::ldexp(fraction, std::max<int>(1, exponent) - f.bias - f.mantissa_bits);
  return negative ? -value : value;
}

// Rounds to nearest even; nothing when the number is past the largest one.
std::optional<uint32_t> EncodeSmall(const SmallFloat& f, double value) {
  const double magnitude = std::fabs(value);
  uint32_t bits = 0;
  if (magnitude != 0) {
    const int exponent = std::max(std::ilogb(magnitude), 1 - f.bias);
    // Carries of the rounding run into the exponent by themselves.
    const double steps = std::nearbyint(std::ldexp(magnitude, f.mantissa_bits - exponent));
    const int64_t wide = (static_cast<int64_t>(exponent + f.bias - 1) << f.mantissa_bits) +
                         static_cast<int64_t>(steps);
    if (wide > static_cast<int64_t>(LargestBits(f))) return std::nullopt;
    bits = static_cast<uint32_t>(wide);
  }
  const bool has_sign = bits != 0 || f.special != SmallFloat::Special::kUnsignedZero;
  if (std::signbit(value) && has_sign) bits |= SignBit(f);
  return bits;
}

template <typename T>
std::string BytesOf(T value) {
  std::string bytes(sizeof(T), '\0');
  std::memcpy(bytes.data(), &value, sizeof(T));
  return bytes;
}

template <typename T>
T Load(std::string_view bytes) {
  T value;
  std::memcpy(&value, bytes.data(), sizeof(T));
  return value;
}

Diagnostic OutOfRange(const Value& number, DType dtype) {
  return Error("out-of-range", ToString(number) + " does not fit " + std::string(Name(dtype)))
      .Help("write a number that fits, or another type: `: f32`");
}

template <typename T>
Result<std::string> EncodeInteger(const Value& number, DType dtype) {
  int64_t wide = 0;
  if (const int64_t* integer = number.integer()) {
    wide = *integer;
  } else if (const bool* truth = number.truth()) {
    wide = *truth;
  } else {
    const double real = *number.real();
    if (real != std::floor(real)) {
      return Error("fraction", ToString(number) + " is not a whole number, and " +
                                   std::string(Name(dtype)) + " holds no others")
          .Help("write a whole number, or another type: `: f32`");
    }
    if (real < -0x1p63 || real >= 0x1p63) return OutOfRange(number, dtype);
    wide = static_cast<int64_t>(real);
  }
  if (!std::in_range<T>(wide)) return OutOfRange(number, dtype);
  return BytesOf(static_cast<T>(wide));
}

Result<std::string> EncodeScale(const Value& number, double real) {
  int exponent = 0;
  if (real <= 0 || std::frexp(real, &exponent) != 0.5) {
    return Error("out-of-range", ToString(number) +
                                     " is not a power of two, and f8_e8m0 holds no "
                                     "others")
        .Help("write a power of two, or another type: `: f32`");
  }
  const int biased = exponent - 1 + 127;
  if (biased < 0 || biased > 254) return OutOfRange(number, DType::kF8E8M0);
  return std::string(1, static_cast<char>(biased));
}

Result<std::string> EncodeReal(const Value& number, DType dtype) {
  double real = 0;
  if (const double* written = number.real()) real = *written;
  if (const int64_t* integer = number.integer()) real = static_cast<double>(*integer);
  if (const bool* truth = number.truth()) real = *truth;
  if (dtype == DType::kF64) return BytesOf(real);
  if (dtype == DType::kC128) return BytesOf(real) + BytesOf(0.0);
  if (dtype == DType::kF8E8M0) return EncodeScale(number, real);
  if (dtype == DType::kF32 || dtype == DType::kC64) {
    const float rounded = static_cast<float>(real);
    if (std::isinf(rounded) && !std::isinf(real)) return OutOfRange(number, dtype);
    return dtype == DType::kF32 ? BytesOf(rounded) : BytesOf(rounded) + BytesOf(0.0f);
  }
  const DType part = dtype == DType::kC32 ? DType::kF16 : dtype;
  const std::optional<SmallFloat> small = SmallFloatOf(part);
  if (!small) {
    return Error("no-literal", "elements of " + std::string(Name(dtype)) + " cannot be written out")
        .Help("use another type: `: f32`");
  }
  const std::optional<uint32_t> bits = EncodeSmall(*small, real);
  if (!bits) return OutOfRange(number, dtype);
  if (BitsOf(part) == 8) return std::string(1, static_cast<char>(*bits));
  std::string bytes = BytesOf(static_cast<uint16_t>(*bits));
  if (dtype == DType::kC32) bytes.resize(4, '\0');
  return bytes;
}

Status EncodeInto(const Value& literal, DType dtype, size_t depth, TensorLiteral* out) {
  const ValueList* list = literal.list();
  if (!list) {
    if (depth != out->shape.size()) {
      return Error("ragged-literal", ToString(literal) + " stands where a list is expected")
          .Help("write lists of one length each, as [[1, 2], [3, 4]]");
    }
    Result<std::string> element = EncodeElement(literal, dtype);
    if (!element.ok()) return std::move(element).error();
    out->bytes += *element;
    return {};
  }
  if (depth == out->shape.size() || static_cast<int64_t>(list->size()) != out->shape[depth]) {
    return Error("ragged-literal", "the list " + ToString(literal) +
                                       " does not have the length of the ones beside it")
        .Help("write lists of one length each, as [[1, 2], [3, 4]]");
  }
  for (const Value& item : *list) {
    Status encoded = EncodeInto(item, dtype, depth + 1, out);
    if (!encoded.ok()) return encoded;
  }
  return {};
}

// The parts of a complex number are compared one by one.
DType PartOf(DType dtype) {
  switch (dtype) {
    case DType::kC32:
      return DType::kF16;
    case DType::kC64:
      return DType::kF32;
    case DType::kC128:
      return DType::kF64;
    default:
      return dtype;
  }
}

// The number of an element of a float type; nothing for other types.
std::optional<double> DecodeFloat(DType dtype, std::string_view element) {
  if (dtype == DType::kF64) return Load<double>(element);
  if (dtype == DType::kF32) return Load<float>(element);
  if (dtype == DType::kF8E8M0) {
    const uint8_t biased = Load<uint8_t>(element);
    return biased == 255 ? std::numeric_limits<double>::quiet_NaN() : std::ldexp(1.0, biased - 127);
  }
  const std::optional<SmallFloat> small = SmallFloatOf(dtype);
  if (!small) return std::nullopt;
  return DecodeSmall(*small, BitsOf(dtype) == 8 ? Load<uint8_t>(element) : Load<uint16_t>(element));
}

bool SameElement(DType dtype, std::string_view a, std::string_view b) {
  if (a == b) return true;
  const std::optional<double> x = DecodeFloat(dtype, a);
  const std::optional<double> y = DecodeFloat(dtype, b);
  return x && y && (*x == *y || (std::isnan(*x) && std::isnan(*y)));
}

std::string PrintInteger(DType dtype, std::string_view element) {
  switch (dtype) {
    case DType::kI64:
      return std::to_string(Load<int64_t>(element));
    case DType::kI32:
    case DType::kQI32:
      return std::to_string(Load<int32_t>(element));
    case DType::kI16:
      return std::to_string(Load<int16_t>(element));
    case DType::kI8:
    case DType::kQI8:
      return std::to_string(Load<int8_t>(element));
    case DType::kU64:
      return std::to_string(Load<uint64_t>(element));
    case DType::kU32:
      return std::to_string(Load<uint32_t>(element));
    case DType::kU16:
      return std::to_string(Load<uint16_t>(element));
    case DType::kBool:
      return Load<uint8_t>(element) ? "true" : "false";
    default:
      return std::to_string(Load<uint8_t>(element));
  }
}

}  // namespace

Result<std::string> EncodeElement(const Value& number, DType dtype) {
  if (!number.integer() && !number.real() && !number.truth()) {
    return Error("not-a-number",
                 ToString(number) + " is " + std::string(TypeName(number)) + ", not a number")
        .Help("write numbers, as [[1, 2], [3, 4]]");
  }
  switch (dtype) {
    case DType::kI64:
      return EncodeInteger<int64_t>(number, dtype);
    case DType::kI32:
    case DType::kQI32:
      return EncodeInteger<int32_t>(number, dtype);
    case DType::kI16:
      return EncodeInteger<int16_t>(number, dtype);
    case DType::kI8:
    case DType::kQI8:
      return EncodeInteger<int8_t>(number, dtype);
    case DType::kU64:
      return EncodeInteger<uint64_t>(number, dtype);
    case DType::kU32:
      return EncodeInteger<uint32_t>(number, dtype);
    case DType::kU16:
      return EncodeInteger<uint16_t>(number, dtype);
    case DType::kU8:
    case DType::kQU8:
      return EncodeInteger<uint8_t>(number, dtype);
    case DType::kBool: {
      Result<std::string> byte = EncodeInteger<uint8_t>(number, dtype);
      if (byte.ok() && static_cast<uint8_t>((*byte)[0]) > 1) return OutOfRange(number, dtype);
      return byte;
    }
    default:
      return EncodeReal(number, dtype);
  }
}

Result<TensorLiteral> EncodeLiteral(const Value& literal, DType dtype) {
  TensorLiteral out;
  for (const Value* at = &literal; at->list(); at = &at->list()->front()) {
    out.shape.push_back(static_cast<int64_t>(at->list()->size()));
    if (at->list()->empty()) break;
    if (out.shape.size() > kMaxRank) {
      return Error("rank-too-high", "the literal has more than " + std::to_string(kMaxRank) +
                                        " dimensions, more than a tensor can have");
    }
  }
  Status encoded = EncodeInto(literal, dtype, 0, &out);
  if (!encoded.ok()) return std::move(encoded).error();
  return out;
}

int64_t FirstDifference(DType dtype, std::string_view a, std::string_view b) {
  const DType part = PartOf(dtype);
  const size_t width = static_cast<size_t>(std::max(8, BitsOf(part))) / 8;
  const size_t parts = part == dtype ? 1 : 2;
  for (size_t at = 0; at + width <= a.size() && at + width <= b.size(); at += width) {
    if (!SameElement(part, a.substr(at, width), b.substr(at, width))) {
      return static_cast<int64_t>(at / width / parts);
    }
  }
  return -1;
}

std::string PrintElement(DType dtype, std::string_view element) {
  const DType part = PartOf(dtype);
  if (part != dtype) {
    const size_t half = element.size() / 2;
    const std::string imaginary = PrintElement(part, element.substr(half));
    return PrintElement(part, element.substr(0, half)) + (imaginary.starts_with('-') ? "" : "+") +
           imaginary + "i";
  }
  const std::optional<double> number = DecodeFloat(dtype, element);
  if (!number) return PrintInteger(dtype, element);
  if (std::isnan(*number)) return "nan";
  char text[32];
  std::snprintf(text, sizeof text, dtype == DType::kF64 ? "%.17g" : "%.9g", *number);
  return text;
}

}  // namespace rekey
