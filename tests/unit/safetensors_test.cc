// safetensors files: those that libraries write, those that must be refused, and our own layouts
// read back by the library itself.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "engine/checkpoint.h"
#include "engine/formats/format.h"
#include "engine/formats/safetensors_writer.h"
#include "engine/json.h"
#include "tests/support/files.h"

namespace rekey {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;

Catalog MustRead(const std::string& path) {
  Result<Catalog> catalog = ReadFile(path, {});
  if (!catalog.ok()) {
    ADD_FAILURE() << catalog.error().message;
    return {};
  }
  return std::move(*catalog);
}

// A JSON file of expected values.
struct Json {
  explicit Json(std::string_view text) {
    const Result<ObjectId> parsed = ParseJson(text, "expected", graph);
    EXPECT_TRUE(parsed.ok()) << (parsed.ok() ? "" : parsed.error().message);
    if (parsed.ok()) root = *parsed;
  }
  const std::vector<ObjectId>& Items(ObjectId id) const { return graph[id].items; }
  const std::string& Text(ObjectId id, std::string_view key) const {
    return graph[graph.Child(id, key)].text;
  }
  int64_t Number(ObjectId id, std::string_view key) const {
    return graph[graph.Child(id, key)].integer;
  }
  Shape ShapeOf(ObjectId id) const {
    Shape shape;
    for (ObjectId item : Items(graph.Child(id, "shape"))) shape.push_back(graph[item].integer);
    return shape;
  }
  ObjectGraph graph;
  ObjectId root = kNoObject;
};

std::string Hex(std::string_view bytes) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string hex;
  for (unsigned char byte : bytes) {
    hex.push_back(kDigits[byte >> 4]);
    hex.push_back(kDigits[byte & 15]);
  }
  return hex;
}

std::vector<std::string> Keys(const Catalog& catalog) {
  std::vector<std::string> keys;
  for (const Entry& entry : catalog.entries) keys.emplace_back(entry.key);
  return keys;
}

TEST(SafetensorsReader, FindsWhatIsInGoodFiles) {
  const std::string folder = DataPath("safetensors/good/");
  const Json expected(ReadAll(folder + "expected.json"));
  const std::vector<ObjectId>& files = expected.Items(expected.root);
  ASSERT_GT(files.size(), 20u);
  for (size_t f = 0; f < files.size(); f += 2) {
    const std::string& name = expected.graph[files[f]].text;
    SCOPED_TRACE(name);
    const Catalog catalog = MustRead(folder + name);
    const std::string bytes = ReadAll(folder + name);
    const std::vector<ObjectId>& tensors =
        expected.Items(expected.graph.Child(files[f + 1], "tensors"));
    ASSERT_EQ(catalog.storages.size(), tensors.size());
    ASSERT_GE(catalog.entries.size(), tensors.size());
    for (size_t i = 0; i < tensors.size(); ++i) {
      const Entry& entry = catalog.entries[i];
      const Storage& storage = catalog.storages[entry.storage];
      EXPECT_EQ(entry.key, expected.Text(tensors[i], "key"));
      EXPECT_EQ(SafetensorsName(entry.dtype), expected.Text(tensors[i], "dtype"));
      EXPECT_EQ(entry.shape, expected.ShapeOf(tensors[i]));
      EXPECT_EQ(entry.strides, ContiguousStrides(entry.shape));
      EXPECT_EQ(storage.offset + entry.start,
                static_cast<uint64_t>(expected.Number(tensors[i], "offset")));
      EXPECT_EQ(storage.bytes, DataBytes(entry));
      EXPECT_EQ(Hex(bytes.substr(storage.offset, storage.bytes)), expected.Text(tensors[i], "hex"));
      EXPECT_TRUE(IsPlainCopy(catalog, entry));
    }
    EXPECT_EQ(catalog.format, "safetensors");
    EXPECT_TRUE(catalog.warnings.empty());
  }
}

TEST(SafetensorsReader, RestoresSharedTensors) {
  const Catalog catalog = MustRead(DataPath("safetensors/good/tied.safetensors"));
  EXPECT_THAT(Keys(catalog), UnorderedElementsAre("embed.weight", "head.weight"));
  EXPECT_THAT(Aliases(catalog), ElementsAre(0, 0));
  EXPECT_THAT(catalog.metadata, ::testing::IsEmpty());
}

TEST(SafetensorsReader, LeavesOtherMetadataAlone) {
  TempFolder folder;
  const std::string header =
      R"({"__metadata__":{"format":"pt","note":"b","a":"b","gone":"nowhere"},)"
      R"("pt":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},)"
      R"("a":{"dtype":"U8","shape":[1],"data_offsets":[1,2]}})";
  const std::string path =
      folder.Write("x.safetensors", std::string{static_cast<char>(header.size())} +
                                        std::string(7, '\0') + header + "xy");
  const Catalog catalog = MustRead(path);
  EXPECT_THAT(Keys(catalog), ElementsAre("pt", "a"));
  EXPECT_EQ(catalog.metadata.size(), 4u);
  Result<std::optional<Scalar>> note = FindMeta(catalog, "note");
  ASSERT_TRUE(note.ok() && note->has_value());
  EXPECT_EQ(std::get<std::string>(**note), "b");
}

TEST(SafetensorsReader, GivesMetadataToRules) {
  const Catalog catalog = MustRead(DataPath("safetensors/good/dtypes.safetensors"));
  const Result<std::optional<Scalar>> epoch = FindMeta(catalog, "epoch");
  ASSERT_TRUE(epoch.ok() && epoch->has_value());
  EXPECT_EQ(std::get<std::string>(**epoch), "3");
  const Result<std::optional<Scalar>> absent = FindMeta(catalog, "epochs");
  ASSERT_TRUE(absent.ok());
  EXPECT_FALSE(absent->has_value());
}

TEST(SafetensorsReader, RefusesBadFilesEachInItsOwnWords) {
  const std::string folder = DataPath("safetensors/bad/");
  const Json expected(ReadAll(folder + "expected.json"));
  const std::vector<ObjectId>& files = expected.Items(expected.root);
  ASSERT_GT(files.size(), 80u);
  for (size_t f = 0; f < files.size(); f += 2) {
    const std::string& name = expected.graph[files[f]].text;
    SCOPED_TRACE(name);
    const Result<Catalog> catalog = ReadFile(folder + name, {});
    ASSERT_FALSE(catalog.ok());
    EXPECT_EQ(catalog.error().name, expected.Text(files[f + 1], "error"));
    const std::string& message = catalog.error().message;
    EXPECT_THAT(message, HasSubstr(name));
    EXPECT_TRUE(IsUtf8(message));
    EXPECT_FALSE(catalog.error().helps.empty()) << message;
    for (ObjectId mention : expected.Items(expected.graph.Child(files[f + 1], "mentions"))) {
      EXPECT_THAT(message, HasSubstr(expected.graph[mention].text));
    }
  }
}

TEST(SafetensorsReader, HasNothingToSelectFrom) {
  ReadOptions options;
  options.select = "model";
  const Result<Catalog> catalog = ReadFile(DataPath("safetensors/good/tied.safetensors"), options);
  ASSERT_FALSE(catalog.ok());
  EXPECT_EQ(catalog.error().name, "no-envelope");
}

TEST(SafetensorsReader, WarnsOfPieces) {
  TempFolder folder;
  const std::string header =
      R"({"__metadata__":{"DCP_SHARDING_INFO":"{\"a\": {\"saved_offsets\": [4, 0]}}"},)"
      R"("a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}})";
  const std::string path =
      folder.Write("x.safetensors", std::string{static_cast<char>(header.size())} +
                                        std::string(7, '\0') + header + "x");
  const Catalog catalog = MustRead(path);
  ASSERT_EQ(catalog.warnings.size(), 1u);
  EXPECT_EQ(catalog.warnings[0].name, "pieces");
}

TEST(SafetensorsReader, TakesManyKeys) {
  constexpr size_t kCount = 300'000;
  OutputDescription description;
  std::vector<std::string> keys;
  for (size_t i = 0; i < kCount; ++i) {
    keys.push_back("model.layers." + std::to_string(i) + ".mlp.experts.down_proj.weight");
  }
  for (uint32_t i = 0; i < kCount; ++i) {
    description.tensors.push_back(
        {.key = keys[i], .dtype = DType::kU8, .shape = {1}, .bytes = 1, .same_as = i});
  }
  const Result<FileLayout> layout = LayOutSafetensors(description);
  ASSERT_TRUE(layout.ok());
  TempFolder folder;
  const std::string path =
      folder.Write("many.safetensors", layout->literals[0].bytes + std::string(kCount, 'x'));
  const Catalog catalog = MustRead(path);
  EXPECT_EQ(Keys(catalog), keys);
}

// --- Writing ----------------------------------------------------------------------------------

OutputTensor Tensor(std::string_view key, DType dtype, Shape shape, uint32_t index) {
  const uint64_t bytes = static_cast<uint64_t>(NumBytes(dtype, shape).value());
  return {.key = key, .dtype = dtype, .shape = std::move(shape), .bytes = bytes, .same_as = index};
}

FileLayout MustLayOut(const OutputDescription& description) {
  Result<FileLayout> layout = LayOutSafetensors(description);
  if (!layout.ok()) {
    ADD_FAILURE() << layout.error().message;
    return {};
  }
  return std::move(*layout);
}

// The bytes of tensor i: its number and a count.
std::string Contents(uint32_t i, uint64_t bytes) {
  std::string contents;
  for (uint64_t k = 0; k < bytes; ++k) contents.push_back(static_cast<char>((17 * i + k) & 1));
  return contents;
}

std::string FileOf(const OutputDescription& description, const FileLayout& layout) {
  std::string file(layout.size, '?');
  for (const Literal& literal : layout.literals) {
    file.replace(literal.offset, literal.bytes.size(), literal.bytes);
  }
  for (uint32_t i = 0; i < description.tensors.size(); ++i) {
    const OutputTensor& tensor = description.tensors[i];
    if (tensor.same_as == i) {
      file.replace(layout.offsets[i], tensor.bytes, Contents(i, tensor.bytes));
    }
  }
  EXPECT_EQ(file.size(), layout.size);
  return file;
}

std::string HeaderOf(const FileLayout& layout) { return layout.literals[0].bytes.substr(8); }

// What the safetensors library says of the file, as JSON.
std::string ReadWithLibrary(const std::string& path) {
  const char* python = std::getenv("REKEY_PYTHON");
  if (python == nullptr) {
    ADD_FAILURE() << "REKEY_PYTHON must name a Python that has safetensors and torch";
    return "{}";
  }
  const std::string command =
      std::string(python) + " " + REKEY_SOURCE_DIR + "/tests/support/read_safetensors.py " + path;
  FILE* pipe = popen(command.c_str(), "r");
  std::string output;
  char buffer[4096];
  for (size_t got; (got = fread(buffer, 1, sizeof buffer, pipe)) > 0;) output.append(buffer, got);
  EXPECT_EQ(pclose(pipe), 0) << command;
  return output;
}

TEST(SafetensorsWriter, TheLibraryReadsEveryDtype) {
  OutputDescription description;
  std::vector<std::string> keys;
  std::vector<DType> dtypes;
  for (std::string_view name : DTypeNames()) {
    const DType dtype = *DTypeByName(name);
    if (SafetensorsName(dtype).empty()) continue;
    dtypes.push_back(dtype);
    keys.push_back("t." + std::string(name));
  }
  ASSERT_EQ(keys.size(), 22u);
  keys.insert(keys.end(), {"scalar", "none", "\u00e9 \"quoted\"\n\x01", "tied"});
  uint32_t n = 0;
  for (DType dtype : dtypes) {
    description.tensors.push_back(Tensor(keys[n], dtype, {2, 4}, n));
    ++n;
  }
  description.tensors.push_back(Tensor(keys[n], DType::kF32, {}, n));
  description.tensors.push_back(Tensor(keys[n + 1], DType::kF64, {0, 3}, n + 1));
  description.tensors.push_back(Tensor(keys[n + 2], DType::kBool, {5}, n + 2));
  description.tensors.push_back(Tensor(keys[n + 3], DType::kF64, {2, 4}, 0));
  description.metadata = {{"zeta", "1"}, {"alpha", "\u00e9"}};
  const FileLayout layout = MustLayOut(description);

  TempFolder folder;
  const std::string path = folder.Write("all.safetensors", FileOf(description, layout));
  const Json read(ReadWithLibrary(path));
  const ObjectId tensors = read.graph.Child(read.root, "tensors");
  ASSERT_NE(tensors, kNoObject);
  EXPECT_EQ(read.Items(tensors).size() / 2, keys.size() - 1);
  for (uint32_t i = 0; i + 1 < keys.size(); ++i) {
    SCOPED_TRACE(keys[i]);
    const ObjectId tensor = read.graph.Child(tensors, keys[i]);
    ASSERT_NE(tensor, kNoObject);
    EXPECT_EQ(read.Text(tensor, "dtype"), SafetensorsName(description.tensors[i].dtype));
    EXPECT_EQ(read.ShapeOf(tensor), description.tensors[i].shape);
    EXPECT_EQ(read.Text(tensor, "hex"), Hex(Contents(i, description.tensors[i].bytes)));
  }
  // All but the two six-bit types.
  EXPECT_EQ(read.Items(read.graph.Child(read.root, "torch")).size(), keys.size() - 3);
  const ObjectId metadata = read.graph.Child(read.root, "metadata");
  EXPECT_EQ(read.Items(metadata).size() / 2, 4u);
  EXPECT_EQ(read.Text(metadata, "format"), "pt");
  EXPECT_EQ(read.Text(metadata, "alpha"), "\u00e9");
  EXPECT_EQ(read.Text(metadata, "zeta"), "1");
  EXPECT_EQ(read.Text(metadata, "tied"), "t.f64");

  // And our own reader agrees, the tie included.
  const Catalog catalog = MustRead(path);
  EXPECT_EQ(catalog.entries.size(), keys.size());
  EXPECT_EQ(layout.offsets.back(), layout.offsets.front());
}

TEST(SafetensorsWriter, KeepsTheOrderWhenThatIsAligned) {
  OutputDescription description;
  description.tensors = {Tensor("b", DType::kU8, {4}, 0), Tensor("a", DType::kF32, {1}, 1),
                         Tensor("c", DType::kF64, {1}, 2)};
  const FileLayout layout = MustLayOut(description);
  const uint64_t start = layout.literals[0].bytes.size();
  EXPECT_EQ(start % 8, 0u);
  EXPECT_THAT(layout.offsets, ElementsAre(start, start + 4, start + 8));
  EXPECT_EQ(layout.size, start + 16);
  EXPECT_THAT(HeaderOf(layout),
              ::testing::StartsWith(R"({"__metadata__":{"format":"pt"},)"
                                    R"("b":{"dtype":"U8","shape":[4],"data_offsets":[0,4]},)"
                                    R"("a":{"dtype":"F32","shape":[1],"data_offsets":[4,8]},)"
                                    R"("c":{"dtype":"F64","shape":[1],"data_offsets":[8,16]}})"));
}

TEST(SafetensorsWriter, SortsByElementSizeWhenTheOrderIsNotAligned) {
  OutputDescription description;
  description.tensors = {Tensor("a", DType::kU8, {3}, 0), Tensor("b", DType::kF32, {1}, 1),
                         Tensor("c", DType::kI8, {1}, 2), Tensor("d", DType::kF64, {1}, 3),
                         Tensor("e", DType::kI32, {1}, 4)};
  const FileLayout layout = MustLayOut(description);
  const uint64_t start = layout.literals[0].bytes.size();
  // d, b, e, a, c
  EXPECT_THAT(layout.offsets,
              ElementsAre(start + 16, start + 8, start + 19, start + 0, start + 12));
  const std::string header = HeaderOf(layout);
  EXPECT_LT(header.find("\"d\""), header.find("\"b\""));
  EXPECT_LT(header.find("\"b\""), header.find("\"e\""));
  EXPECT_LT(header.find("\"e\""), header.find("\"a\""));
  EXPECT_LT(header.find("\"a\""), header.find("\"c\""));
}

TEST(SafetensorsWriter, PutsCopiedBytesAtTheirPlaceOfAPage) {
  OutputDescription description;
  description.tensors = {Tensor("new", DType::kF32, {2}, 0), Tensor("a", DType::kF32, {5000}, 1),
                         Tensor("b", DType::kF32, {9000}, 2)};
  description.tensors[1].source_phase = 1000;
  description.tensors[2].source_phase = (1000 + 20000) % 4096;  // behind `a` in the source too
  const FileLayout layout = MustLayOut(description);
  EXPECT_EQ(layout.offsets[1] % 4096, 1000u);
  EXPECT_EQ(layout.offsets[2] % 4096, (1000u + 20000u) % 4096);
  EXPECT_EQ(layout.offsets[0] % 8, 0u);
  EXPECT_LT(layout.offsets[0], 8192u);

  // What most bytes want wins.
  description.tensors[2].source_phase = 0;
  EXPECT_EQ(MustLayOut(description).offsets[2] % 4096, 0u);

  // A place that is no multiple of 8 cannot be had.
  description.tensors[1].source_phase = 1001;
  description.tensors[2].source_phase = 1003;
  EXPECT_EQ(MustLayOut(description).offsets[0] % 8, 0u);
  EXPECT_LT(MustLayOut(description).offsets[0], 512u);
}

TEST(SafetensorsWriter, RepeatsItself) {
  OutputDescription description;
  description.tensors = {Tensor("a", DType::kF32, {2}, 0)};
  description.metadata = {{"b", "2"}, {"a", "1"}};
  const FileLayout first = MustLayOut(description);
  description.metadata = {{"a", "1"}, {"b", "2"}};
  EXPECT_EQ(MustLayOut(description).literals[0].bytes, first.literals[0].bytes);
}

TEST(SafetensorsWriter, KeepsAFormatThatIsGiven) {
  OutputDescription description;
  description.metadata = {{"format", "mlx"}, {"DCP_VERSION", "1.0"}, {"DCP_SHARDING_INFO", "{}"}};
  EXPECT_THAT(HeaderOf(MustLayOut(description)),
              ::testing::StartsWith(R"({"__metadata__":{"format":"mlx"}})"));
}

void ExpectRefused(const OutputDescription& description, const std::string& name,
                   const std::string& key) {
  const Result<FileLayout> layout = LayOutSafetensors(description);
  ASSERT_FALSE(layout.ok());
  EXPECT_EQ(layout.error().name, name);
  EXPECT_THAT(layout.error().message, HasSubstr(key));
  EXPECT_FALSE(layout.error().helps.empty());
}

TEST(SafetensorsWriter, RefusesWhatTheFormatCannotHold) {
  for (DType dtype : {DType::kC32, DType::kC128, DType::kQI8, DType::kQU8, DType::kQI32}) {
    OutputDescription description;
    description.tensors = {Tensor("fine", DType::kF32, {1}, 0), Tensor("odd", dtype, {1}, 1)};
    ExpectRefused(description, "dtype-not-in-format", "`odd`");
  }
  OutputDescription description;
  description.tensors = {Tensor("__metadata__", DType::kF32, {1}, 0)};
  ExpectRefused(description, "reserved-key", "__metadata__");
  description.tensors = {Tensor("\xff", DType::kF32, {1}, 0)};
  ExpectRefused(description, "not-utf8", "key");
  description.tensors = {Tensor("a", DType::kF32, {1}, 0), Tensor("format", DType::kF32, {1}, 0)};
  ExpectRefused(description, "reserved-key", "format");
  description.tensors.clear();
  description.metadata = {{"x", "\xed\xa0\x80"}};
  ExpectRefused(description, "not-utf8", "`x`");
}

TEST(SafetensorsWriter, RefusesAHeaderOverTheLimit) {
  const std::string long_key(60'000'000, 'k');
  OutputDescription description;
  const std::string other = "x" + long_key;
  description.tensors = {Tensor(long_key, DType::kF32, {1}, 0), Tensor(other, DType::kF32, {1}, 1)};
  const Result<FileLayout> layout = LayOutSafetensors(description);
  ASSERT_FALSE(layout.ok());
  EXPECT_EQ(layout.error().name, "header-too-large");
}

}  // namespace
}  // namespace rekey
