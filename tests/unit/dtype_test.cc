#include "engine/dtype.h"

#include <gtest/gtest.h>

#include <set>

namespace rekey {
namespace {

TEST(DType, EveryNameLeadsBack) {
  for (std::string_view name : DTypeNames()) {
    const std::optional<DType> dtype = DTypeByName(name);
    ASSERT_TRUE(dtype.has_value()) << name;
    EXPECT_EQ(Name(*dtype), name);
    if (!SafetensorsName(*dtype).empty()) {
      EXPECT_EQ(DTypeBySafetensorsName(SafetensorsName(*dtype)), dtype) << name;
    }
    if (!TorchName(*dtype).empty()) {
      EXPECT_EQ(DTypeByTorchName(TorchName(*dtype)), dtype) << name;
    }
    if (!TorchStorageName(*dtype).empty()) {
      EXPECT_EQ(DTypeByTorchStorageName(TorchStorageName(*dtype)), dtype) << name;
    }
  }
}

TEST(DType, NoNameIsNoType) {
  EXPECT_EQ(DTypeByName(""), std::nullopt);
  EXPECT_EQ(DTypeBySafetensorsName(""), std::nullopt);
  EXPECT_EQ(DTypeByTorchName(""), std::nullopt);
  EXPECT_EQ(DTypeByTorchStorageName(""), std::nullopt);
  EXPECT_EQ(DTypeByName("F32"), std::nullopt);
  EXPECT_EQ(DTypeBySafetensorsName("f32"), std::nullopt);
}

// The list of the format (safetensors 0.8, Dtype in its source), with widths.
TEST(DType, SafetensorsHasTheseTypes) {
  const std::vector<std::pair<std::string_view, int>> format = {
      {"BOOL", 8},        {"F4", 4},      {"F6_E2M3", 6}, {"F6_E3M2", 6}, {"U8", 8},
      {"I8", 8},          {"F8_E5M2", 8}, {"F8_E4M3", 8}, {"F8_E8M0", 8}, {"F8_E4M3FNUZ", 8},
      {"F8_E5M2FNUZ", 8}, {"I16", 16},    {"U16", 16},    {"F16", 16},    {"BF16", 16},
      {"I32", 32},        {"U32", 32},    {"F32", 32},    {"C64", 64},    {"F64", 64},
      {"I64", 64},        {"U64", 64},
  };
  std::set<DType> known;
  for (const auto& [name, bits] : format) {
    const std::optional<DType> dtype = DTypeBySafetensorsName(name);
    ASSERT_TRUE(dtype.has_value()) << name;
    EXPECT_EQ(BitsOf(*dtype), bits) << name;
    known.insert(*dtype);
  }
  size_t named = 0;
  for (std::string_view name : DTypeNames()) named += !SafetensorsName(*DTypeByName(name)).empty();
  EXPECT_EQ(known.size(), 22u);
  EXPECT_EQ(named, 22u);
}

TEST(DType, TorchStorages) {
  EXPECT_EQ(DTypeByTorchStorageName("DoubleStorage"), DType::kF64);
  EXPECT_EQ(DTypeByTorchStorageName("FloatStorage"), DType::kF32);
  EXPECT_EQ(DTypeByTorchStorageName("HalfStorage"), DType::kF16);
  EXPECT_EQ(DTypeByTorchStorageName("BFloat16Storage"), DType::kBF16);
  EXPECT_EQ(DTypeByTorchStorageName("LongStorage"), DType::kI64);
  EXPECT_EQ(DTypeByTorchStorageName("IntStorage"), DType::kI32);
  EXPECT_EQ(DTypeByTorchStorageName("ShortStorage"), DType::kI16);
  EXPECT_EQ(DTypeByTorchStorageName("CharStorage"), DType::kI8);
  EXPECT_EQ(DTypeByTorchStorageName("ByteStorage"), DType::kU8);
  EXPECT_EQ(DTypeByTorchStorageName("BoolStorage"), DType::kBool);
  EXPECT_EQ(DTypeByTorchStorageName("ComplexFloatStorage"), DType::kC64);
  EXPECT_EQ(DTypeByTorchStorageName("ComplexDoubleStorage"), DType::kC128);
  EXPECT_EQ(DTypeByTorchStorageName("QInt8Storage"), DType::kQI8);
  EXPECT_EQ(DTypeByTorchStorageName("QUInt8Storage"), DType::kQU8);
  EXPECT_EQ(DTypeByTorchStorageName("QInt32Storage"), DType::kQI32);
  EXPECT_TRUE(TorchStorageName(DType::kF8E4M3).empty());
  EXPECT_TRUE(TorchStorageName(DType::kU16).empty());
  EXPECT_TRUE(TorchStorageName(DType::kC32).empty());
}

TEST(DType, Kinds) {
  EXPECT_EQ(KindOf(DType::kF8E8M0), DTypeKind::kFloat);
  EXPECT_EQ(KindOf(DType::kI8), DTypeKind::kSigned);
  EXPECT_EQ(KindOf(DType::kU64), DTypeKind::kUnsigned);
  EXPECT_EQ(KindOf(DType::kBool), DTypeKind::kBool);
  EXPECT_EQ(KindOf(DType::kC32), DTypeKind::kComplex);
  EXPECT_EQ(KindOf(DType::kQI32), DTypeKind::kQuantized);
}

}  // namespace
}  // namespace rekey
