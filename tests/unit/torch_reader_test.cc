// torch files of tests/data/distributed: keys in torch's order, ties, and every value bit for bit.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

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

INSTANTIATE_TEST_SUITE_P(OfEach, TorchFiles, ::testing::ValuesIn(Cases()), [](const auto& info) {
  std::string name = info.param.expected.file;
  return name.substr(0, name.find('.'));
});

}  // namespace
}  // namespace rekey
