// Reads the header of a safetensors file.
//
// The format (github.com/huggingface/safetensors, README): 8 bytes N, little endian; N bytes of
// JSON, padded with spaces; then the tensors' bytes, one after another without a gap:
//
//   {"__metadata__": {"format": "pt"}, "fc.weight": {"dtype": "F32", "shape": [10, 64],
//    "data_offsets": [0, 2560]}}
//
// The header is a claim: it is proven against the file before a Catalog is made of it. Every tensor
// has the bytes that its shape asks for, no two overlap, no byte between them or after them belongs
// to none, no key stands twice.
//
// Shared tensors: safetensors stores one of them and notes the others in the metadata as
// `dropped -> kept`. Where `kept` is a tensor and `dropped` is not, the catalog lists both on one
// storage, so that a tie survives any number of conversions.
#ifndef REKEY_ENGINE_FORMATS_SAFETENSORS_READER_H_
#define REKEY_ENGINE_FORMATS_SAFETENSORS_READER_H_

#include <cstdint>

#include "engine/formats/format.h"

namespace rekey {

// The format's own limit of N.
constexpr uint64_t kMaxSafetensorsHeader = 100'000'000;

extern const Format kSafetensors;

}  // namespace rekey

#endif  // REKEY_ENGINE_FORMATS_SAFETENSORS_READER_H_
