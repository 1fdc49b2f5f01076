// The elements of a catalog's entry as contiguous bytes, straight from the definition: one element
// after another, by strides. Slow on purpose and apart from the product's own code, which is tested
// against it.
//
//   std::string bytes = Gather(catalog, entry);
#ifndef REKEY_TESTS_SUPPORT_GATHER_H_
#define REKEY_TESTS_SUPPORT_GATHER_H_

#include <gtest/gtest.h>
#include <zlib.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <string>
#include <vector>

#include "engine/catalog.h"

namespace rekey {

// The plain bytes of a storage.
inline std::string StorageBytes(const Catalog& catalog, const Storage& storage) {
  std::ifstream file(catalog.files[storage.file].path, std::ios::binary);
  file.seekg(static_cast<std::streamoff>(storage.offset));
  std::string stored(storage.stored_bytes, '\0');
  file.read(stored.data(), static_cast<std::streamsize>(stored.size()));
  EXPECT_TRUE(file.good());
  if (storage.packing == Storage::Packing::kPlain) return stored;
  std::string plain(storage.bytes, '\0');
  z_stream stream = {};
  stream.next_in = reinterpret_cast<Bytef*>(stored.data());
  stream.avail_in = static_cast<uInt>(stored.size());
  stream.next_out = reinterpret_cast<Bytef*>(plain.data());
  stream.avail_out = static_cast<uInt>(plain.size());
  EXPECT_EQ(inflateInit2(&stream, -MAX_WBITS), Z_OK);
  EXPECT_EQ(inflate(&stream, Z_FINISH), Z_STREAM_END);
  inflateEnd(&stream);
  return plain;
}

// Flips the sign of the little-endian float in `bytes`.
inline void Negate(std::string& element, size_t begin, size_t bytes) {
  element[begin + bytes - 1] = static_cast<char>(element[begin + bytes - 1] ^ 0x80);
}

inline std::string Gather(const Catalog& catalog, const Entry& entry) {
  const Storage& storage = catalog.storages[entry.storage];
  const std::string bytes = StorageBytes(catalog, storage);
  const size_t width = static_cast<size_t>(BitsOf(entry.dtype)) / 8;
  const bool is_complex = KindOf(entry.dtype) == DTypeKind::kComplex;
  const size_t number = is_complex ? width / 2 : width;
  std::vector<int64_t> index(entry.shape.size(), 0);
  std::string out;
  const int64_t count = NumElements(entry.shape).value_or(-1);
  EXPECT_GE(count, 0);
  for (int64_t n = 0; n < count; ++n) {
    uint64_t at = entry.start;
    for (size_t i = 0; i < index.size(); ++i) {
      at += static_cast<uint64_t>(index[i] * entry.strides[i]) * width;
    }
    EXPECT_LE(at + width, bytes.size());
    std::string element = bytes.substr(at, width);
    if (storage.big_endian) {
      for (size_t i = 0; i < width; i += number) {
        std::reverse(element.begin() + static_cast<ptrdiff_t>(i),
                     element.begin() + static_cast<ptrdiff_t>(i + number));
      }
    }
    if (entry.neg) {
      for (size_t i = 0; i < width; i += number) Negate(element, i, number);
    }
    if (entry.conj) Negate(element, number, number);
    out += element;
    for (size_t i = index.size(); i-- > 0;) {
      if (++index[i] < entry.shape[i]) break;
      index[i] = 0;
    }
  }
  return out;
}

}  // namespace rekey

#endif  // REKEY_TESTS_SUPPORT_GATHER_H_
