#include "engine/selftest.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/support/files.h"
#include "tests/support/programs.h"

namespace rekey {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TestReport RunText(const std::string& text) { return RunTests(ParseText(text), {}); }

// What the one test of a file says; "" when it passes.
std::string Failures(const std::string& text) {
  const TestReport report = RunText(text);
  EXPECT_THAT(report.diagnostics, IsEmpty()) << InWords(report.diagnostics);
  EXPECT_EQ(report.tests.size(), 1u);
  return report.tests.empty() ? "no test" : InWords(report.tests[0].diagnostics);
}

TEST(SelfTest, ArrowsRunAlone) {
  EXPECT_EQ(Failures("strip? all \"module.\" \"_orig_mod.\"\n"
                     "drop opt.{x:any}\n"
                     "keep norm\n"
                     "map a.{i:int} -> b.{i + 1}\n"
                     "test \"t\" {\n"
                     "  module._orig_mod.module.a.2 => b.3\n"
                     "  a.3 => b.4\n"
                     "  opt.step => dropped\n"
                     "  norm => kept\n"
                     "  other => passed\n"
                     "  module.other => other\n"
                     "}\n"),
            "");
}

TEST(SelfTest, ArrowsThatDoNotHold) {
  const std::string rules = "drop opt\nkeep norm\nmap a -> b\nelse error \"left over\"\n";
  const auto failure = [&](const std::string& line) {
    return Failures(rules + "test \"t\" {\n  " + line + "\n}\n");
  };
  EXPECT_THAT(failure("a => c"), HasSubstr("`a` becomes `b`, not `c`"));
  EXPECT_THAT(failure("a => c"), HasSubstr("test.rekey:6:3"));
  EXPECT_THAT(failure("a => dropped"), HasSubstr("`a` becomes `b`, not dropped"));
  EXPECT_THAT(failure("a => kept"), HasSubstr("`a` becomes `b`, not kept"));
  EXPECT_THAT(failure("norm => passed"), HasSubstr("`norm` becomes `norm` (kept), not passed"));
  EXPECT_THAT(failure("opt => opt"), HasSubstr("`opt` is dropped, not `opt`"));
  EXPECT_THAT(failure("x => x"), HasSubstr("left over"));
}

TEST(SelfTest, GuardsOnShapesHoldForNames) {
  EXPECT_EQ(Failures("map a -> b if rank == 2\ntest \"t\" {\n  a => b\n}\n"), "");
  EXPECT_EQ(Failures("map a{i:int} -> b{i} if i > 1\ntest \"t\" {\n  a1 => passed\n}\n"), "");
}

TEST(SelfTest, GivenTensorsRunForReal) {
  EXPECT_EQ(Failures("param n = 2\n"
                     "map l.{i:int}.w -> layers.{i}.weight\n"
                     "drop step\n"
                     "test \"t\" {\n"
                     "  with n = 3\n"
                     "  given l.{i}.w : bf16[2, n] for i in 0..n\n"
                     "  given v = [[1, 2], [3, 4.5]]\n"
                     "  given u : u8[2] = [7, 255]\n"
                     "  given step : i64 = 3\n"
                     "  expect layers.{i}.weight : bf16[2, 3] for i in 0..n\n"
                     "  expect v : f32[2, 2]\n"
                     "  expect v = [[1, 2], [3, 4.5]]\n"
                     "  expect u = [7, 255]\n"
                     "  expect layers.0.weight = [[0, 0, 0], [0, 0, 0]]\n"
                     "  expect no step\n"
                     "  expect count n + 2\n"
                     "}\n"),
            "");
}

TEST(SelfTest, WrongValuesAreFound) {
  const auto failure = [&](const std::string& expect) {
    return Failures("map a -> b\ntest \"t\" {\n  given a : f16[2, 2] = [[1, 2], [3, 4]]\n  " +
                    expect + "\n}\n");
  };
  EXPECT_EQ(failure("expect b = [[1, 2], [3, 4]]"), "");
  EXPECT_THAT(failure("expect b = [[1, 2], [5, 4]]"), HasSubstr("`b` at [1, 0] is 3, not 5"));
  EXPECT_THAT(failure("expect b = [1, 2, 3, 4]"), HasSubstr("`b` has the shape [2, 2], not [4]"));
  EXPECT_THAT(failure("expect b : f32[2, 2]"), HasSubstr("`b` is f16[2, 2], not f32[2, 2]"));
  EXPECT_THAT(failure("expect a"), HasSubstr("the rules put out no `a`"));
  EXPECT_THAT(failure("expect no b"), HasSubstr("must not be there"));
  EXPECT_THAT(failure("expect count 2"), HasSubstr("1 tensor, not 2"));
}

TEST(SelfTest, ExpectedErrors) {
  const auto failure = [&](const std::string& expect) {
    return Failures("map a -> c\nmap b -> c\ntest \"t\" {\n  given a = 1\n  given b = 2\n  " +
                    expect + "\n}\n");
  };
  EXPECT_EQ(failure("expect error"), "");
  EXPECT_EQ(failure("expect error \"`c`\""), "");
  EXPECT_THAT(failure("expect error \"no such words\""), HasSubstr("expects an error that says"));
  EXPECT_THAT(failure("expect c"), HasSubstr("error: "));
  EXPECT_THAT(Failures("map a -> c\ntest \"t\" {\n  given a = 1\n  expect error\n}\n"),
              HasSubstr("the test expects an error, and there is none"));
}

// Example 07 of the language: bytes are compared, so the test runs to the end.
TEST(SelfTest, DropSameAsReadsTheBytes) {
  const std::string rules = "drop? head same as embed\nelse pass\ntest \"t\" {\n";
  EXPECT_EQ(Failures(rules + "  given embed = [[1, 2]]\n  given head = [[1, 2]]\n"
                             "  expect no head\n  expect embed = [[1, 2]]\n}\n"),
            "");
  EXPECT_EQ(Failures(rules + "  given embed = [[1, 2]]\n  given head = [[9, 9]]\n"
                             "  expect error \"differ\"\n}\n"),
            "");
}

TEST(SelfTest, BadGivens) {
  const auto failure = [&](const std::string& given) {
    return Failures("else pass\ntest \"t\" {\n  " + given + "\n}\n");
  };
  EXPECT_THAT(failure("given a : u8 = 256"), HasSubstr("256 does not fit u8"));
  EXPECT_THAT(failure("given a : f32[3] = [1, 2]"), HasSubstr("the shape [2], not [3]"));
  EXPECT_THAT(failure("given a = [[1], [2, 3]]"), HasSubstr("[ragged-literal]"));
  EXPECT_THAT(failure("given a = 1\n  given a = 2"), HasSubstr("`a` is given twice"));
}

TEST(SelfTest, FileExpectsAndStrictAreOff) {
  EXPECT_EQ(Failures("strict\nmap a -> b\nmap c -> d\nelse pass\nexpect d\n"
                     "test \"t\" {\n  given a = 1\n  expect b = 1\n}\n"),
            "");
}

TEST(SelfTest, Coverage) {
  const TestReport report = RunText(
      "strip \"module.\"\nstrip \"x.\"\nmap a -> b\nmap c -> d\ndrop e\n"
      "test \"one\" {\n  module.a => b\n}\n"
      "test \"two\" {\n  given e = 1\n  expect count 0\n}\n");
  EXPECT_TRUE(report.passed()) << InWords(report.tests[1].diagnostics);
  std::vector<std::string> uncovered;
  for (const Span& span : report.uncovered) uncovered.emplace_back(span.Text());
  EXPECT_THAT(uncovered, ElementsAre("strip \"x.\"", "map c -> d"));
}

TEST(SelfTest, FileThatDoesNotCompile) {
  const TestReport report = RunText("map {x:nosuch} -> b\ntest \"t\" {\n  a => b\n}\n");
  EXPECT_FALSE(report.passed());
  EXPECT_THAT(report.tests, IsEmpty());
  EXPECT_THAT(InWords(report.diagnostics), HasSubstr("nosuch"));
}

TEST(SelfTest, FailuresNameTheirTest) {
  const TestReport report =
      RunText("map a -> b\ntest \"good\" {\n  a => b\n}\ntest \"bad\" {\n  a => c\n}\n");
  ASSERT_EQ(report.tests.size(), 2u);
  EXPECT_TRUE(report.tests[0].passed());
  EXPECT_EQ(report.tests[1].name, "bad");
  EXPECT_FALSE(report.tests[1].passed());
  EXPECT_FALSE(report.passed());
}

// The files of the language's reference that use names alone.
TEST(SelfTest, LanguageExamples) {
  for (const char* name : {"01_unwrap", "02_bert_tf", "03_megatron_llama", "04_moe", "07_tied"}) {
    const LoadedRules rules = LoadRules(DataPath(std::string("rules/") + name + ".rekey"));
    ASSERT_TRUE(rules.file) << InWords(rules.diagnostics);
    const TestReport report = RunTests(rules.file, {});
    EXPECT_FALSE(report.tests.empty());
    EXPECT_THAT(report.diagnostics, IsEmpty()) << InWords(report.diagnostics);
    for (const TestCase& test : report.tests) {
      EXPECT_TRUE(test.passed()) << name << ": " << test.name << "\n" << InWords(test.diagnostics);
    }
  }
}

}  // namespace
}  // namespace rekey
