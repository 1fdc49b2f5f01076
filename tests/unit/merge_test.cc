// Merge, split, operations and fill, from rule text to tensors' types.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "engine/rewrite.h"
#include "tests/support/rules.h"

namespace rekey {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

TEST(Merge, OrdersByNumberNotByText) {
  std::vector<std::string> lines;
  for (const int e : {0, 1, 10, 2, 3, 4, 5, 6, 7, 8, 9})
    lines.push_back("e." + std::to_string(e) + ".w: f32[2, 3]");
  const Keys keys(lines);
  const Remap run("merge e.{e:int}.w -> fused by e | stack(0)\n", keys);
  ASSERT_TRUE(run.ok()) << run.text();
  EXPECT_THAT(run.types(), ElementsAre("fused: f32[11, 2, 3]"));
  EXPECT_THAT(run.moves(), ElementsAre("fused <- e.0.w, e.1.w, e.2.w, e.3.w, e.4.w, e.5.w, e.6.w, "
                                       "e.7.w, e.8.w, e.9.w, e.10.w"));
}

TEST(Merge, AListIsTheInnerLevel) {
  const Keys keys({"l.0.e.0.w3: f32[4, 6]", "l.0.e.0.w1: f32[4, 6]", "x: f32[1]",
                   "l.0.e.1.w1: f32[4, 6]", "l.0.e.1.w3: f32[4, 6]", "l.1.e.1.w3: f32[4, 6]",
                   "l.1.e.0.w1: f32[4, 6]", "l.1.e.1.w1: f32[4, 6]", "l.1.e.0.w3: f32[4, 6]"});
  const Remap run(
      "merge [l.{i:int}.e.{e:int}.w1, l.{i:int}.e.{e:int}.w3] -> l.{i}.gate_up by e in 0..2\n"
      "  | cat(0) | stack(0)\n",
      keys);
  ASSERT_TRUE(run.ok()) << run.text();
  EXPECT_THAT(run.moves(),
              ElementsAre("l.0.gate_up <- l.0.e.0.w1, l.0.e.0.w3, l.0.e.1.w1, l.0.e.1.w3", "x <- x",
                          "l.1.gate_up <- l.1.e.0.w1, l.1.e.0.w3, l.1.e.1.w1, l.1.e.1.w3"));
  EXPECT_THAT(run.types(),
              ElementsAre("l.0.gate_up: f32[2, 8, 6]", "x: f32[1]", "l.1.gate_up: f32[2, 8, 6]"));
  EXPECT_EQ(run.rewritten().rules[0][0].claimed, 8u);
  EXPECT_EQ(run.rewritten().rules[0][0].made, 2u);
}

TEST(Merge, IncompleteGroupsFallToLaterRules) {
  const Keys keys(
      {"a.weight: f8_e4m3[256, 128]", "norm.weight: bf16[128]", "a.weight_scale_inv: f32[2, 1]"});
  const Remap run(
      "merge [{p:any}.weight, {p:any}.weight_scale_inv] -> {p}.weight | dequant_block(128, 128)\n"
      "map norm.{w} -> n.{w}\n",
      keys);
  ASSERT_TRUE(run.ok()) << run.text();
  EXPECT_THAT(run.types(), ElementsAre("a.weight: f32[256, 128]", "n.weight: bf16[128]"));
  const Keys plain({"a.weight: f32[1]", "b.weight: f32[1]"});
  const Remap unused("merge [{p:any}.weight, {p:any}.scale] -> {p}.w | lora(1)\n", plain);
  EXPECT_THAT(unused.lints(), Contains("reducing-operations").Times(0));
}

TEST(Merge, AnUnusedMergeSaysWhatItsGroupsLack) {
  const Keys keys({"a.weight: f32[1]"});
  const Remap run("merge [{p:any}.weight, {p:any}.scale] -> {p}.w | cat(0)\n", keys);
  EXPECT_THAT(run.lints(), Contains("unused-rule"));
  EXPECT_THAT(run.text(), HasSubstr("no group is complete"));
}

TEST(Merge, GapsNameTheMissingKey) {
  const Keys keys({"e.00.w: f32[1]", "e.02.w: f32[1]", "e.01.v: f32[1]"});
  const Remap run("merge e.{e:int}.w -> fused by e | stack(0)\n", keys);
  EXPECT_FALSE(run.ok());
  EXPECT_THAT(run.lints(), Contains("merge-gap"));
  EXPECT_THAT(run.text(), HasSubstr("`e.01.w`"));
  const Keys seven({"m.0.e.0.w1: f32[1]", "m.0.e.0.w3: f32[1]", "m.0.e.1.w1: f32[1]"});
  const Remap list(
      "merge [m.{i:int}.e.{e:int}.w1, m.{i:int}.e.{e:int}.w3] -> m.{i}.x by e | cat(0) | "
      "stack(0)\n",
      seven);
  EXPECT_THAT(list.text(), HasSubstr("lacks `m.0.e.1.w3`"));
}

TEST(Merge, NoMemberCompleteIsNoMistake) {
  const Keys keys({"e.0.w1: f32[1]", "e.1.w3: f32[1]"});
  const Remap run("merge? [e.{e:int}.w1, e.{e:int}.w3] -> x by e | cat(0) | stack(0)\n", keys);
  ASSERT_TRUE(run.ok()) << run.text();
  EXPECT_THAT(run.outputs(), ElementsAre("e.0.w1", "e.1.w3"));
}

TEST(Merge, ARangeSaysHowMany) {
  const Keys keys({"e.0.w: f32[1]", "e.1.w: f32[1]", "e.2.w: f32[1]"});
  const Remap few("merge e.{e:int}.w -> x by e in 0..4 | stack(0)\n", keys);
  EXPECT_THAT(few.text(), HasSubstr("lacks `e.3.w`"));
  const Remap many("merge e.{e:int}.w -> x by e in 0..2 | stack(0)\n", keys);
  EXPECT_THAT(many.lints(), Contains("merge-range"));
  EXPECT_THAT(many.text(), HasSubstr("`e.2.w` lies outside 0..2"));
  const Remap huge("merge e.{e:int}.w -> x by e in 0..1000000000000 | stack(0)\n", keys);
  EXPECT_THAT(huge.text(), HasSubstr("lacks `e.3.w`"));
}

TEST(Merge, TwoWritingsOfOneNumber) {
  const Keys keys({"e.2.w: f32[1]", "e.02.w: f32[1]"});
  const Remap run("merge e.{e:int}.w -> x by e | stack(0)\n", keys);
  EXPECT_THAT(run.text(), AllOf(HasSubstr("`2`"), HasSubstr("`02`")));
  EXPECT_FALSE(run.ok());
}

TEST(Merge, TwoLevelsMayBeUneven) {
  const Keys keys({"r.1.s.0.w: f32[2]", "r.0.s.1.w: f32[2]", "r.0.s.0.w: f32[2]"});
  const Remap run("merge r.{a:int}.s.{b:int}.w -> x by a, b | cat(0) | cat(0)\n", keys);
  ASSERT_TRUE(run.ok()) << run.text();
  EXPECT_THAT(run.moves(), ElementsAre("x <- r.0.s.0.w, r.0.s.1.w, r.1.s.0.w"));
  EXPECT_THAT(run.types(), ElementsAre("x: f32[6]"));
}

TEST(Merge, WordsInTheirWrittenOrder) {
  const Keys keys({"l.v: f32[1]", "l.q: f32[2]", "l.k: f32[3]"});
  const Remap run("merge l.{w:q|k|v} -> l.qkv by w | cat(0)\n", keys);
  ASSERT_TRUE(run.ok()) << run.text();
  EXPECT_THAT(run.moves(), ElementsAre("l.qkv <- l.q, l.k, l.v"));
  const Keys two({"l.q: f32[2]", "l.v: f32[3]"});
  EXPECT_THAT(Remap("merge l.{w:q|k|v} -> l.qkv by w | cat(0)\n", two).text(),
              HasSubstr("lacks `l.k`"));
}

TEST(Merge, SameOverWhateverFits) {
  const Keys keys({"tp0.norm: f32[2]", "tp1.norm: f32[2]", "tp2.norm: f32[2]"});
  const Remap run("merge tp{_:int}.norm -> norm | same\n", keys);
  ASSERT_TRUE(run.ok()) << run.text();
  EXPECT_THAT(run.types(), ElementsAre("norm: f32[2]"));
  ASSERT_EQ(run.rewritten().must_equal.size(), 1u);
  EXPECT_THAT(run.rewritten().must_equal[0].keys, ElementsAre("tp0.norm", "tp1.norm", "tp2.norm"));
}

TEST(Merge, OneKeyInTwoGroups) {
  const Keys keys({"a.0.w: f32[1]", "a.1.w: f32[1]", "shared: f32[1]"});
  const Remap run("merge [a.{i:int}.w, shared] -> a.{i}.x | cat(0)\n", keys);
  EXPECT_FALSE(run.ok());
  EXPECT_THAT(run.text(), HasSubstr("`shared` would be merged twice"));
}

TEST(Merge, TwoGroupsOneTarget) {
  const Keys keys({"p0.t0.w: f32[1]", "p0.t1.w: f32[1]", "p1.t0.w: f32[1]", "p1.t1.w: f32[1]"});
  const Remap run("merge p{p:int}.t{t:int}.w -> w by t | cat(0)\n", keys);
  EXPECT_THAT(run.lints(), Contains("collision"));
}

TEST(Merge, GuardsHoldBeforeGrouping) {
  const Keys keys({"t0.w: f32[1]", "t1.w: f32[1]", "t2.w: f32[]"});
  const Remap run("merge t{t:int}.w -> w by t if rank == 1 | cat(0)\n", keys);
  ASSERT_TRUE(run.ok()) << run.text();
  EXPECT_THAT(run.moves(), ElementsAre("w <- t0.w, t1.w", "t2.w <- t2.w"));
}

TEST(Merge, ShapesThatDoNotFitNameTheKeys) {
  const Keys keys({"t0.w: f32[1, 2]", "t1.w: f32[1, 3]"});
  const Remap run("merge t{t:int}.w -> w by t | cat(0)\n", keys);
  EXPECT_FALSE(run.ok());
  EXPECT_THAT(run.text(), AllOf(HasSubstr("`t0.w` f32[1, 2]"), HasSubstr("`t1.w` f32[1, 3]"),
                                HasSubstr("for `w`")));
}

TEST(Merge, TheOrderOfKeysDoesNotMatter) {
  std::vector<std::string> lines;
  for (int i = 0; i < 3; ++i)
    for (int e = 0; e < 12; ++e)
      for (const char* w : {"w1", "w3"})
        lines.push_back("l." + std::to_string(i) + ".e." + std::to_string(e) + "." + w +
                        ": f32[2, 2]");
  lines.push_back("l.3.e.0.w1: f32[2, 2]");
  lines.push_back("l.4.e.1.w3: f32[2, 2]");
  std::vector<std::string> sorted;
  std::mt19937 random(3);
  for (int round = 0; round < 20; ++round) {
    const Keys keys(lines);
    const Remap run(
        "merge [l.{i:int}.e.{e:int}.w1, l.{i:int}.e.{e:int}.w3] -> l.{i} by e in 0..12 | cat(0) | "
        "stack(0)\nmap l.{i:int}.e.{e:int}.{w} -> left.{i}.{e}.{w}\n",
        keys);
    ASSERT_TRUE(run.ok()) << run.text();
    std::vector<std::string> moves = run.moves();
    std::sort(moves.begin(), moves.end());
    if (round == 0) sorted = moves;
    ASSERT_EQ(moves, sorted);
    ASSERT_EQ(moves.size(), 5u);
    std::shuffle(lines.begin(), lines.end(), random);
  }
}

TEST(Map, OperationsChangeTypes) {
  const Keys keys({"a: f32[4, 6]", "b: f32[4]"});
  const Remap run("map a -> x | transpose | reshape(dim(0) / 2, -1)\nmap b | cast(bf16)\n", keys);
  ASSERT_TRUE(run.ok()) << run.text();
  EXPECT_THAT(run.types(), ElementsAre("x: f32[3, 8]", "b: bf16[4]"));
  const Remap bad("map b -> x | transpose\n", keys);
  EXPECT_THAT(bad.text(), HasSubstr("for `b`, f32[4]"));
}

TEST(Split, OneTargetAPiece) {
  const Keys keys({"l.0.qkv: f32[12, 4]", "x: f32[1]"});
  const Remap run(
      "split l.{i:int}.qkv -> [l.{i}.q, l.{i}.k, l.{i}.v] | reshape(2, 6, 4)\n"
      "  | sections(1, [4, 1, 1]) | reshape(-1, 4)\n",
      keys);
  ASSERT_TRUE(run.ok()) << run.text();
  EXPECT_THAT(run.types(),
              ElementsAre("l.0.q: f32[8, 4]", "l.0.k: f32[2, 4]", "l.0.v: f32[2, 4]", "x: f32[1]"));
}

TEST(Split, ByNumberFromTheShapeOrARange) {
  const Keys keys({"fused: f32[3, 8, 2]"});
  EXPECT_THAT(Remap("split fused -> e.{e}.w by e | unstack(0)\n", keys).types(),
              ElementsAre("e.0.w: f32[8, 2]", "e.1.w: f32[8, 2]", "e.2.w: f32[8, 2]"));
  const Remap both("split fused -> [e.{e}.w1, e.{e}.w3] by e in 0..3 | unstack(0) | chunk(0)\n",
                   keys);
  EXPECT_THAT(both.types(),
              ElementsAre("e.0.w1: f32[4, 2]", "e.0.w3: f32[4, 2]", "e.1.w1: f32[4, 2]",
                          "e.1.w3: f32[4, 2]", "e.2.w1: f32[4, 2]", "e.2.w3: f32[4, 2]"))
      << both.text();
  EXPECT_THAT(Remap("split fused -> e.{e}.w by e in 2..4 | chunk(1)\n", keys).types(),
              ElementsAre("e.2.w: f32[3, 4, 2]", "e.3.w: f32[3, 4, 2]"));
  EXPECT_FALSE(Remap("split fused -> e.{e}.w by e | chunk(1)\n", keys).ok());
  EXPECT_FALSE(Remap("split fused -> e.{e}.w by e in 0..4 | unstack(0)\n", keys).ok());
}

TEST(Dropped, ASourceOfAnOutputIsNotLost) {
  const Keys keys({"qkv: f32[3, 2]", "z: f32[1]"});
  const Remap run("split qkv -> [q, k, v] | unstack(0)\ndrop z\nthen\ndrop k\ndrop v\n", keys);
  ASSERT_TRUE(run.ok()) << run.text();
  EXPECT_THAT(run.outputs(), ElementsAre("q"));
  EXPECT_THAT(run.dropped(), ElementsAre("z"));
}

TEST(Fill, AddsOnlyWhatIsAbsent) {
  const Keys keys(
      {"bn.0.running_var: f32[4]", "bn.1.running_var: f32[4]", "bn.1.num_batches_tracked: i64[]"});
  const Remap run(
      "else pass\n"
      "fill {p}.num_batches_tracked = 0 as i64 for {p:any}.running_var\n"
      "fill mask.{i} = tril(3) as f16 for i in 0..2 | reshape(1, 1, 3, 3)\n"
      "fill z = zeros(2, 3) as bf16\n"
      "fill c = arange(4) as i32\n"
      "fill v = [[1, 2], [3, 4]] as u8\n"
      "fill like = ones(dim(\"bn.0.running_var\", 0)) as f32\n",
      keys);
  ASSERT_TRUE(run.ok()) << run.text();
  EXPECT_THAT(run.types(),
              ElementsAre("bn.0.running_var: f32[4]", "bn.1.running_var: f32[4]",
                          "bn.1.num_batches_tracked: i64[]", "bn.0.num_batches_tracked: i64[]",
                          "mask.0: f16[1, 1, 3, 3]", "mask.1: f16[1, 1, 3, 3]", "z: bf16[2, 3]",
                          "c: i32[4]", "v: u8[2, 2]", "like: f32[4]"));
  const Rewritten& rewritten = run.rewritten();
  const auto bytes = [&](size_t output) {
    return *rewritten.graph.node(rewritten.outputs[output].tensor).bytes;
  };
  EXPECT_EQ(bytes(3), std::string(8, '\0'));
  EXPECT_EQ(bytes(7), std::string("\0\0\0\0\1\0\0\0\2\0\0\0\3\0\0\0", 16));
  EXPECT_EQ(bytes(8), "\1\2\3\4");
  const TensorNode& mask = rewritten.graph.node(rewritten.outputs[4].tensor);
  const std::string one("\x00\x3c", 2), zero(2, '\0');
  EXPECT_EQ(*rewritten.graph.node(mask.inputs[0]).bytes,
            one + zero + zero + one + one + zero + one + one + one);
}

TEST(Fill, Errors) {
  const Keys keys({"a: f32[4]"});
  EXPECT_THAT(Remap("else pass\nfill x = 300 as u8\n", keys).text(), HasSubstr("300"));
  EXPECT_THAT(Remap("else pass\nfill {p}.x = 1 as u8 for {p}.none\n", keys).lints(),
              Contains("unused-fill"));
  EXPECT_TRUE(Remap("else pass\nfill? {p}.x = 1 as u8 for {p}.none\n", keys).ok());
}

}  // namespace
}  // namespace rekey
