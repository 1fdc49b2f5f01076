// libFuzzer: no pickle makes the torch reader crash, hang, or give a tensor that leaves its
// storage. The input is what a file's `data.pkl` holds; every storage is taken to have 64 bytes.
// Build with clang, preset `fuzz`; a longer run, from the pickles of the test files:
//
//   mkdir /tmp/corpus
//   for f in tests/data/*/good/*.pt; do unzip -p $f '*/data.pkl' > /tmp/corpus/$(basename $f); done
//   pickle_fuzz -max_len=4096 /tmp/corpus
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "engine/formats/pickle_machine.h"
#include "engine/formats/torch_catalog.h"

namespace {

constexpr uint64_t kStorageBytes = 64;

void Check(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "%s\n", what);
  std::abort();
}

void CheckInside(const rekey::Entry& entry) {
  const auto elements = rekey::NumElements(entry.shape);
  Check(elements.has_value(), "a shape that multiplies past 2^63");
  if (entry.no_bytes || *elements == 0) return;
  uint64_t last = 0;
  for (size_t i = 0; i < entry.shape.size(); ++i) {
    last += static_cast<uint64_t>(entry.shape[i] - 1) * static_cast<uint64_t>(entry.strides[i]);
  }
  const uint64_t bits = (last + 1) * static_cast<uint64_t>(rekey::BitsOf(entry.dtype));
  Check(entry.start + (bits + 7) / 8 <= kStorageBytes, "a tensor outside of its storage");
}

void Read(std::string_view bytes, const rekey::ReadOptions& options) {
  rekey::Catalog catalog;
  catalog.files.push_back({.path = "fuzz"});
  rekey::PickleInput input(bytes);
  const auto pickle = rekey::LoadPickle(input, "fuzz", *catalog.objects);
  if (!pickle.ok()) return;
  Check(catalog.objects->size() <= 2 * bytes.size(), "more objects than two for each byte");
  rekey::TorchFile torch = {.root = pickle->root,
                            .tensors = rekey::FindTorchTensors(*catalog.objects),
                            .locate = [](const std::string&) -> rekey::Result<rekey::Storage> {
                              return rekey::Storage{.stored_bytes = kStorageBytes,
                                                    .bytes = kStorageBytes};
                            }};
  const auto read = rekey::MakeTorchCatalog(std::move(catalog), std::move(torch), options);
  if (!read.ok()) {
    Check(!rekey::Render(read.error(), true).empty(), "an empty message");
    return;
  }
  for (const rekey::Entry& entry : read->entries) CheckInside(entry);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  Read(bytes, {});
  Read(bytes, {.select = "a"});
  Read(bytes, {.select_all = true});
  return 0;
}
