#include "engine/dtype.h"

#include <array>

namespace rekey {
namespace {

struct Row {
  DType dtype;
  int bits;
  DTypeKind kind;
  std::string_view name;
  std::string_view safetensors;
  std::string_view torch;
  std::string_view torch_storage;
};

using enum DTypeKind;

constexpr std::array kRows = {
    Row{DType::kF64, 64, kFloat, "f64", "F64", "float64", "DoubleStorage"},
    Row{DType::kF32, 32, kFloat, "f32", "F32", "float32", "FloatStorage"},
    Row{DType::kF16, 16, kFloat, "f16", "F16", "float16", "HalfStorage"},
    Row{DType::kBF16, 16, kFloat, "bf16", "BF16", "bfloat16", "BFloat16Storage"},
    Row{DType::kF8E4M3, 8, kFloat, "f8_e4m3", "F8_E4M3", "float8_e4m3fn", ""},
    Row{DType::kF8E4M3FNUZ, 8, kFloat, "f8_e4m3fnuz", "F8_E4M3FNUZ", "float8_e4m3fnuz", ""},
    Row{DType::kF8E5M2, 8, kFloat, "f8_e5m2", "F8_E5M2", "float8_e5m2", ""},
    Row{DType::kF8E5M2FNUZ, 8, kFloat, "f8_e5m2fnuz", "F8_E5M2FNUZ", "float8_e5m2fnuz", ""},
    Row{DType::kF8E8M0, 8, kFloat, "f8_e8m0", "F8_E8M0", "float8_e8m0fnu", ""},
    Row{DType::kF6E2M3, 6, kFloat, "f6_e2m3", "F6_E2M3", "", ""},
    Row{DType::kF6E3M2, 6, kFloat, "f6_e3m2", "F6_E3M2", "", ""},
    Row{DType::kF4, 4, kFloat, "f4", "F4", "float4_e2m1fn_x2", ""},
    Row{DType::kI64, 64, kSigned, "i64", "I64", "int64", "LongStorage"},
    Row{DType::kI32, 32, kSigned, "i32", "I32", "int32", "IntStorage"},
    Row{DType::kI16, 16, kSigned, "i16", "I16", "int16", "ShortStorage"},
    Row{DType::kI8, 8, kSigned, "i8", "I8", "int8", "CharStorage"},
    Row{DType::kU64, 64, kUnsigned, "u64", "U64", "uint64", ""},
    Row{DType::kU32, 32, kUnsigned, "u32", "U32", "uint32", ""},
    Row{DType::kU16, 16, kUnsigned, "u16", "U16", "uint16", ""},
    Row{DType::kU8, 8, kUnsigned, "u8", "U8", "uint8", "ByteStorage"},
    Row{DType::kBool, 8, kBool, "bool", "BOOL", "bool", "BoolStorage"},
    Row{DType::kC32, 32, kComplex, "c32", "", "complex32", ""},
    Row{DType::kC64, 64, kComplex, "c64", "C64", "complex64", "ComplexFloatStorage"},
    Row{DType::kC128, 128, kComplex, "c128", "", "complex128", "ComplexDoubleStorage"},
    Row{DType::kQI8, 8, kQuantized, "qi8", "", "qint8", "QInt8Storage"},
    Row{DType::kQU8, 8, kQuantized, "qu8", "", "quint8", "QUInt8Storage"},
    Row{DType::kQI32, 32, kQuantized, "qi32", "", "qint32", "QInt32Storage"},
};

constexpr bool RowsAreInOrder() {
  for (size_t i = 0; i < kRows.size(); ++i) {
    if (static_cast<size_t>(kRows[i].dtype) != i) return false;
  }
  return true;
}
static_assert(RowsAreInOrder());
static_assert(kRows.size() == static_cast<size_t>(DType::kQI32) + 1);

const Row& RowOf(DType dtype) { return kRows[static_cast<size_t>(dtype)]; }

std::optional<DType> FindBy(std::string_view Row::*column, std::string_view name) {
  if (name.empty()) return std::nullopt;
  for (const Row& row : kRows) {
    if (row.*column == name) return row.dtype;
  }
  return std::nullopt;
}

}  // namespace

int BitsOf(DType dtype) { return RowOf(dtype).bits; }

DTypeKind KindOf(DType dtype) { return RowOf(dtype).kind; }

std::string_view Name(DType dtype) { return RowOf(dtype).name; }

std::optional<DType> DTypeByName(std::string_view name) { return FindBy(&Row::name, name); }

std::vector<std::string_view> DTypeNames() {
  std::vector<std::string_view> names;
  names.reserve(kRows.size());
  for (const Row& row : kRows) names.push_back(row.name);
  return names;
}

std::string_view SafetensorsName(DType dtype) { return RowOf(dtype).safetensors; }

std::optional<DType> DTypeBySafetensorsName(std::string_view name) {
  return FindBy(&Row::safetensors, name);
}

std::string_view TorchName(DType dtype) { return RowOf(dtype).torch; }

std::optional<DType> DTypeByTorchName(std::string_view name) { return FindBy(&Row::torch, name); }

std::string_view TorchStorageName(DType dtype) { return RowOf(dtype).torch_storage; }

std::optional<DType> DTypeByTorchStorageName(std::string_view name) {
  return FindBy(&Row::torch_storage, name);
}

}  // namespace rekey
