#include "engine/json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/files.h"

namespace rekey {
namespace {

using ::testing::HasSubstr;
using Kind = Object::Kind;

// The tree on one line: kinds by their first letter.
std::string Print(const ObjectGraph& graph, ObjectId id) {
  const Object& object = graph[id];
  switch (object.kind) {
    case Kind::kNone:
      return "none";
    case Kind::kBool:
      return object.integer ? "true" : "false";
    case Kind::kInt:
      return "i" + std::to_string(object.integer);
    case Kind::kBigInt:
      return "big" + object.text;
    case Kind::kFloat:
      return "f" + std::to_string(object.real);
    case Kind::kText:
      return "'" + object.text + "'";
    default: {
      std::string text = object.kind == Kind::kDict ? "{" : "[";
      for (ObjectId item : object.items) text += Print(graph, item) + " ";
      return text + (object.kind == Kind::kDict ? "}" : "]");
    }
  }
}

std::string Parse(std::string_view text) {
  ObjectGraph graph;
  const Result<ObjectId> root = ParseJson(text, "x.json", graph);
  return root.ok() ? Print(graph, *root) : "error: " + root.error().message;
}

TEST(Json, BuildsTheTree) {
  EXPECT_EQ(Parse(R"({"a": [1, -2, 3.5, true, false, null], "b": {"c": "x\u00e9\n"}})"),
            "{'a' [i1 i-2 f3.500000 true false none ] 'b' {'c' 'x\u00e9\n' } }");
  EXPECT_EQ(Parse(" [] "), "[]");
  EXPECT_EQ(Parse("{}"), "{}");
  EXPECT_EQ(Parse("7"), "i7");
  EXPECT_EQ(Parse("\"\\ud83d\\ude00\""), "'\U0001f600'");
}

TEST(Json, KeepsNumbersExactly) {
  EXPECT_EQ(Parse("9223372036854775807"), "i9223372036854775807");
  EXPECT_EQ(Parse("-9223372036854775808"), "i-9223372036854775808");
  EXPECT_EQ(Parse("9223372036854775808"), "big9223372036854775808");
  EXPECT_EQ(Parse("-123456789012345678901234567890"), "big-123456789012345678901234567890");
  EXPECT_EQ(Parse("1e-400"), "f0.000000");
  EXPECT_THAT(Parse("1e400"), HasSubstr("error"));
  ObjectGraph graph;
  // The nearest doubles, as any correct parser gives them.
  for (const auto& [text, value] :
       {std::pair("0.1", 0.1), std::pair("1e-05", 1e-05), std::pair("10000.0", 10000.0),
        std::pair("1E+2", 100.0), std::pair("2.2250738585072014e-308", 2.2250738585072014e-308)}) {
    const Result<ObjectId> id = ParseJson(text, "x", graph);
    ASSERT_TRUE(id.ok()) << text;
    EXPECT_EQ(graph[*id].kind, Kind::kFloat);
    EXPECT_EQ(graph[*id].real, value) << text;
  }
  // Python writes these.
  for (const char* text : {"Infinity", "-Infinity", "NaN"}) {
    const Result<ObjectId> id = ParseJson(text, "x", graph);
    ASSERT_TRUE(id.ok()) << text;
    EXPECT_EQ(std::isnan(graph[*id].real), *text == 'N');
    EXPECT_EQ(std::isinf(graph[*id].real), *text != 'N');
    EXPECT_EQ(graph[*id].real < 0, *text == '-');
  }
}

TEST(Json, SaysWhereItFails) {
  EXPECT_THAT(Parse("{\n\"a\": 1,\n}"), HasSubstr("`x.json` is not JSON that can be read, line 3"));
  EXPECT_THAT(Parse(""), HasSubstr("error"));
  EXPECT_THAT(Parse("{} {}"), HasSubstr("error"));
  EXPECT_THAT(Parse(std::string_view("{}\0{}", 5)), HasSubstr("NUL"));
  EXPECT_THAT(Parse("{\"a\": 1, \"b\": 2, \"a\": 3}"), HasSubstr("`a` stands twice"));
  EXPECT_THAT(Parse("\"\xff\""), HasSubstr("ncoding"));
  EXPECT_THAT(Parse("\"\\udc00\""), HasSubstr("UTF-8"));
  EXPECT_THAT(Parse("[1, 2"), HasSubstr("error"));
  EXPECT_THAT(Parse("01"), HasSubstr("error"));
  EXPECT_THAT(Parse("'a'"), HasSubstr("error"));
}

TEST(Json, BoundsItsDepth) {
  const auto nested = [](size_t depth) {
    return std::string(depth, '[') + std::string(depth, ']');
  };
  EXPECT_THAT(Parse(nested(kMaxJsonDepth)), ::testing::StartsWith("["));
  EXPECT_THAT(Parse(nested(kMaxJsonDepth + 1)), HasSubstr("nested deeper"));
  EXPECT_THAT(Parse(std::string(2'000'000, '[')), HasSubstr("nested deeper"));
}

TEST(Json, ReadsFiles) {
  TempFolder folder;
  ObjectGraph graph;
  const Result<ObjectId> root = ReadJsonFile(folder.Write("params.json", "{\"dim\": 4096}"), graph);
  ASSERT_TRUE(root.ok());
  EXPECT_EQ(graph[graph.Child(*root, "dim")].integer, 4096);
  EXPECT_FALSE(ReadJsonFile(folder.Path("absent.json"), graph).ok());
}

// Unicode 15, table 3-7: the edges of every row.
TEST(Utf8, KnowsWellFormedText) {
  for (const char* text :
       {"", "ascii only, and longer than eight", "\xc2\x80", "\xdf\xbf", "\xe0\xa0\x80",
        "\xec\xbf\xbf", "\xed\x80\x80", "\xed\x9f\xbf", "\xee\x80\x80", "\xef\xbf\xbf",
        "\xf0\x90\x80\x80", "\xf3\xbf\xbf\xbf", "\xf4\x8f\xbf\xbf",
        "12345678\xc3\xa9"
        "12345678"}) {
    EXPECT_TRUE(IsUtf8(text)) << text;
  }
  for (const char* text :
       {"\x80", "\xbf", "\xc0\x80", "\xc1\xbf", "\xc2", "\xc2\x7f", "\xe0\x9f\xbf", "\xe0\xa0",
        "\xed\xa0\x80", "\xed\xbf\xbf", "\xf0\x8f\xbf\xbf", "\xf4\x90\x80\x80", "\xf5\x80\x80\x80",
        "\xff", "\xe1\x80\xc0", "\xf1\x80\x80\xc0", "1234567\xc3", "12345678\xe2\x82"}) {
    EXPECT_FALSE(IsUtf8(text)) << text;
  }
}

}  // namespace
}  // namespace rekey
