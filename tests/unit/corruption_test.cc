// Every byte of small files flipped, and the files cut at every byte: an error or a sound catalog,
// never a crash, never a large allocation. The files are listed in tests/data/corruption/files.txt.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>
#include <random>
#include <sstream>

#include "engine/formats/format.h"
#include "engine/json.h"
#include "tests/support/files.h"

namespace {

// The largest allocation since it was set to 0.
size_t largest_allocation = 0;

void* Allocate(size_t bytes) {
  largest_allocation = std::max(largest_allocation, bytes);
  void* memory = std::malloc(std::max<size_t>(bytes, 1));
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace

void* operator new(size_t bytes) { return Allocate(bytes); }
void* operator new[](size_t bytes) { return Allocate(bytes); }
void* operator new(size_t bytes, const std::nothrow_t&) noexcept { return Allocate(bytes); }
void* operator new[](size_t bytes, const std::nothrow_t&) noexcept { return Allocate(bytes); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, size_t) noexcept { std::free(memory); }

namespace rekey {
namespace {

std::string Print(const Catalog& catalog) {
  std::ostringstream text;
  for (const Entry& entry : catalog.entries) {
    text << entry.key << ' ' << Name(entry.dtype) << ToString(entry.shape)
         << ToString(entry.strides) << entry.storage << '+' << entry.start << entry.conj
         << entry.neg << entry.no_bytes << '\n';
  }
  for (const Storage& storage : catalog.storages) {
    text << storage.offset << ' ' << storage.stored_bytes << ' ' << storage.bytes << '\n';
  }
  return text.str();
}

// The first and the last byte of an entry, in bits from the start of the storage, so that every
// element between lies inside too.
void ExpectInside(const Entry& entry, const Storage& storage) {
  const std::optional<int64_t> elements = NumElements(entry.shape);
  ASSERT_TRUE(elements.has_value());
  if (*elements == 0) return;
  int64_t last = 0;
  for (size_t i = 0; i < entry.shape.size(); ++i) {
    ASSERT_GE(entry.strides[i], 0);
    int64_t reach = 0;
    ASSERT_FALSE(__builtin_mul_overflow(entry.shape[i] - 1, entry.strides[i], &reach));
    ASSERT_FALSE(__builtin_add_overflow(last, reach, &last));
  }
  const uint64_t bits =
      (static_cast<uint64_t>(last) + 1) * static_cast<uint64_t>(BitsOf(entry.dtype));
  ASSERT_LE(entry.start, storage.bytes);
  ASSERT_LE((bits + 7) / 8, storage.bytes - entry.start);
}

// What readers promise of a catalog, whatever the file says.
void ExpectSound(const Catalog& catalog) {
  ASSERT_EQ(catalog.files.size(), 1u);
  for (const Storage& storage : catalog.storages) {
    ASSERT_EQ(storage.file, 0u);
    ASSERT_LE(storage.offset, catalog.files[0].size);
    ASSERT_LE(storage.stored_bytes, catalog.files[0].size - storage.offset);
    if (storage.packing == Storage::Packing::kPlain) {
      ASSERT_EQ(storage.bytes, storage.stored_bytes);
    }
  }
  for (const Entry& entry : catalog.entries) {
    ASSERT_TRUE(IsUtf8(entry.key));
    ASSERT_EQ(entry.shape.size(), entry.strides.size());
    if (entry.no_bytes) continue;
    ASSERT_LT(entry.storage, catalog.storages.size());
    ExpectInside(entry, catalog.storages[entry.storage]);
  }
  ASSERT_EQ(FindDuplicateKey(catalog.entries), std::nullopt);
}

class Corruption : public ::testing::TestWithParam<std::string> {
 protected:
  Corruption() : bytes_(ReadAll(DataPath(GetParam()))) {
    path_ = folder_.Write("file", bytes_);
    fd_ = open(path_.c_str(), O_RDWR | O_CLOEXEC);
  }
  ~Corruption() override { close(fd_); }

  void Put(size_t at, char byte) { ASSERT_EQ(pwrite(fd_, &byte, 1, static_cast<off_t>(at)), 1); }

  // Reads the file as it is now; true if it was taken.
  bool Read() {
    largest_allocation = 0;
    const Result<Catalog> catalog = ReadFile(path_, {});
    EXPECT_LE(largest_allocation, (size_t{1} << 20) + 64 * bytes_.size());
    if (!catalog.ok()) {
      EXPECT_FALSE(catalog.error().message.empty());
      return false;
    }
    ExpectSound(*catalog);
    return true;
  }

  // Makes the header's length fit the edited header, or no edit would get past that check.
  void FitLength(std::string& edited) const {
    uint64_t length = 0;
    std::memcpy(&length, bytes_.data(), sizeof length);
    const uint64_t data = bytes_.size() - sizeof length - length;
    if (edited.size() < sizeof length + data) return;
    length = edited.size() - sizeof length - data;
    std::memcpy(edited.data(), &length, sizeof length);
  }

  TempFolder folder_;
  std::string bytes_;
  std::string path_;
  int fd_ = -1;
};

TEST_P(Corruption, FlippedBytes) {
  const Result<Catalog> whole = ReadFile(path_, {});
  ASSERT_TRUE(whole.ok()) << whole.error().message;
  const std::string expected = Print(*whole);
  size_t refused = 0;
  for (size_t at = 0; at < bytes_.size(); ++at) {
    for (const int mask : {0xff, 0x01, 0x04, 0x80}) {
      SCOPED_TRACE("byte " + std::to_string(at) + " xor " + std::to_string(mask));
      ASSERT_NO_FATAL_FAILURE(Put(at, static_cast<char>(bytes_[at] ^ mask)));
      refused += !Read();
      if (HasFailure()) return;
    }
    ASSERT_NO_FATAL_FAILURE(Put(at, bytes_[at]));
  }
  EXPECT_GT(refused, 0u);
  const Result<Catalog> again = ReadFile(path_, {});
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(Print(*again), expected);
}

TEST_P(Corruption, CutFiles) {
  for (size_t size = bytes_.size(); size-- > 0;) {
    SCOPED_TRACE("cut to " + std::to_string(size));
    ASSERT_EQ(ftruncate(fd_, static_cast<off_t>(size)), 0);
    Read();
    if (HasFailure()) return;
  }
}

// Ranges removed, doubled, overwritten, and numbers that are at the edge of something put in.
TEST_P(Corruption, RandomEdits) {
  const std::vector<std::string> tokens = {"0",
                                           "1",
                                           "-1",
                                           "4294967296",
                                           "9223372036854775807",
                                           "18446744073709551615",
                                           "1e9",
                                           "{",
                                           "}",
                                           "[",
                                           "]",
                                           ",",
                                           ":",
                                           "\"",
                                           "\\u0000",
                                           "null",
                                           "\"a\":",
                                           "\"__metadata__\":{",
                                           "[[[[[[[["};
  std::mt19937 random(7);
  const auto below = [&](size_t n) { return static_cast<size_t>(random() % n); };
  for (int step = 0; step < 4000; ++step) {
    SCOPED_TRACE("step " + std::to_string(step));
    std::string edited = bytes_;
    for (size_t edits = 1 + below(3); edits > 0 && !edited.empty(); --edits) {
      const size_t at = below(edited.size());
      const size_t length = std::min(edited.size() - at, 1 + below(8));
      switch (below(4)) {
        case 0:
          edited.erase(at, length);
          break;
        case 1:
          edited.insert(at, edited.substr(below(edited.size()), length));
          break;
        case 2:
          edited.replace(at, length, length, static_cast<char>(random()));
          break;
        default:
          edited.replace(at, length, tokens[below(tokens.size())]);
      }
    }
    if (GetParam().ends_with(".safetensors") && step % 4 != 0) FitLength(edited);
    ASSERT_EQ(ftruncate(fd_, static_cast<off_t>(edited.size())), 0);
    ASSERT_EQ(pwrite(fd_, edited.data(), edited.size(), 0), static_cast<ssize_t>(edited.size()));
    Read();
    if (HasFailure()) return;
  }
}

std::vector<std::string> Files() {
  std::vector<std::string> files;
  std::istringstream lines(ReadAll(DataPath("corruption/files.txt")));
  for (std::string line; std::getline(lines, line);) {
    if (!line.empty()) files.push_back(line);
  }
  return files;
}

INSTANTIATE_TEST_SUITE_P(OfEach, Corruption, ::testing::ValuesIn(Files()), [](const auto& info) {
  std::string name = info.param;
  std::replace_if(
      name.begin(), name.end(), [](char c) { return !std::isalnum(c); }, '_');
  return name;
});

// A safetensors file has no bytes to spare: no cut of one may be taken.
TEST(Safetensors, NoCutIsTaken) {
  TempFolder folder;
  for (const std::string& file : Files()) {
    if (!file.ends_with(".safetensors")) continue;
    const std::string bytes = ReadAll(DataPath(file));
    for (size_t size = 0; size < bytes.size(); ++size) {
      EXPECT_FALSE(ReadFile(folder.Write("file", bytes.substr(0, size)), {}).ok()) << file << size;
    }
  }
}

// Flips in the tensors' own bytes change nothing in a catalog.
TEST(Safetensors, DataMayHoldAnything) {
  TempFolder folder;
  const std::string bytes = ReadAll(DataPath("safetensors/good/dtypes.safetensors"));
  const std::string path = folder.Write("file", bytes);
  const Result<Catalog> whole = ReadFile(path, {});
  ASSERT_TRUE(whole.ok());
  for (const Storage& storage : whole->storages) {
    std::string changed = bytes;
    for (uint64_t i = 0; i < storage.bytes; ++i) changed[storage.offset + i] ^= '\xff';
    const Result<Catalog> again = ReadFile(folder.Write("file", changed), {});
    ASSERT_TRUE(again.ok());
    EXPECT_EQ(Print(*again), Print(*whole));
  }
}

}  // namespace
}  // namespace rekey
