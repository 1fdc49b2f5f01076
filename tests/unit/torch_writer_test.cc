// Layouts of torch's zip: filled with known bytes, then loaded by torch and checked by zipfile.
#include "engine/formats/torch_writer.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <libdeflate.h>
#include <unistd.h>

#include <limits>

#include "engine/formats/pickle_writer.h"
#include "engine/json.h"
#include "tests/support/files.h"
#include "tests/support/python.h"

namespace rekey {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using enum Object::Kind;

// A description that owns its keys.
struct Model {
  OutputTensor& Add(std::string key, DType dtype, Shape shape) {
    keys.push_back(std::make_unique<std::string>(std::move(key)));
    OutputTensor tensor;
    tensor.key = *keys.back();
    tensor.dtype = dtype;
    tensor.bytes = static_cast<uint64_t>(*NumBytes(dtype, shape));
    tensor.shape = std::move(shape);
    tensor.same_as = static_cast<uint32_t>(description.tensors.size());
    description.tensors.push_back(std::move(tensor));
    return description.tensors.back();
  }
  std::vector<std::unique_ptr<std::string>> keys;
  OutputDescription description;
};

// Bytes that differ from tensor to tensor and are valid for bool too.
std::string Contents(uint32_t tensor, uint64_t bytes) {
  std::string text;
  for (uint64_t i = 0; i < bytes; ++i) text.push_back(static_cast<char>((i * 7 + tensor) % 2));
  return text;
}

void PutCrc(std::string* file, uint64_t offset, uint32_t crc) {
  for (int i = 0; i < 4; ++i) (*file)[offset + i] = static_cast<char>(crc >> (8 * i));
}

// The file that a layout describes; every byte must be given exactly once, patches excepted.
std::string FileOf(const OutputDescription& description, const FileLayout& layout) {
  std::string file(layout.size, '\0');
  uint64_t covered = 0;
  for (const Literal& literal : layout.literals) {
    file.replace(literal.offset, literal.bytes.size(), literal.bytes);
    covered += literal.bytes.size();
  }
  for (uint32_t i = 0; i < description.tensors.size(); ++i) {
    const OutputTensor& tensor = description.tensors[i];
    if (tensor.same_as != i) continue;
    file.replace(layout.offsets[i], tensor.bytes, Contents(i, tensor.bytes));
    covered += tensor.bytes;
  }
  for (const CrcPatch& patch : layout.crcs) {
    EXPECT_FALSE(description.tensors[patch.tensor].crc32.has_value());
    const std::string bytes = Contents(patch.tensor, description.tensors[patch.tensor].bytes);
    PutCrc(&file, patch.offset, libdeflate_crc32(0, bytes.data(), bytes.size()));
  }
  EXPECT_EQ(covered, layout.size);
  EXPECT_EQ(file.size(), layout.size);
  return file;
}

FileLayout MustLayOut(const OutputDescription& description) {
  Result<FileLayout> layout = LayOutTorch(description);
  if (!layout.ok()) {
    ADD_FAILURE() << layout.error().message;
    return {};
  }
  return std::move(*layout);
}

Diagnostic MustRefuse(const OutputDescription& description) {
  const Result<FileLayout> layout = LayOutTorch(description);
  if (!layout.ok()) return layout.error();
  ADD_FAILURE() << "it was laid out";
  return {};
}

// What torch loads.
struct Loaded {
  explicit Loaded(const std::string& path) {
    const Result<ObjectId> parsed =
        ParseJson(RunPython("tests/support/read_torch.py", {path}), "torch", graph);
    EXPECT_TRUE(parsed.ok()) << (parsed.ok() ? "" : parsed.error().message);
    if (parsed.ok()) root = *parsed;
  }
  ObjectId At(const std::string& path) const {
    return root == kNoObject ? kNoObject : graph.Find(root, path);
  }
  std::string Text(const std::string& path) const {
    const ObjectId id = At(path);
    return id == kNoObject ? "(absent)" : graph[id].text;
  }
  int64_t Number(const std::string& path) const {
    const ObjectId id = At(path);
    return id == kNoObject ? -1 : graph[id].integer;
  }
  size_t Count(const std::string& path) const {
    const ObjectId id = At(path);
    return id == kNoObject ? 0 : graph[id].items.size();
  }
  Shape ShapeOf(const std::string& path) const {
    Shape shape;
    for (ObjectId item : graph[At(path)].items) shape.push_back(graph[item].integer);
    return shape;
  }
  ObjectGraph graph;
  ObjectId root = kNoObject;
};

std::string Hex(const std::string& bytes) {
  std::string hex;
  for (unsigned char byte : bytes) {
    char digits[3];
    std::snprintf(digits, sizeof digits, "%02x", byte);
    hex += digits;
  }
  return hex;
}

TEST(TorchWriter, TorchLoadsEveryDtype) {
  Model model;
  for (std::string_view name : DTypeNames()) {
    const DType dtype = *DTypeByName(name);
    if (TorchName(dtype).empty() || KindOf(dtype) == DTypeKind::kQuantized) continue;
    model.Add("t." + std::string(name), dtype, {2, 3, 4});
  }
  ASSERT_EQ(model.keys.size(), 22u);  // 27, less two of six bits and three quantised
  model.Add("scalar", DType::kI64, {});
  model.Add("none", DType::kF64, {0, 3});
  model.Add("five", DType::kU8, {1, 2, 1, 2, 3});
  model.Add("\u00e9 \"quoted\"\n\x01", DType::kBool, {5});
  model.Add("", DType::kF32, {1});
  model.description.archive_name = "model";
  // A carried CRC is as good as a computed one.
  OutputTensor& carried = model.description.tensors[0];
  const std::string bytes = Contents(0, carried.bytes);
  carried.crc32 = libdeflate_crc32(0, bytes.data(), bytes.size());

  const FileLayout layout = MustLayOut(model.description);
  for (uint64_t offset : layout.offsets) EXPECT_EQ(offset % 64, 0u);
  TempFolder folder;
  const Loaded loaded(folder.Write("all.pt", FileOf(model.description, layout)));
  EXPECT_EQ(loaded.Text("type"), "OrderedDict");
  ASSERT_NE(loaded.At("zip"), kNoObject);
  EXPECT_EQ(loaded.graph[loaded.At("zip")].kind, kNone);
  ASSERT_EQ(loaded.Count("tensors"), model.keys.size());
  for (uint32_t i = 0; i < model.keys.size(); ++i) {
    const OutputTensor& tensor = model.description.tensors[i];
    const std::string at = "tensors." + std::to_string(i) + ".";
    SCOPED_TRACE(tensor.key);
    Shape shape = tensor.shape;
    if (tensor.dtype == DType::kF4) shape.back() /= 2;
    EXPECT_EQ(loaded.Text(at + "key"), tensor.key);
    EXPECT_EQ(loaded.Text(at + "dtype"), TorchName(tensor.dtype));
    EXPECT_EQ(loaded.ShapeOf(at + "shape"), shape);
    EXPECT_EQ(loaded.Number(at + "storage"), i);
    EXPECT_EQ(loaded.Text(at + "hex"), Hex(Contents(i, tensor.bytes)));
  }
}

TEST(TorchWriter, RecordsStandInTheOrderOfTorch) {
  Model model;
  for (int i = 0; i < 12; ++i) model.Add("k" + std::to_string(11 - i), DType::kF32, {1});
  model.description.archive_name = "epoch_12";
  TempFolder folder;
  const Loaded loaded(
      folder.Write("a.pt", FileOf(model.description, MustLayOut(model.description))));
  ASSERT_EQ(loaded.Count("names"), 15u);
  EXPECT_EQ(loaded.Text("names.0"), "epoch_12/data.pkl");
  EXPECT_EQ(loaded.Text("names.1"), "epoch_12/byteorder");
  EXPECT_EQ(loaded.Text("names.4"), "epoch_12/data/2");
  EXPECT_EQ(loaded.Text("names.13"), "epoch_12/data/11");
  EXPECT_EQ(loaded.Text("names.14"), "epoch_12/version");
  EXPECT_EQ(loaded.Text("tensors.0.key"), "k11");
}

TEST(TorchWriter, TiesShareOneStorage) {
  Model model;
  model.Add("a", DType::kF32, {2, 3});
  model.Add("b", DType::kF32, {4});
  model.Add("a.tied", DType::kF32, {2, 3}).same_as = 0;
  model.Add("a.flat", DType::kF32, {6}).same_as = 2;  // through another that is tied
  model.Add("b.bits", DType::kI32, {4}).same_as = 1;  // another type: an untyped storage
  const FileLayout layout = MustLayOut(model.description);
  EXPECT_EQ(layout.offsets[2], layout.offsets[0]);
  EXPECT_EQ(layout.offsets[3], layout.offsets[0]);
  TempFolder folder;
  const Loaded loaded(folder.Write("a.pt", FileOf(model.description, layout)));
  ASSERT_EQ(loaded.Count("tensors"), 5u);
  EXPECT_EQ(loaded.Count("names"), 5u);  // two data records
  EXPECT_EQ(loaded.Number("tensors.0.storage"), 0);
  EXPECT_EQ(loaded.Number("tensors.1.storage"), 1);
  EXPECT_EQ(loaded.Number("tensors.2.storage"), 0);
  EXPECT_EQ(loaded.Number("tensors.3.storage"), 0);
  EXPECT_EQ(loaded.Number("tensors.4.storage"), 1);
  EXPECT_EQ(loaded.Text("tensors.4.dtype"), "int32");
  EXPECT_EQ(loaded.Text("tensors.1.dtype"), "float32");
}

ObjectId Text(ObjectGraph& graph, std::string text) {
  return graph.Add({.kind = kText, .text = std::move(text)});
}

TEST(TorchWriter, MetadataOfModulesIsKept) {
  ObjectGraph graph;
  const auto number = [&](int64_t value) { return graph.Add({.kind = kInt, .integer = value}); };
  const ObjectId version = graph.Add({.kind = kDict, .items = {Text(graph, "version"), number(2)}});
  const ObjectId list =
      graph.Add({.kind = kList,
                 .items = {number(-1), number(300), number(70000), number(-3'000'000'000),
                           number(std::numeric_limits<int64_t>::max()),
                           number(std::numeric_limits<int64_t>::min()), graph.Add({.kind = kNone}),
                           graph.Add({.kind = kBool, .integer = 1}),
                           graph.Add({.kind = kFloat, .real = -1.5}), Text(graph, "version")}});
  const ObjectId empty = graph.Add({.kind = kTuple});
  const ObjectId mixed =
      graph.Add({.kind = kDict, .items = {Text(graph, "list"), list, Text(graph, "none"), empty}});
  // OrderedDict(): a call and the dict that was filled in.
  const ObjectId callee = graph.Add({.kind = kGlobal, .text = "collections.OrderedDict"});
  const ObjectId filled = graph.Add({.kind = kDict, .items = {Text(graph, "x"), number(7)}});
  const ObjectId ordered = graph.Add({.kind = kCall, .items = {callee, empty, filled}});

  Model model;
  model.Add("bn.weight", DType::kF32, {1});
  model.description.objects = &graph;
  model.description.module_metadata = {{"", version}, {"bn", mixed}, {"fc", ordered}};
  TempFolder folder;
  const Loaded loaded(
      folder.Write("a.pt", FileOf(model.description, MustLayOut(model.description))));
  ASSERT_EQ(loaded.Count("metadata"), 6u);
  EXPECT_EQ(loaded.Number("metadata.bn.list.0"), -1);
  EXPECT_EQ(loaded.Number("metadata.bn.list.1"), 300);
  EXPECT_EQ(loaded.Number("metadata.bn.list.2"), 70000);
  EXPECT_EQ(loaded.Number("metadata.bn.list.3"), -3'000'000'000);
  EXPECT_EQ(loaded.Number("metadata.bn.list.4"), std::numeric_limits<int64_t>::max());
  EXPECT_EQ(loaded.Number("metadata.bn.list.5"), std::numeric_limits<int64_t>::min());
  EXPECT_EQ(loaded.graph[loaded.At("metadata.bn.list.6")].kind, kNone);
  EXPECT_EQ(loaded.graph[loaded.At("metadata.bn.list.7")].kind, kBool);
  EXPECT_EQ(loaded.graph[loaded.At("metadata.bn.list.8")].real, -1.5);
  EXPECT_EQ(loaded.Text("metadata.bn.list.9"), "version");
  EXPECT_EQ(loaded.Count("metadata.bn.none"), 0u);
  EXPECT_EQ(loaded.Number("metadata.fc.x"), 7);
  // The root module's path is empty.
  const std::vector<ObjectId>& items = loaded.graph[loaded.At("metadata")].items;
  EXPECT_EQ(loaded.graph[items[0]].text, "");
  EXPECT_EQ(loaded.graph[loaded.graph.Child(items[1], "version")].integer, 2);
}

TEST(TorchWriter, MetadataThatIsNoPlainDataIsRefused) {
  Model model;
  ObjectGraph graph;
  model.description.objects = &graph;
  const ObjectId callee = graph.Add({.kind = kGlobal, .text = "os.system"});
  const ObjectId arguments = graph.Add({.kind = kTuple, .items = {Text(graph, "true")}});
  const ObjectId call = graph.Add({.kind = kCall, .items = {callee, arguments}});
  const ObjectId itself = graph.Add({.kind = kList});
  graph[itself].items = {itself};
  // 2^40 texts in 40 lists.
  ObjectId doubled = graph.Add({.kind = kList});
  for (int i = 0; i < 30; ++i) doubled = graph.Add({.kind = kList, .items = {doubled, doubled}});
  for (ObjectId value : {call, callee, itself, doubled, kNoObject}) {
    model.description.module_metadata = {{"fc", value}};
    const Diagnostic error = MustRefuse(model.description);
    EXPECT_EQ(error.name, "metadata-not-plain");
    EXPECT_THAT(error.message, HasSubstr("`fc`"));
    EXPECT_THAT(error.helps, ElementsAre(HasSubstr("safetensors")));
  }
}

TEST(TorchWriter, RefusesWhatTorchCannotHold) {
  const auto refusal = [](std::string key, DType dtype, Shape shape) {
    Model model;
    model.Add(std::move(key), dtype, std::move(shape));
    const Diagnostic error = MustRefuse(model.description);
    EXPECT_FALSE(error.helps.empty());
    return error.name + ": " + error.message;
  };
  EXPECT_EQ(refusal("w", DType::kF6E2M3, {4}),
            "dtype-not-in-format: tensor `w` is f6_e2m3, which torch does not have");
  EXPECT_THAT(refusal("w", DType::kQI8, {4}), HasSubstr("qi8, whose scale and zero point"));
  EXPECT_THAT(refusal("w", DType::kF4, {2, 1}), HasSubstr("f4[2, 1]: torch holds f4 in pairs"));
  EXPECT_THAT(refusal("w\xff", DType::kF32, {}), HasSubstr("not-utf8: the key"));
}

TEST(TorchWriter, LargeTensorsKeepTheirPlaceOfAPage) {
  Model model;
  for (uint32_t phase : {64u, 4032u, 1024u}) {
    model.Add("k" + std::to_string(phase), DType::kU8, {100'000}).source_phase = phase;
  }
  model.Add("odd", DType::kU8, {100'000}).source_phase = 8;  // torch wants multiples of 64
  model.Add("small", DType::kU8, {64}).source_phase = 2048;  // not worth a page
  const FileLayout layout = MustLayOut(model.description);
  EXPECT_EQ(layout.offsets[0] % 4096, 64u);
  EXPECT_EQ(layout.offsets[1] % 4096, 4032u);
  EXPECT_EQ(layout.offsets[2] % 4096, 1024u);
  EXPECT_EQ(layout.offsets[3] % 64, 0u);
  EXPECT_LT(layout.offsets[4] - layout.offsets[3], 100'000u + 256);
  FileOf(model.description, layout);  // covers every byte once
}

// torch's own layout has 16 bytes more between two records (a descriptor): records of the same
// order must keep their distance, so that a run of them is one extent.
TEST(TorchWriter, SmallTensorsOfTorchKeepTheirDistance) {
  Model model;
  uint64_t at = 4096 + 640;
  std::vector<uint64_t> source;
  for (int i = 0; i < 200; ++i) {
    const int64_t bytes = i == 0 ? 1 << 20 : 256 + i * 52 % 999;  // a large one sets the place
    model.Add("k" + std::to_string(i), DType::kU8, {bytes}).source_phase =
        static_cast<uint32_t>(at % 4096);
    source.push_back(at);
    const std::string name = "model/data/" + std::to_string(i);
    at = (at + static_cast<uint64_t>(bytes) + 16 + 30 + name.size() + 4 + 63) / 64 * 64;
  }
  model.description.archive_name = "model";
  const FileLayout layout = MustLayOut(model.description);
  for (size_t i = 1; i < source.size(); ++i) {
    EXPECT_EQ(layout.offsets[i] - layout.offsets[0], source[i] - source[0]) << i;
  }
}

TEST(TorchWriter, SameDescriptionSameBytes) {
  Model model;
  for (int i = 0; i < 100; ++i) model.Add("k" + std::to_string(i), DType::kBF16, {3, i});
  const FileLayout layout = MustLayOut(model.description);
  EXPECT_EQ(FileOf(model.description, layout),
            FileOf(model.description, MustLayOut(model.description)));
}

TEST(TorchWriter, MoreThan65535Records) {
  Model model;
  for (int i = 0; i < 66'000; ++i) model.Add("k" + std::to_string(i), DType::kU8, {1});
  TempFolder folder;
  const Loaded loaded(
      folder.Write("many.pt", FileOf(model.description, MustLayOut(model.description))));
  ASSERT_EQ(loaded.Count("tensors"), 66'000u);
  EXPECT_EQ(loaded.Count("names"), 66'003u);
  EXPECT_EQ(loaded.Text("tensors.65999.key"), "k65999");
  EXPECT_EQ(loaded.Text("tensors.65999.hex"), Hex(Contents(65'999, 1)));
}

// A record of more than 4 GiB, one that begins beyond, and a directory there: in a sparse file.
TEST(TorchWriter, Beyond4GiB) {
  constexpr uint32_t kCrcOfZeros = 0;  // torch never checks it
  Model model;
  model.Add("huge", DType::kU8, {(int64_t{1} << 32) + 5}).crc32 = kCrcOfZeros;
  model.Add("after", DType::kF32, {4});
  const FileLayout layout = MustLayOut(model.description);
  EXPECT_GT(layout.offsets[1], uint64_t{1} << 32);
  TempFolder folder;
  const std::string path = folder.Path("sparse.pt");
  const int fd = open(path.c_str(), O_RDWR | O_CREAT, 0600);
  ASSERT_GE(fd, 0);
  ASSERT_EQ(ftruncate(fd, static_cast<off_t>(layout.size)), 0);
  const auto put = [&](uint64_t offset, const std::string& bytes) {
    ASSERT_EQ(pwrite(fd, bytes.data(), bytes.size(), static_cast<off_t>(offset)),
              static_cast<ssize_t>(bytes.size()));
  };
  for (const Literal& literal : layout.literals) put(literal.offset, literal.bytes);
  const std::string after = Contents(1, 16);
  put(layout.offsets[1], after);
  std::string crc(4, '\0');
  PutCrc(&crc, 0, libdeflate_crc32(0, after.data(), after.size()));
  for (const CrcPatch& patch : layout.crcs) put(patch.offset, crc);
  close(fd);
  const std::string output = RunPython("tests/support/read_sparse_torch.py", {path});
  EXPECT_EQ(output, "huge [4294967301] after " + Hex(after) + " zip " + Hex(after) + "\n");
}

TEST(PickleWriter, TheMemoGrowsPastOneByte) {
  PickleWriter pickle;
  pickle.Mark();
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < 300; ++i) pickle.Word("w" + std::to_string(i));
  }
  pickle.Tuple();
  const std::string bytes = pickle.Finish();
  EXPECT_THAT(bytes, HasSubstr(std::string("w299r\x2b\x01\0\0", 9)));  // LONG_BINPUT 299
  EXPECT_THAT(bytes, HasSubstr(std::string("j\x2b\x01\0\0t.", 7)));    // LONG_BINGET 299
}

}  // namespace
}  // namespace rekey
