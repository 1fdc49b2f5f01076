// torch files of tests/data/distributed: keys in torch's order, ties, and every value bit for bit;
// and pickles made here that the reader must not stumble over.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "engine/formats/format.h"
#include "engine/json.h"
#include "tests/support/files.h"
#include "tests/support/gather.h"

namespace rekey {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Catalog MustRead(const std::string& path, const ReadOptions& options = {}) {
  Result<Catalog> catalog = ReadFile(path, options);
  if (!catalog.ok()) {
    ADD_FAILURE() << path << ": " << catalog.error().message;
    return {};
  }
  return std::move(*catalog);
}

std::vector<std::string> Keys(const Catalog& catalog) {
  std::vector<std::string> keys;
  for (const Entry& entry : catalog.entries) keys.emplace_back(entry.key);
  return keys;
}

const Entry& Find(const Catalog& catalog, std::string_view key) {
  static const Entry none;
  for (const Entry& entry : catalog.entries) {
    if (entry.key == key) return entry;
  }
  ADD_FAILURE() << "no key " << key;
  return none;
}

// One record of expected.json.
struct Expected {
  std::string file;
  std::string select;
  std::string answer;
  std::vector<std::string> keys;
  std::map<std::string, std::string> to_answer;
  std::vector<std::vector<std::string>> ties;
};

std::vector<std::string> Texts(const ObjectGraph& graph, ObjectId list) {
  std::vector<std::string> texts;
  if (list == kNoObject) return texts;
  for (const ObjectId item : graph[list].items) texts.push_back(graph[item].text);
  return texts;
}

std::string TextOf(const ObjectGraph& graph, ObjectId record, std::string_view key) {
  const ObjectId id = graph.Child(record, key);
  return id == kNoObject ? "" : graph[id].text;
}

std::string AnswerOf(const std::string& file) {
  if (file == "main_whole.pt") return "main_answer.safetensors";
  return file.starts_with("zoo") ? "zoo_answer.safetensors" : "answer.safetensors";
}

std::vector<Expected> ReadExpected(const std::string& folder) {
  ObjectGraph graph;
  const Result<ObjectId> root = ParseJson(ReadAll(folder + "expected.json"), "expected", graph);
  EXPECT_TRUE(root.ok());
  std::vector<Expected> all;
  for (const ObjectId record : graph[*root].items) {
    Expected one;
    one.file = TextOf(graph, record, "file");
    one.select = TextOf(graph, record, "select");
    one.answer = AnswerOf(one.file);
    one.keys = Texts(graph, graph.Child(record, "keys"));
    if (const ObjectId map = graph.Child(record, "to_answer"); map != kNoObject) {
      const std::vector<ObjectId>& items = graph[map].items;
      for (size_t i = 0; i < items.size(); i += 2) {
        one.to_answer[graph[items[i]].text] = graph[items[i + 1]].text;
      }
    }
    if (const ObjectId ties = graph.Child(record, "ties"); ties != kNoObject) {
      for (const ObjectId tie : graph[ties].items) one.ties.push_back(Texts(graph, tie));
    }
    all.push_back(std::move(one));
  }
  return all;
}

struct Case {
  std::string folder;
  Expected expected;
};

std::vector<Case> Cases() {
  std::vector<Case> cases;
  for (const std::string name : {"ddp", "single"}) {
    const std::string folder = DataPath("distributed/torch/" + name + "/");
    for (Expected& expected : ReadExpected(folder)) {
      if (!expected.file.starts_with("exotic")) cases.push_back({folder, std::move(expected)});
    }
  }
  return cases;
}

class TorchFiles : public ::testing::TestWithParam<Case> {};

void ExpectSameValues(const Catalog& catalog, const Expected& expected, const Catalog& answer) {
  for (const Entry& entry : catalog.entries) {
    SCOPED_TRACE(entry.key);
    const auto renamed = expected.to_answer.find(std::string(entry.key));
    const std::string name =
        renamed == expected.to_answer.end() ? std::string(entry.key) : renamed->second;
    if (name == "c128") continue;  // no type of safetensors: a test of its own
    if (name == "pos") continue;   // TorchScript keeps it, the answer does not: likewise
    const Entry& right = Find(answer, name);
    EXPECT_EQ(entry.dtype, right.dtype);
    EXPECT_EQ(entry.shape, right.shape);
    EXPECT_EQ(Gather(catalog, entry), Gather(answer, right));
  }
}

TEST_P(TorchFiles, AreReadAsTorchReadsThem) {
  const auto& [folder, expected] = GetParam();
  ReadOptions options;
  const bool is_path = expected.file == "nested.pt";
  if (is_path) options.select = expected.select;
  const Catalog catalog = MustRead(folder + expected.file, options);
  EXPECT_EQ(Keys(catalog), expected.keys);
  if (is_path || expected.select == "model_state_dict") {
    EXPECT_EQ(catalog.envelope, expected.select);
  }
  ExpectSameValues(catalog, expected, MustRead(folder + expected.answer));
  for (const std::vector<std::string>& tie : expected.ties) {
    const Entry& first = Find(catalog, tie[0]);
    const Entry& second = Find(catalog, tie[1]);
    EXPECT_EQ(first.storage, second.storage);
    EXPECT_EQ(first.start, second.start);
    EXPECT_EQ(first.strides, second.strides);
  }
}

std::string FloatBytes(const std::vector<float>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)};
}

// Values that the answers cannot hold, as torch prints them.
TEST(TorchReader, ValuesBesideTheAnswers) {
  const std::string folder = DataPath("distributed/torch/single/");
  const Catalog zoo = MustRead(folder + "zoo.pt");
  const Entry& c128 = Find(zoo, "c128");
  EXPECT_EQ(c128.dtype, DType::kC128);
  const std::string bytes = Gather(zoo, c128);
  std::vector<double> values(4);
  ASSERT_EQ(bytes.size(), values.size() * sizeof(double));
  std::memcpy(values.data(), bytes.data(), bytes.size());
  EXPECT_NEAR(values[0], 1.0338, 5e-5);
  EXPECT_NEAR(values[1], -0.7600, 5e-5);
  EXPECT_NEAR(values[2], -1.4005, 5e-5);
  EXPECT_NEAR(values[3], -0.9845, 5e-5);

  const Catalog script = MustRead(folder + "jit_script.pt");
  EXPECT_EQ(script.format, "torchscript");
  EXPECT_EQ(Gather(script, Find(script, "pos")),
            FloatBytes({0, 4, 8, 1, 5, 9, 2, 6, 10, 3, 7, 11}));
}

TEST(TorchReader, TensorsThatAreNotDense) {
  const std::string folder = DataPath("distributed/torch/single/");
  for (const std::string file : {"exotic_sparse_coo.pt", "exotic_q_per_channel.pt"}) {
    const Catalog catalog = MustRead(folder + file);
    EXPECT_THAT(Keys(catalog), ElementsAre("plain"));
    ASSERT_EQ(catalog.warnings.size(), 1u);
    EXPECT_EQ(catalog.warnings[0].name, "tensors-left-out");
    EXPECT_THAT(catalog.warnings[0].message, HasSubstr("`w` (a "));
  }
  const Catalog meta = MustRead(folder + "exotic_meta.pt");
  EXPECT_THAT(Keys(meta), ElementsAre("w", "plain"));
  EXPECT_TRUE(meta.entries[0].no_bytes);
  EXPECT_EQ(meta.entries[0].shape, (Shape{3, 2}));
}

TEST(TorchReader, TwoStateDictsAreNamed) {
  const Result<Catalog> catalog =
      ReadFile(DataPath("distributed/torch/single/nested.pt"), ReadOptions{});
  ASSERT_FALSE(catalog.ok());
  EXPECT_THAT(catalog.error().message, HasSubstr("`nets.gen`, `nets.ema`"));
}

TEST(TorchReader, ScalarsOfTheObjectTree) {
  const Catalog catalog = MustRead(DataPath("distributed/torch/ddp/ddp_train.pt"));
  const Result<std::optional<Scalar>> none = FindMeta(catalog, "model_state_dict");
  ASSERT_TRUE(none.ok());
  EXPECT_FALSE(none->has_value());
  const Result<std::optional<Scalar>> epoch = FindMeta(catalog, "epoch");
  ASSERT_TRUE(epoch.ok());
  ASSERT_TRUE(epoch->has_value());
  EXPECT_TRUE(std::holds_alternative<int64_t>(**epoch));
}

// --- Pickles made here.

std::string Number(uint64_t value, size_t bytes) {
  std::string text;
  for (size_t i = 0; i < bytes; ++i) text.push_back(static_cast<char>(value >> (8 * i)));
  return text;
}

// A zip of one stored record.
std::string OneRecord(const std::string& name, const std::string& bytes) {
  const std::string sizes = Number(bytes.size(), 4) + Number(bytes.size(), 4);
  const std::string local = "PK\x03\x04" + Number(20, 2) + Number(0, 12) + sizes +
                            Number(name.size(), 2) + Number(0, 2) + name + bytes;
  const std::string central = "PK\x01\x02" + Number(20, 2) + Number(20, 2) + Number(0, 12) + sizes +
                              Number(name.size(), 2) + Number(0, 16) + name;
  return local + central + "PK\x05\x06" + Number(0, 4) + Number(1, 2) + Number(1, 2) +
         Number(central.size(), 4) + Number(local.size(), 4) + Number(0, 2);
}

// A meta tensor of one f32: it needs no record.
const std::string kTensor =
    "ctorch._utils\n_rebuild_meta_tensor_no_storage\n(ctorch\nfloat32\nK\x01\x85K\x01\x85\x89tR";

class MadeHere : public ::testing::Test {
 protected:
  Result<Catalog> Read(const std::string& pickle, bool select_all = false) {
    const std::string path = folder_.Write("a.pt", OneRecord("a/data.pkl", "\x80\x02" + pickle));
    return ReadFile(path, {.select_all = select_all});
  }
  TempFolder folder_;
};

TEST_F(MadeHere, AMillionNestedTuples) {
  const std::string deep = ")" + std::string(1000000, '\x85');
  const Result<Catalog> beside = Read("}(U\1w" + kTensor + "U\1d" + deep + "u.");
  ASSERT_TRUE(beside.ok()) << beside.error().message;
  EXPECT_THAT(Keys(*beside), ElementsAre("w"));
  const Result<Catalog> alone = Read(deep + ".");
  ASSERT_FALSE(alone.ok());
  EXPECT_EQ(alone.error().name, "no-state-dict");
  const Result<Catalog> all = Read(deep + ".", true);
  ASSERT_FALSE(all.ok());
  EXPECT_EQ(all.error().name, "nested-too-deep");
}

TEST_F(MadeHere, AListThatContainsItself) {
  const std::string pickle = "}(U\1w" + kTensor + "U\1l]q\5h\5aU\1m}q\6U\1xh\6su.";
  const Result<Catalog> plain = Read(pickle);
  ASSERT_TRUE(plain.ok()) << plain.error().message;
  EXPECT_THAT(Keys(*plain), ElementsAre("w"));
  const Result<Catalog> all = Read(pickle, true);
  ASSERT_TRUE(all.ok()) << all.error().message;
  EXPECT_THAT(Keys(*all), ElementsAre("w"));
}

// Each list holds the one before it twice: 2^60 tensors.
TEST_F(MadeHere, SharingWithoutEnd) {
  std::string lists = "](" + kTensor + "e";
  for (int i = 0; i < 60; ++i)
    lists +=
        "q\1"
        "0](h\1h\1e";
  const Result<Catalog> all = Read(lists + ".", true);
  ASSERT_FALSE(all.ok());
  EXPECT_EQ(all.error().name, "endless-sharing");
}

// A module that is its own child.
TEST_F(MadeHere, AModuleInsideItself) {
  const std::string module = "cm\nNet\n)\x81q\1}(U\x0b_parameters}U\1w" + kTensor +
                             "sU\x08_modules}U\5inner"
                             "h\1su"
                             "b.";
  const Result<Catalog> catalog = Read(module);
  ASSERT_TRUE(catalog.ok()) << catalog.error().message;
  EXPECT_THAT(Keys(*catalog), ElementsAre("w"));
  EXPECT_THAT(catalog->callables, ElementsAre("m.Net"));
}

TEST_F(MadeHere, CallsAreListedNotMade) {
  const Result<Catalog> catalog =
      Read("}(U\1w" + kTensor +
           "U\1acos\nsystem\n(U\4truetRU\1b(U\4trueisubprocess\nPopen\nU\1c"
           "cbuiltins\ngetattr\n(cos\nenviron\nU\3gettR(U\4HOMEtRu.");
  ASSERT_TRUE(catalog.ok()) << catalog.error().message;
  EXPECT_THAT(catalog->callables, ElementsAre("os.environ.get", "os.system", "subprocess.Popen"));
}

TEST_F(MadeHere, OtherZipsAreNotTaken) {
  for (const std::string name : {"model.weights.h5", "arr_0.npy", "data.pkl", "a/b/data.pkl"}) {
    const std::string path = folder_.Write("a.zip", OneRecord(name, "\x80\x02}."));
    const Result<Catalog> catalog = ReadFile(path, {});
    ASSERT_FALSE(catalog.ok());
    EXPECT_EQ(catalog.error().name, "not-a-checkpoint") << name;
  }
}

INSTANTIATE_TEST_SUITE_P(OfEach, TorchFiles, ::testing::ValuesIn(Cases()), [](const auto& info) {
  std::string name = info.param.expected.file;
  return name.substr(0, name.find('.'));
});

}  // namespace
}  // namespace rekey
