// Element types, rekey's own list: every dtype of safetensors, torch, TensorFlow and NumPy that a
// checkpoint may hold, whether or not the LibTorch at hand knows it.
//
// One table (dtype.cc) gives each its width in bits, kind, and names in the rule language,
// safetensors and torch. It is not a C++ type mapping: rename and move work on bits alone.
//
//   Name(DType::kBF16)            // "bf16"
//   BitsOf(DType::kF4)            // 4: two elements in a byte
//   DTypeByName("f8_e4m3")        // DType::kF8E4M3
#ifndef REKEY_ENGINE_DTYPE_H_
#define REKEY_ENGINE_DTYPE_H_

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace rekey {

enum class DType : uint8_t {
  kF64,
  kF32,
  kF16,
  kBF16,
  kF8E4M3,      // "fn": no infinity
  kF8E4M3FNUZ,  // bias 8, no negative zero
  kF8E5M2,
  kF8E5M2FNUZ,
  kF8E8M0,  // an exponent: 2^(b - 127), 255 is NaN
  kF6E2M3,
  kF6E3M2,
  kF4,  // e2m1, low nibble first; its shape counts elements, not bytes
  kI64,
  kI32,
  kI16,
  kI8,
  kU64,
  kU32,
  kU16,
  kU8,
  kBool,
  kC32,  // complex of two f16
  kC64,
  kC128,
  kQI8,  // torch's quantised types: integers whose scale and zero point the pickle holds
  kQU8,
  kQI32,
};

enum class DTypeKind : uint8_t { kFloat, kSigned, kUnsigned, kBool, kComplex, kQuantized };

// Bits an element takes: 4, 6, 8, 16, 32, 64 or 128.
int BitsOf(DType dtype);
DTypeKind KindOf(DType dtype);

// The word of the rule language and of all output: "f32", "bf16", "f8_e4m3", "i64", "bool".
std::string_view Name(DType dtype);
std::optional<DType> DTypeByName(std::string_view name);
std::vector<std::string_view> DTypeNames();  // for suggestions, in the order above

// safetensors: "F32", "F8_E4M3". Empty when the format has no such type (c32, c128, quantised).
std::string_view SafetensorsName(DType dtype);
std::optional<DType> DTypeBySafetensorsName(std::string_view name);

// torch: "float32", "float8_e4m3fn" (as in torch.float32). Empty when torch has no such type (f6).
// torch's float4_e2m1fn_x2 is f4, but torch's shape counts bytes, that is pairs: its last size is
// half of ours.
std::string_view TorchName(DType dtype);
std::optional<DType> DTypeByTorchName(std::string_view name);

// torch's typed storage class, "FloatStorage". Empty for types that came after typed storages
// (fp8, unsigned above u8): a writer uses UntypedStorage and _rebuild_tensor_v3 for them.
std::string_view TorchStorageName(DType dtype);
std::optional<DType> DTypeByTorchStorageName(std::string_view name);

}  // namespace rekey

#endif  // REKEY_ENGINE_DTYPE_H_
