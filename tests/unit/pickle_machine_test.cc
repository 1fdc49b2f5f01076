// The pickle machine: what Python's two picklers write, opcodes by hand, and inputs that must not
// hurt.
#include "engine/formats/pickle_machine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "engine/formats/pickle_text.h"
#include "tests/support/files.h"
#include "tests/support/python.h"

namespace rekey {
namespace {

using Kind = Object::Kind;
using namespace std::string_literals;
using namespace std::string_view_literals;
using ::testing::HasSubstr;

std::string Hex(std::string_view bytes) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string hex;
  for (const unsigned char byte : bytes) {
    hex.push_back(kDigits[byte >> 4]);
    hex.push_back(kDigits[byte & 15]);
  }
  return hex;
}

std::string Float(double value) {
  uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  std::string bytes;
  for (int shift = 56; shift >= 0; shift -= 8) bytes.push_back(static_cast<char>(bits >> shift));
  return "f" + Hex(bytes);
}

// The object as tests/support/write_pickles.py spells it; calls as callee(arguments).
std::string Show(const ObjectGraph& graph, ObjectId id, int depth = 0) {
  if (depth > 20) return "...";
  const Object& object = graph[id];
  std::vector<std::string> items;
  for (const ObjectId item : object.items) items.push_back(Show(graph, item, depth + 1));
  const auto join = [&](const std::string& between) {
    std::string text;
    for (size_t i = 0; i < items.size(); ++i) text += (i == 0 ? "" : between) + items[i];
    return text;
  };
  const std::string state =
      object.state == kNoObject ? "" : "!" + Show(graph, object.state, depth + 1);
  switch (object.kind) {
    case Kind::kNone:
      return "None";
    case Kind::kBool:
      return object.integer != 0 ? "True" : "False";
    case Kind::kInt:
      return std::to_string(object.integer);
    case Kind::kBigInt:
      return object.text;
    case Kind::kFloat:
      return Float(object.real);
    case Kind::kText:
      return "t" + Hex(object.text);
    case Kind::kBytes:
      return "b" + Hex(object.text);
    case Kind::kList:
      return "[" + join(" ") + "]";
    case Kind::kTuple:
      return "(" + join(" ") + ")";
    case Kind::kSet:
      std::sort(items.begin(), items.end());
      return "<" + join(" ") + ">";
    case Kind::kDict: {
      std::string text;
      for (size_t i = 0; i + 1 < items.size(); i += 2) {
        text += (i == 0 ? "" : " ") + items[i] + ":" + items[i + 1];
      }
      return "{" + text + "}";
    }
    case Kind::kGlobal:
      return object.text;
    case Kind::kCall:
      return (object.is_new ? "new " : "") + join("") + state;
    case Kind::kPersistent:
      return "#" + join("");
    case Kind::kTensor:
      return "tensor";
  }
  return "";
}

std::string Loaded(std::string_view bytes) {
  ObjectGraph graph;
  PickleInput input(bytes);
  const Result<Pickle> pickle = LoadPickle(input, "test", graph);
  if (!pickle.ok()) return "error: " + pickle.error().message;
  return Show(graph, pickle->root);
}

TEST(PickleMachine, ReadsWhatPythonWrites) {
  TempFolder folder;
  RunPython("tests/support/write_pickles.py", {folder.path()});
  size_t read = 0;
  for (const auto& file : std::filesystem::directory_iterator(folder.path())) {
    if (file.path().extension() != ".pkl") continue;
    SCOPED_TRACE(file.path().filename().string());
    const std::string bytes = ReadAll(file.path().string());
    std::filesystem::path expected = file.path();
    EXPECT_EQ(Loaded(bytes), ReadAll(expected.replace_extension(".txt").string()));
    ++read;
  }
  EXPECT_GT(read, 600u);
}

TEST(PickleMachine, SaysHowManyBytesEachPickleTook) {
  const std::string bytes = "\x80\x02K\x07.\x80\x02K\x08.rest"s;
  ObjectGraph graph;
  PickleInput input(bytes);
  for (const int64_t value : {7, 8}) {
    const Result<Pickle> pickle = LoadPickle(input, "test", graph);
    ASSERT_TRUE(pickle.ok());
    EXPECT_EQ(pickle->bytes, 5u);
    EXPECT_EQ(graph[pickle->root].integer, value);
  }
  EXPECT_EQ(input.remaining(), 4u);
}

TEST(PickleMachine, ReadsFromAFileInWindows) {
  // A text longer than the window, then a line that grows past it.
  const std::string text(300000, 'x');
  std::string bytes = "\x80\x02(X"s + std::string("\xe0\x93\x04\x00", 4) + text;
  bytes += "V" + text + "\nt.after";
  TempFolder folder;
  const std::string path = folder.Write("pickle", "before" + bytes);
  const Result<InputFile> file = InputFile::Open(path);
  ASSERT_TRUE(file.ok());
  PickleInput input(*file, 6, file->size());
  ObjectGraph graph;
  const Result<Pickle> pickle = LoadPickle(input, "test", graph);
  ASSERT_TRUE(pickle.ok()) << pickle.error().message;
  EXPECT_EQ(pickle->bytes, bytes.size() - 5);
  const std::vector<ObjectId>& items = graph[pickle->root].items;
  ASSERT_EQ(items.size(), 2u);
  EXPECT_EQ(graph[items[0]].text, text);
  EXPECT_EQ(graph[items[1]].text, text);
}

struct Line {
  std::string bytes;
  std::string shown;
};

TEST(PickleMachine, KeepsCallsAsData) {
  const Line lines[] = {
      // REDUCE, NEWOBJ, INST, OBJ and their states.
      {"cos\nsystem\n(S'ls'\ntR.", "os.system(t6c73)"},
      {"\x80\x02"
       "cm\nC\n)\x81}U\x01"
       "aK\x01sb.",
       "new m.C()!{t61:1}"},
      {"(im\nC\n.", "new m.C()"},
      {"(K\x05im\nC\n.", "new m.C(5)"},
      {"(cm\nC\nK\x05o.", "new m.C(5)"},
      {"\x80\x04\x8c\x01m\x8c\x01"
       "C\x93)}\x92.",
       "new m.C()"},
      {"\x80\x04\x8c\x01m\x8c\x01"
       "C\x93K\x01\x85}U\x01kK\x02s\x92.",
       "new m.C((1) {t6b:2})"},
      {"\x80\x04\x8c\x03"
       "a.b\x8c\x03"
       "C.D\x93.",
       "a.b.C.D"},
      // Slots: a pair of None and a dict.
      {"cm\nC\n)\x81N}U\x01"
       "aK\x01s\x86"
       "b.",
       "new m.C()!(None {t61:1})"},
      // A call that is filled afterwards.
      {"ccollections\nOrderedDict\n)R(U\x01"
       "aK\x01U\x01"
       "bK\x02u.",
       "collections.OrderedDict(){t61:1 t62:2}"},
      {"cm\nL\n)\x81(K\x01K\x02"
       "e.",
       "new m.L()[1 2]"},
      {"cm\nL\n)\x81K\x01"
       "a.",
       "new m.L()[1]"},
      {"\x80\x04"
       "cm\nS\n)\x81(K\x01\x90.",
       "new m.S()<1>"},
      // Persistent ids.
      {"(U\x07storageK\x01tQ.", "#(t73746f72616765 1)"},
      {"Pname\n.", "#t6e616d65"},
      // Python 2's byte strings are text where they are UTF-8.
      {"U\x02\xc3\xa9.", "tc3a9"},
      {"U\x02\xff\xfe.", "bfffe"},
      {"S'a\\x00\\n\\101\\''\n.", "t61000a4127"},
      {"T\x01\x00\x00\x00x."s, "t78"},
  };
  for (const Line& line : lines) EXPECT_EQ(Loaded(line.bytes), line.shown) << line.bytes;
}

TEST(PickleMachine, MemoAndStack) {
  const Line lines[] = {
      {"]p0\n0g0\n.", "[]"},
      {"K\x01q\x05"
       "0h\x05.",
       "1"},
      {"K\x01r\xff\xff\xff\xff"
       "0j\xff\xff\xff\xff.",
       "1"},
      {"\x80\x04K\x01\x94K\x02\x94h\x00h\x01\x86."s, "(1 2)"},
      {"K\x01"
       "2\x86.",
       "(1 1)"},
      {"(K\x01K\x02"
       "1K\x03.",
       "3"},
      {"K\x03(0.", "3"},
      {"(K\x01K\x02"
       "l.",
       "[1 2]"},
      {"(K\x01K\x02"
       "d.",
       "{1:2}"},
  };
  for (const Line& line : lines) EXPECT_EQ(Loaded(line.bytes), line.shown) << Hex(line.bytes);
}

TEST(PickleMachine, ObjectsMayContainThemselves) {
  ObjectGraph graph;
  PickleInput list("]q\0h\0a."sv);
  Result<Pickle> pickle = LoadPickle(list, "test", graph);
  ASSERT_TRUE(pickle.ok());
  EXPECT_EQ(graph[pickle->root].items, std::vector<ObjectId>{pickle->root});

  PickleInput dict("}q\0K\1h\0s."sv);
  pickle = LoadPickle(dict, "test", graph);
  ASSERT_TRUE(pickle.ok());
  ASSERT_EQ(graph[pickle->root].items.size(), 2u);
  EXPECT_EQ(graph[pickle->root].items[1], pickle->root);
}

TEST(PickleMachine, RefusesWhatItCannotRead) {
  const std::string ones(8, '\xff');
  const std::string two_to_62 = std::string(7, '\0') + "\x40";
  const Line lines[] = {
      {"", "cut short"},
      {"\x80", "cut short"},
      {"K", "cut short"},
      {"\x80\x02K\x01", "cut short"},
      {"\x80\x06.", "protocol 6"},
      {".", "more from the stack"},
      {"R.", "more from the stack"},
      {"K\x01"
       "b.",
       "needs an object"},
      {"K\x01K\x02"
       "b.",
       "a state for an object that has none"},
      {"K\x01K\x02R.", "no tuple"},
      {"t.", "needs a mark"},
      {"u.", "needs a mark"},
      {"](\x90.", "takes none"},
      {"}(K\x01u.", "a key without its value"},
      {"}K\x01"
       "a.",
       "takes none"},
      {"cm\nC\n)\x81K\x01"
       "aK\x01K\x02s.",
       "as a dict and as a list"},
      {"h\x05.", "slot 5 was never filled"},
      {"gx\n.", "slot that is no number"},
      {"p0\n.", "needs an object"},
      {"\x82\x01.", "extension code"},
      {"\x83\x01\x01.", "extension code"},
      {"\x84\x01\x01\x01\x01.", "extension code"},
      {"\x97.", "outside of the pickle"},
      {"K\x01\x98.", "outside of the pickle"},
      {"\xfe.", "no opcode"},
      {"S'open\n.", "broken escape"},
      {"S'\\x4'\n.", "broken escape"},
      {"V\\u12\n.", "broken escape"},
      {"I12a\n.", "no number"},
      {"F1.5x\n.", "no number"},
      {"S'no line feed'", "cut short"},
      {"X\x05\x00\x00\x00"
       "abc."s,
       "length of 5 where 4 bytes remain"},
      {"\x8d" + two_to_62 + "abc", "length of 4611686018427387904"},
      {"\x8e" + ones + "abc", "length of 18446744073709551615"},
      {"\x96" + ones, "length of 18446744073709551615"},
      {"\x8b\xff\xff\xff\x7f"
       "abc",
       "length of 2147483647"},
      {"\x95" + ones + "N.", "a frame of"},
      {"\x8b\x00\x08\x00\x00"s + std::string(2048, '\1') + ".", "integer of 2048 bytes"},
      {"c\xff\nx\n.", "not UTF-8"},
      {"K\x01K\x02\x93.", "no text"},
  };
  for (const Line& line : lines) {
    const std::string shown = Loaded(line.bytes);
    EXPECT_THAT(shown, HasSubstr("error: ")) << Hex(line.bytes);
    EXPECT_THAT(shown, HasSubstr(line.shown)) << Hex(line.bytes);
  }
}

TEST(PickleMachine, NestsWithoutEnd) {
  const std::string deep = ")" + std::string(1000000, '\x85') + ".";
  ObjectGraph graph;
  PickleInput input(deep);
  ASSERT_TRUE(LoadPickle(input, "test", graph).ok());
  EXPECT_EQ(graph.size(), 1000001u);

  const std::string marks = std::string(1000000, '(') + "N.";
  PickleInput marked(marks);
  EXPECT_TRUE(LoadPickle(marked, "test", graph).ok());
}

TEST(PickleText, Integers) {
  EXPECT_EQ(DecimalOfLittleEndian(""), "0");
  EXPECT_EQ(DecimalOfLittleEndian("\x80"), "-128");
  EXPECT_EQ(DecimalOfLittleEndian("\xff"), "-1");
  EXPECT_EQ(DecimalOfLittleEndian(std::string("\0\0\0\0\0\0\0\0\1", 9)), "18446744073709551616");
  EXPECT_EQ(DecimalOfLittleEndian("\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19"),
            "119547037146038801333356");
}

}  // namespace
}  // namespace rekey
