#include "engine/check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/support/programs.h"

namespace rekey {
namespace {

using ::testing::HasSubstr;

// The messages of one file's expects on three outputs.
std::string Check(const std::string& expects, std::vector<ExpectedValue>* values = nullptr) {
  const Program program = CompileText("param n: int = 2\nelse pass\n" + expects);
  const Catalog catalog =
      CatalogOf({{"layers.0.w", {2, 3}}, {"layers.1.w", {2, 3}}, {"norm", {4}, DType::kBF16}});
  const Rewritten rewritten = Rewrite(program, catalog, {});
  return InWords(CheckExpects(program.expects, rewritten, values));
}

TEST(CheckTest, WhatHoldsSaysNothing) {
  EXPECT_EQ(Check("expect layers.{i}.w : f32[n, n + 1] for i in 0..n\n"
                  "expect norm : bf16\n"
                  "expect norm : bf16[4]\n"
                  "expect norm\n"
                  "expect count n + 1\n"
                  "expect no {x:any}.bias\n"
                  "expect /layers\\..*/ : f32[2, 3]\n"),
            "");
}

TEST(CheckTest, MissingKeyNamesTheNearest) {
  const std::string text = Check("expect layers.{i}.w for i in 0..3\n");
  EXPECT_THAT(text, HasSubstr("the rules put out no `layers.2.w` [expect]"));
  EXPECT_THAT(text, HasSubstr("test.rekey:3:1"));
  EXPECT_THAT(Check("expect nrom"), HasSubstr("there is `norm`"));
}

TEST(CheckTest, DroppedKeySaysSo) {
  const Program program = CompileText("drop norm\nelse pass\nexpect norm\n");
  const Catalog catalog = CatalogOf({{"a"}, {"norm"}});
  const Rewritten rewritten = Rewrite(program, catalog, {});
  EXPECT_THAT(InWords(CheckExpects(program.expects, rewritten, nullptr)),
              HasSubstr("`norm` is dropped"));
}

TEST(CheckTest, TypesAndShapes) {
  EXPECT_THAT(Check("expect norm : f32"), HasSubstr("`norm` is bf16[4], not f32"));
  EXPECT_THAT(Check("expect norm : bf16[n]"), HasSubstr("`norm` is bf16[4], not bf16[2]"));
  EXPECT_THAT(Check("expect norm : bf16[]"), HasSubstr("not bf16[]"));
  EXPECT_THAT(Check("expect /layers.*/ : f32[2]"), HasSubstr("`layers.0.w` is f32[2, 3]"));
  EXPECT_THAT(Check("expect /blocks.*/ : f32[2]"), HasSubstr("no output fits /blocks.*/"));
}

TEST(CheckTest, CountsAndBannedKeys) {
  EXPECT_THAT(Check("expect count 4"), HasSubstr("the rules put out 3 tensors, not 4"));
  const std::string text = Check("expect no layers.{i:int}.w");
  EXPECT_THAT(text, HasSubstr("`layers.0.w` and 1 more that must not be there"));
  EXPECT_THAT(text, HasSubstr("also `layers.1.w`"));
}

TEST(CheckTest, LoopOverKeys) {
  EXPECT_EQ(Check("expect {p}.{i}.w : f32 for {p}.{i:int}.w"), "");
  EXPECT_THAT(Check("expect {p}.{i}.b for {p}.{i:int}.w"), HasSubstr("no `layers.1.b`"));
}

TEST(CheckTest, LoopsAreBounded) {
  EXPECT_THAT(Check("expect l.{i} for i in 0..9000000000"), HasSubstr("[loop-range]"));
  EXPECT_EQ(Check("expect l.{i} for i in 5..5"), "");
  // Twenty messages say as much as a thousand.
  const std::string text = Check("expect l.{i} for i in 0..1000");
  EXPECT_THAT(text, HasSubstr("`l.19`"));
  EXPECT_THAT(text, testing::Not(HasSubstr("`l.20`")));
}

TEST(CheckTest, ValuesAreHandedBack) {
  EXPECT_THAT(Check("expect norm = [1, 2, 3, 4]"), HasSubstr("not known before the run"));
  std::vector<ExpectedValue> values;
  EXPECT_EQ(Check("expect norm = [1, 2, 3, n]", &values), "");
  ASSERT_EQ(values.size(), 1u);
  EXPECT_EQ(values[0].output, 2u);
  EXPECT_EQ(ToString(values[0].value), "[1, 2, 3, 2]");
}

}  // namespace
}  // namespace rekey
