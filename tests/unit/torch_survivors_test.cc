// Odd, damaged and hostile torch files (tests/data/survivors): read as torch reads them, or refused
// by name. Those too large to commit are made here.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include "engine/formats/format.h"
#include "engine/json.h"
#include "tests/support/files.h"
#include "tests/support/gather.h"

namespace rekey {
namespace {

using ::testing::HasSubstr;

// expected.json of a folder; each file a record of it.
struct Record {
  std::shared_ptr<ObjectGraph> graph;
  std::string folder;
  ObjectId id = kNoObject;

  ObjectId Child(std::string_view key) const { return graph->Child(id, key); }
  std::string Text(std::string_view key) const {
    return Child(key) == kNoObject ? "" : (*graph)[Child(key)].text;
  }
  std::vector<ObjectId> Items(std::string_view key) const {
    return Child(key) == kNoObject ? std::vector<ObjectId>() : (*graph)[Child(key)].items;
  }
  std::vector<std::string> Texts(std::string_view key) const {
    std::vector<std::string> texts;
    for (const ObjectId item : Items(key)) texts.push_back((*graph)[item].text);
    return texts;
  }
  std::string Path() const { return folder + Text("file"); }
  ReadOptions Options() const {
    ReadOptions options;
    if (Child("select") != kNoObject) options.select = Text("select");
    options.select_all = Child("select_all") != kNoObject;
    return options;
  }
};

std::vector<Record> Records(const std::string& name) {
  auto graph = std::make_shared<ObjectGraph>();
  const std::string folder = DataPath("survivors/" + name + "/");
  const Result<ObjectId> root = ParseJson(ReadAll(folder + "expected.json"), "expected", *graph);
  EXPECT_TRUE(root.ok());
  std::vector<Record> records;
  for (const ObjectId id : (*graph)[*root].items) records.push_back({graph, folder, id});
  return records;
}

std::string NameOf(const ::testing::TestParamInfo<Record>& info) {
  const std::string file = info.param.Text("file");
  return file.substr(0, file.find('.'));
}

std::string FromHex(std::string_view hex) {
  std::string bytes;
  for (size_t i = 0; i + 1 < hex.size(); i += 2) {
    bytes.push_back(
        static_cast<char>(std::strtol(std::string(hex.substr(i, 2)).c_str(), nullptr, 16)));
  }
  return bytes;
}

Shape ShapeOf(const ObjectGraph& graph, ObjectId list) {
  Shape shape;
  for (const ObjectId item : graph[list].items) shape.push_back(graph[item].integer);
  return shape;
}

// f4 packs two elements into a byte; the tests' tensors of it are contiguous.
std::string BytesOf(const Catalog& catalog, const Entry& entry) {
  if (BitsOf(entry.dtype) % 8 == 0) return Gather(catalog, entry);
  EXPECT_TRUE(IsContiguous(entry.shape, entry.strides));
  return StorageBytes(catalog, catalog.storages[entry.storage])
      .substr(entry.start, DataBytes(entry));
}

const Entry& Find(const Catalog& catalog, const std::string& key) {
  const auto it = std::find_if(catalog.entries.begin(), catalog.entries.end(),
                               [&](const Entry& entry) { return entry.key == key; });
  EXPECT_NE(it, catalog.entries.end()) << key;
  return *it;
}

void ExpectTensors(const Record& expected, const Catalog& catalog) {
  const ObjectGraph& graph = *expected.graph;
  const std::vector<ObjectId> tensors = expected.Items("tensors");
  ASSERT_EQ(catalog.entries.size(), tensors.size());
  for (size_t i = 0; i < tensors.size(); ++i) {
    const Entry& entry = catalog.entries[i];
    SCOPED_TRACE(entry.key);
    EXPECT_EQ(entry.key, graph[graph.Child(tensors[i], "key")].text);
    EXPECT_EQ(Name(entry.dtype), graph[graph.Child(tensors[i], "dtype")].text);
    EXPECT_EQ(entry.shape, ShapeOf(graph, graph.Child(tensors[i], "shape")));
    const ObjectId bytes = graph.Child(tensors[i], "bytes");
    EXPECT_EQ(entry.no_bytes, bytes == kNoObject);
    if (bytes != kNoObject) {
      EXPECT_EQ(BytesOf(catalog, entry), FromHex(graph[bytes].text));
    }
  }
}

void ExpectTies(const Record& expected, const Catalog& catalog) {
  for (const ObjectId tie : expected.Items("ties")) {
    const std::vector<ObjectId>& keys = (*expected.graph)[tie].items;
    for (const ObjectId key : keys) {
      EXPECT_EQ(Find(catalog, (*expected.graph)[key].text).storage,
                Find(catalog, (*expected.graph)[keys[0]].text).storage);
    }
  }
}

void ExpectMeta(const Record& expected, const Catalog& catalog) {
  const ObjectGraph& graph = *expected.graph;
  for (const ObjectId fact : expected.Items("meta")) {
    const std::string& path = graph[graph[fact].items[0]].text;
    const Result<std::optional<Scalar>> value = FindMeta(catalog, path);
    ASSERT_TRUE(value.ok());
    ASSERT_TRUE(value->has_value()) << path;
    EXPECT_EQ(**value, graph.ToScalar(graph[fact].items[1])) << path;
  }
}

// torch's `_metadata`: each module and its version, where it has one.
void ExpectMetadata(const Record& expected, const Catalog& catalog) {
  if (expected.Child("metadata") == kNoObject) return;
  const ObjectGraph& graph = *expected.graph;
  const std::vector<ObjectId> modules = expected.Items("metadata");
  ASSERT_EQ(catalog.module_metadata.size(), modules.size());
  for (size_t i = 0; i < modules.size(); ++i) {
    const ModuleMetadata& module = catalog.module_metadata[i];
    EXPECT_EQ(module.module, graph[graph[modules[i]].items[0]].text);
    const ObjectId version = catalog.objects->Child(module.value, "version");
    const Object& right = graph[graph[modules[i]].items[1]];
    if (right.kind == Object::Kind::kInt) {
      ASSERT_NE(version, kNoObject);
      EXPECT_EQ((*catalog.objects)[version].integer, right.integer);
    }
  }
}

class Good : public ::testing::TestWithParam<Record> {};

TEST_P(Good, IsReadAsTorchReadsIt) {
  const Record& expected = GetParam();
  const Result<Catalog> read = ReadFile(expected.Path(), expected.Options());
  ASSERT_TRUE(read.ok()) << read.error().message;
  const Catalog& catalog = *read;
  ExpectTensors(expected, catalog);
  if (HasFailure()) return;
  ExpectTies(expected, catalog);
  ExpectMeta(expected, catalog);
  ExpectMetadata(expected, catalog);
  EXPECT_EQ(catalog.envelope, expected.Text("envelope"));
  std::vector<std::string> warnings;
  for (const Diagnostic& warning : catalog.warnings) warnings.push_back(warning.name);
  EXPECT_EQ(warnings, expected.Texts("warnings"));
  if (expected.Child("callables") != kNoObject) {
    EXPECT_EQ(catalog.callables, expected.Texts("callables"));
  }
}

INSTANTIATE_TEST_SUITE_P(Survivors, Good, ::testing::ValuesIn(Records("good")), NameOf);

class Bad : public ::testing::TestWithParam<Record> {};

TEST_P(Bad, IsRefusedByName) {
  const Record& expected = GetParam();
  const Result<Catalog> read = ReadFile(expected.Path(), expected.Options());
  ASSERT_FALSE(read.ok());
  const Diagnostic& error = read.error();
  EXPECT_EQ(error.name, expected.Text("error")) << error.message;
  for (const std::string& mention : expected.Texts("mentions")) {
    EXPECT_THAT(Render(error, false), HasSubstr(mention));
  }
  EXPECT_THAT(error.message, HasSubstr(expected.Text("file")));
}

INSTANTIATE_TEST_SUITE_P(Survivors, Bad, ::testing::ValuesIn(Records("bad")), NameOf);

}  // namespace
}  // namespace rekey
