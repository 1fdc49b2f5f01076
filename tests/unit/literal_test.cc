#include "engine/literal.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace rekey {
namespace {

std::string Hex(const std::string& bytes) {
  std::string hex;
  for (unsigned char c : bytes) {
    hex += "0123456789abcdef"[c >> 4];
    hex += "0123456789abcdef"[c & 15];
  }
  return hex;
}

struct Case {
  DType dtype;
  Value number;
  const char* bytes;  // as torch 2.13 stores the number, little endian; "" where it must not fit
};

// Values from torch: torch.tensor(x, dtype=torch.float64).to(dtype).view(torch.uint8).
TEST(LiteralTest, RoundsToNearestEven) {
  const std::vector<Case> cases = {
      {DType::kF64, 0.1, "9a9999999999b93f"},
      {DType::kF32, 0.1, "cdcccc3d"},
      {DType::kF32, 16777217, "0000804b"},  // 2^24 + 1 ties to even
      {DType::kF32, 1e39, ""},
      {DType::kF16, 1, "003c"},
      {DType::kF16, -2.5, "00c1"},
      {DType::kF16, 2049, "0068"},                    // ties to 2048
      {DType::kF16, 2051, "0268"},                    // ties to 2052
      {DType::kF16, 65519, "ff7b"},                   // rounds down to the largest, 65504
      {DType::kF16, 65520, ""},                       // would be infinity
      {DType::kF16, 5.960464477539063e-08, "0100"},   // the smallest subnormal
      {DType::kF16, 2.9802322387695312e-08, "0000"},  // half of it ties to 0
      {DType::kF16, 6.097555160522461e-05, "ff03"},   // the largest subnormal
      {DType::kBF16, 1, "803f"},
      {DType::kBF16, 1.00390625, "803f"},  // ties to even
      {DType::kBF16, 1.01171875, "823f"},
      {DType::kBF16, -3.1415926535, "49c0"},
      {DType::kF8E4M3, 1, "38"},
      {DType::kF8E4M3, 448, "7e"},
      {DType::kF8E4M3, 464, "7e"},  // ties to even: 448
      {DType::kF8E4M3, 465, ""},
      {DType::kF8E4M3, -0.0625, "98"},
      {DType::kF8E5M2, 1.25, "3d"},
      {DType::kF8E5M2, 57344, "7b"},
      {DType::kF8E5M2, 61440, ""},
      {DType::kF8E4M3FNUZ, 240, "7f"},
      {DType::kF8E4M3FNUZ, 1, "40"},
      {DType::kF8E5M2FNUZ, 1, "40"},
      {DType::kF8E8M0, 1, "7f"},
      {DType::kF8E8M0, 0.25, "7d"},
      {DType::kF8E8M0, 3, ""},
      {DType::kC64, 1.5, "0000c03f00000000"},
      {DType::kI64, -2, "feffffffffffffff"},
      {DType::kI32, 70000, "70110100"},
      {DType::kI8, 127, "7f"},
      {DType::kI8, 128, ""},
      {DType::kU8, 255, "ff"},
      {DType::kU8, -1, ""},
      {DType::kU8, 2.0, "02"},
      {DType::kU8, 2.5, ""},
      {DType::kBool, true, "01"},
      {DType::kBool, 2, ""},
      {DType::kF32, "one", ""},
      {DType::kF4, 1, ""},
  };
  for (const Case& c : cases) {
    const Result<std::string> bytes = EncodeElement(c.number, c.dtype);
    const std::string what = ToString(c.number) + " as " + std::string(Name(c.dtype));
    EXPECT_EQ(bytes.ok(), *c.bytes != '\0') << what;
    if (bytes.ok()) {
      EXPECT_EQ(Hex(*bytes), c.bytes) << what;
    }
  }
}

TEST(LiteralTest, ShapeIsThatOfTheLists) {
  const Value matrix = ValueList{ValueList{1, 2, 3}, ValueList{4, 5, 6}};
  const Result<TensorLiteral> literal = EncodeLiteral(matrix, DType::kU8);
  ASSERT_TRUE(literal.ok());
  EXPECT_EQ(literal->shape, (Shape{2, 3}));
  EXPECT_EQ(Hex(literal->bytes), "010203040506");
  EXPECT_EQ(EncodeLiteral(5, DType::kU8)->shape, Shape{});
  EXPECT_EQ(EncodeLiteral(ValueList{}, DType::kU8)->shape, Shape{0});
  EXPECT_EQ(EncodeLiteral(ValueList{ValueList{}, ValueList{}}, DType::kU8)->shape, (Shape{2, 0}));
}

TEST(LiteralTest, ListsSideBySideHaveOneLength) {
  EXPECT_FALSE(EncodeLiteral(ValueList{ValueList{1}, ValueList{2, 3}}, DType::kF32).ok());
  EXPECT_FALSE(EncodeLiteral(ValueList{1, ValueList{2}}, DType::kF32).ok());
  EXPECT_FALSE(EncodeLiteral(ValueList{ValueList{1}, 2}, DType::kF32).ok());
}

TEST(LiteralTest, ComparesNumbersNotBits) {
  const std::string zero("\0\0", 2), minus_zero("\0\x80", 2), nan("\x01\x7e", 2),
      other("\x02\x7e", 2);
  EXPECT_EQ(FirstDifference(DType::kF16, zero + nan, minus_zero + other), -1);
  EXPECT_EQ(FirstDifference(DType::kF16, zero + nan, zero + zero), 1);
  EXPECT_EQ(FirstDifference(DType::kI16, zero, minus_zero), 0);
  EXPECT_EQ(FirstDifference(DType::kF8E4M3, "\x7f", "\xff"), -1);                   // both NaN
  EXPECT_EQ(FirstDifference(DType::kF8E5M2, "\x7c", "\xfc"), 0);                    // inf and -inf
  EXPECT_EQ(FirstDifference(DType::kF8E4M3FNUZ, "\x80", std::string(1, '\0')), 0);  // NaN and 0
}

TEST(LiteralTest, PrintsWhatItEncodes) {
  EXPECT_EQ(PrintElement(DType::kBF16, *EncodeElement(-3.5, DType::kBF16)), "-3.5");
  EXPECT_EQ(PrintElement(DType::kF8E4M3, "\x7f"), "nan");
  EXPECT_EQ(PrintElement(DType::kF16, std::string("\0\x7c", 2)), "inf");
  EXPECT_EQ(PrintElement(DType::kI8, "\xff"), "-1");
  EXPECT_EQ(PrintElement(DType::kU8, "\xff"), "255");
  EXPECT_EQ(PrintElement(DType::kC64, *EncodeElement(2, DType::kC64)), "2+0i");
}

}  // namespace
}  // namespace rekey
