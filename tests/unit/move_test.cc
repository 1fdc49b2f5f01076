// Workers and kernels: compressed storages, signs and byte order, large tiles, open files.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <cstring>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "engine/kernels/rearrange.h"
#include "engine/lower.h"
#include "engine/ops/ops.h"
#include "engine/work.h"

namespace rekey {
namespace {

using ::testing::HasSubstr;

// A file of the test, removed with it.
class TempFile {
 public:
  explicit TempFile(const std::string& text = "") {
    path_ = ::testing::TempDir() + "move-XXXXXX";
    fd_ = mkstemp(path_.data());
    EXPECT_TRUE(WriteAt(fd_, 0, text.data(), text.size()).ok());
  }
  ~TempFile() {
    close(fd_);
    unlink(path_.c_str());
  }
  int fd() const { return fd_; }
  const std::string& path() const { return path_; }
  std::string Text() const {
    struct stat status;
    fstat(fd_, &status);
    std::string text(static_cast<size_t>(status.st_size), '\0');
    EXPECT_EQ(pread(fd_, text.data(), text.size(), 0), static_cast<ssize_t>(text.size()));
    return text;
  }

 private:
  std::string path_;
  int fd_ = -1;
};

Catalog CatalogOf(const TempFile& file, DType dtype, Shape shape, uint64_t plain_bytes) {
  Catalog catalog;
  catalog.files.push_back(InputFile::Open(file.path())->info());
  Storage storage;
  storage.bytes = plain_bytes;
  storage.stored_bytes = catalog.files[0].size;
  catalog.storages.push_back(storage);
  Entry entry;
  entry.key = "w";
  entry.dtype = dtype;
  entry.shape = shape;
  entry.strides = ContiguousStrides(shape);
  catalog.entries.push_back(entry);
  return catalog;
}

std::string Moved(const Catalog& catalog, const TensorGraph& graph, TensorId id) {
  const Result<Lowered> lowered = Lower(graph, id);
  EXPECT_TRUE(lowered.ok()) << Render(lowered.error(), false);
  TempFile out;
  Worker worker(catalog);
  worker.scratch_folder = ::testing::TempDir();
  for (const Tile& tile : TilesOf(*lowered)) {
    Status moved = MoveTile(*lowered, tile, {out.fd(), 0}, &worker);
    EXPECT_TRUE(moved.ok()) << Render(moved.error(), false);
  }
  return out.Text();
}

std::string RandomText(size_t bytes) {
  std::mt19937 random(7);
  std::string text(bytes, '\0');
  for (char& c : text) c = static_cast<char>(random());
  return text;
}

std::string Deflated(const std::string& text) {
  std::string packed(text.size() + text.size() / 1000 + 64, '\0');
  z_stream stream = {};
  EXPECT_EQ(deflateInit2(&stream, 6, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY), Z_OK);
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

TEST(Move, TransposesOfEveryWidthAndSizeAcrossBlocks) {
  for (const DType dtype : {DType::kU8, DType::kBF16, DType::kF32, DType::kF64, DType::kC128}) {
    for (const auto& [rows, columns] :
         std::vector<std::pair<int64_t, int64_t>>{{1, 1}, {3, 70}, {16, 16}, {33, 65}, {530, 67}}) {
      const auto width = static_cast<size_t>(BitsOf(dtype) / 8);
      const std::string text = RandomText(static_cast<size_t>(rows * columns) * width);
      const TempFile file(text);
      const Catalog catalog = CatalogOf(file, dtype, {rows, columns}, text.size());
      TensorGraph graph(catalog);
      std::string wanted;
      for (int64_t c = 0; c < columns; ++c) {
        for (int64_t r = 0; r < rows; ++r) {
          wanted += text.substr(static_cast<size_t>(r * columns + c) * width, width);
        }
      }
      const TensorId id = (*graph.Apply(*FindOp("transpose"), {}, {0}, {}))[0];
      EXPECT_TRUE(Moved(catalog, graph, id) == wanted) << width << " " << rows << " " << columns;
    }
  }
}

TEST(Move, ManyTiles) {
  // 36 MB, cut into tiles of both sizes: rows in reverse, and columns to rows.
  constexpr int64_t kRows = 3001, kColumns = 3001;
  std::vector<int32_t> numbers(kRows * kColumns);
  std::iota(numbers.begin(), numbers.end(), 0);
  const TempFile file(
      std::string(reinterpret_cast<const char*>(numbers.data()), numbers.size() * 4));
  const Catalog catalog = CatalogOf(file, DType::kI32, {kRows, kColumns}, numbers.size() * 4);
  TensorGraph graph(catalog);
  for (const bool transpose : {false, true}) {
    const TensorId id = (*graph.Apply(*FindOp(transpose ? "transpose" : "flip"),
                                      transpose ? OpArgs{} : OpArgs{0}, {0}, {}))[0];
    EXPECT_GT(TilesOf(*Lower(graph, id)).size(), 2u);
    const std::string moved = Moved(catalog, graph, id);
    ASSERT_EQ(moved.size(), numbers.size() * 4);
    for (int64_t k = 0; k < kRows * kColumns; ++k) {
      int32_t value = 0;
      std::memcpy(&value, moved.data() + k * 4, 4);
      const int64_t row = k / kColumns, column = k % kColumns;
      const int64_t wanted =
          transpose ? column * kColumns + row : (kRows - 1 - row) * kColumns + column;
      ASSERT_EQ(value, wanted) << k;
    }
  }
}

TEST(Move, AColumnOfAWideTensorDoesNotReadItIntoMemory) {
  // 128 MB of which one element a row is wanted: read in parts.
  constexpr int64_t kRows = 65536, kColumns = 512;
  TempFile file;
  for (int64_t row = 0; row < kRows; ++row) {
    const auto value = static_cast<int32_t>(row * 3);
    ASSERT_TRUE(WriteAt(file.fd(), static_cast<uint64_t>(row * kColumns + 5) * 4, &value, 4).ok());
  }
  ASSERT_EQ(ftruncate(file.fd(), kRows * kColumns * 4), 0);
  const Catalog catalog = CatalogOf(file, DType::kI32, {kRows, kColumns}, kRows * kColumns * 4);
  TensorGraph graph(catalog);
  const TensorId id =
      (*graph.Apply(*FindOp("slice"), {1, ValueList{5, 6}, ValueList{}}, {0}, {}))[0];
  const std::string moved = Moved(catalog, graph, id);
  for (int64_t row = 0; row < kRows; ++row) {
    int32_t value = 0;
    std::memcpy(&value, moved.data() + row * 4, 4);
    ASSERT_EQ(value, row * 3);
  }
}

TEST(Move, DeflatedStoragesAreInflatedOnce) {
  std::string text(3 << 20, 'a');
  text.replace(0, 1 << 20, RandomText(1 << 20));
  const TempFile file(Deflated(text));
  Catalog catalog = CatalogOf(file, DType::kU8, {static_cast<int64_t>(text.size())}, text.size());
  catalog.storages[0].packing = Storage::Packing::kDeflate;
  TensorGraph graph(catalog);
  EXPECT_EQ(Lower(graph, 0)->recipe, Recipe::kMove);
  EXPECT_TRUE(Moved(catalog, graph, 0) == text);
}

TEST(Move, DeflatedBytesMustMakeWhatTheDirectoryStates) {
  const std::string text = RandomText(100000), packed = Deflated(text);
  const auto read = [&](const std::string& stored, uint64_t plain_bytes) {
    const TempFile file(stored);
    Catalog catalog = CatalogOf(file, DType::kU8, {1}, plain_bytes);
    catalog.storages[0].packing = Storage::Packing::kDeflate;
    Worker worker(catalog);
    worker.scratch_folder = ::testing::TempDir();
    char first = 0;
    Status status = worker.Read(0, 0, &first, 1);
    return status.ok() ? std::string("ok") : status.error().message;
  };
  EXPECT_EQ(read(packed, text.size()), "ok");
  EXPECT_THAT(read(packed, text.size() - 1), HasSubstr("inflate to more than the 99999"));
  EXPECT_THAT(read(packed, text.size() + 1), HasSubstr("inflate to 100000 bytes"));
  EXPECT_THAT(read(packed.substr(0, packed.size() / 2), text.size()), HasSubstr("end before"));
  std::string damaged = packed;
  damaged[0] = '\x07';  // a block type that does not exist
  EXPECT_THAT(read(damaged, text.size()), HasSubstr("do not inflate"));
}

TEST(Move, SignsAndByteOrder) {
  const float numbers[] = {1.5f, -2.0f, 0.0f, 8.0f};
  const std::string text(reinterpret_cast<const char*>(numbers), sizeof numbers);
  const TempFile file(text);
  const auto moved = [&](DType dtype, Shape shape, bool conj, bool neg) {
    Catalog catalog = CatalogOf(file, dtype, std::move(shape), text.size());
    catalog.entries[0].conj = conj;
    catalog.entries[0].neg = neg;
    TensorGraph graph(catalog);
    std::vector<float> values(4);
    std::memcpy(values.data(), Moved(catalog, graph, 0).data(), 16);
    return values;
  };
  EXPECT_EQ(moved(DType::kF32, {4}, false, true), (std::vector<float>{-1.5f, 2.0f, -0.0f, -8.0f}));
  EXPECT_EQ(moved(DType::kC64, {2}, true, false), (std::vector<float>{1.5f, 2.0f, 0.0f, -8.0f}));
  EXPECT_EQ(moved(DType::kC64, {2}, true, true), (std::vector<float>{-1.5f, -2.0f, -0.0f, 8.0f}));

  const TempFile big(std::string("\x3f\xc0\x00\x00\xc0\x00\x00\x00", 8));  // 1.5 and -2
  Catalog catalog = CatalogOf(big, DType::kF32, {2}, 8);
  catalog.storages[0].big_endian = true;
  TensorGraph graph(catalog);
  EXPECT_EQ(Moved(catalog, graph, 0), text.substr(0, 8));
}

TEST(Work, AFileThatChangedIsRefused) {
  const TempFile file("12345678");
  const Catalog catalog = CatalogOf(file, DType::kU8, {8}, 8);
  ASSERT_TRUE(WriteAt(file.fd(), 8, "9", 1).ok());
  Worker worker(catalog);
  char buffer[8];
  const Status read = worker.Read(0, 0, buffer, 8);
  ASSERT_FALSE(read.ok());
  EXPECT_EQ(read.error().name, "file-changed");
}

TEST(Work, MoreFilesThanStayOpen) {
  std::vector<std::unique_ptr<TempFile>> files;
  Catalog catalog;
  for (int i = 0; i < 80; ++i) {
    files.push_back(std::make_unique<TempFile>(std::string(1, static_cast<char>(i))));
    catalog.files.push_back(InputFile::Open(files.back()->path())->info());
    Storage storage;
    storage.file = static_cast<uint32_t>(i);
    storage.bytes = storage.stored_bytes = 1;
    catalog.storages.push_back(storage);
  }
  Worker worker(catalog);
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < 80; ++i) {
      char byte = 0;
      ASSERT_TRUE(worker.Read(static_cast<uint32_t>(i), 0, &byte, 1).ok());
      ASSERT_EQ(byte, i);
    }
  }
  char two[2];
  EXPECT_FALSE(worker.Read(0, 0, two, 2).ok());
}

}  // namespace
}  // namespace rekey
