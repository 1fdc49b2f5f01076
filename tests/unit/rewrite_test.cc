#include "engine/rewrite.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/rules.h"

namespace rekey {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

// --- Edits --------------------------------------------------------------------------------------

TEST(RewriteEdits, StripTakesWholeSegmentsOfTheFront) {
  const Keys keys({"module.conv.weight", "module.mlp_module.l0.weight"});
  EXPECT_THAT(Remap("strip \"module.\"\n", keys).outputs(),
              ElementsAre("conv.weight", "mlp_module.l0.weight"));
  const Keys heads({"head.aux_head.weight"});
  EXPECT_THAT(Remap("strip \"head.\"\n", heads).outputs(), ElementsAre("aux_head.weight"));
}

TEST(RewriteEdits, WrappersNestInEitherOrder) {
  const Keys keys(
      {"_orig_mod.module._fsdp_wrapped_module.layers.0._checkpoint_wrapped_module."
       "attn.w",
       "model._orig_mod.c.w"});
  const Remap run(
      "strip all \"module.\" \"_orig_mod.\"\n"
      "strip anywhere \"_fsdp_wrapped_module.\" \"_checkpoint_wrapped_module.\" \"_orig_mod.\"\n",
      keys);
  EXPECT_TRUE(run.ok()) << run.text();
  EXPECT_THAT(run.outputs(), ElementsAre("layers.0.attn.w", "model.c.w"));
}

TEST(RewriteEdits, EachWorksOnTheResultOfTheLast) {
  const Keys keys({"a.b.c.w"});
  EXPECT_THAT(Remap("rename b -> x.y\nstrip \"a.\"\nrename y -> z\nstrip suffix \".w\"\n"
                    "strip \"x.\"\nrename z.c -> end\n",
                    keys)
                  .outputs(),
              ElementsAre("end"));
}

TEST(RewriteEdits, RenameKeepsKeysThatOnlyHoldTheWord) {
  const Keys keys({"conv.weight_g", "conv.weight_v", "gate.weight_gate.0"});
  EXPECT_THAT(Remap("rename weight_g -> parametrizations.weight.original0\n"
                    "rename weight_v -> parametrizations.weight.original1\n",
                    keys)
                  .outputs(),
              ElementsAre("conv.parametrizations.weight.original0",
                          "conv.parametrizations.weight.original1", "gate.weight_gate.0"));
}

TEST(RewriteEdits, TwoKeysMadeEqualAreACollision) {
  const Keys keys({"module.fc.w", "fc.w"});
  const Remap run("strip \"module.\"\n", keys);
  EXPECT_FALSE(run.ok());
  EXPECT_THAT(run.lints(), ElementsAre("collision"));
  EXPECT_THAT(run.text(),
              AllOf(HasSubstr("`module.fc.w`"), HasSubstr("`fc.w`"), HasSubstr("t.rekey:1:1")));
}

TEST(RewriteEdits, EmptySegmentsAreAWarning) {
  const Keys keys({"a.b.c", "x.b.d"});
  const Remap run("strip anywhere \".b.\" \".b\"\nrename a -> a.\n", keys);
  EXPECT_TRUE(run.rewritten().outputs.size() == 2) << run.text();
  EXPECT_THAT(run.lints(), ElementsAre("empty-segment"));
  EXPECT_THAT(run.text(), HasSubstr("`a.c` becomes `a..c`"));
}

TEST(RewriteEdits, UnusedOnesNameTheNearestRuns) {
  const Keys keys({"model.self_attn.w", "model.mlp.w"});
  const Remap run("strip \"modul.\"\nrename self_atn -> attention\nstrip? \"no.\"\n", keys);
  EXPECT_TRUE(run.ok());
  EXPECT_THAT(run.lints(), ElementsAre("unused-edit", "unused-edit", "nothing-remapped"));
  EXPECT_THAT(run.text(),
              AllOf(HasSubstr("`model.`"), HasSubstr("`self_attn`"), HasSubstr("write `strip?`")));
}

TEST(RewriteEdits, TestsAreNotLinted) {
  const Keys keys({"a"});
  RemapOptions testing;
  testing.testing = true;
  EXPECT_THAT(Remap("strip \"b.\"\nmap c -> d\n", keys, testing).lints(), IsEmpty());
}

// --- Which rule ---------------------------------------------------------------------------------

TEST(RewriteRules, NamesMaySwap) {
  const Keys keys({"a", "b"});
  EXPECT_THAT(Remap("map a -> b\nmap b -> a\n", keys).moves(), ElementsAre("b <- a", "a <- b"));
}

TEST(RewriteRules, TheFirstThatFitsWins) {
  const Keys keys({"l.gamma", "l.beta", "m.gamma", "grn.beta"});
  const Remap run(
      "keep grn.beta\nmap l.gamma -> l.weight\nmap {p:any}.gamma -> {p}.scale\n"
      "map {p:any}.beta -> {p}.bias\n",
      keys);
  EXPECT_THAT(run.outputs(), ElementsAre("l.weight", "l.bias", "m.scale", "grn.beta"));
  EXPECT_THAT(run.lints(), IsEmpty()) << run.text();
}

TEST(RewriteRules, OnlyTheNormsOfCaseThree) {
  const Keys keys(
      {"enc.0.LayerNorm.gamma: f32[4]", "blk.0.gamma: f32[4]", "grn.beta: f32[1, 1, 1, 4]"});
  EXPECT_THAT(Remap("rename LayerNorm.gamma -> LayerNorm.weight\n", keys).outputs(),
              ElementsAre("enc.0.LayerNorm.weight", "blk.0.gamma", "grn.beta"));
}

TEST(RewriteRules, ASubtreeIsTakenAndTheRestReported) {
  const Keys keys({"student.backbone.w", "teacher.backbone.w", "teacher.dino_head.w"});
  const Remap run("map teacher.backbone.{r:any} -> {r}\nelse drop\n", keys);
  EXPECT_TRUE(run.ok()) << run.text();
  EXPECT_THAT(run.moves(), ElementsAre("w <- teacher.backbone.w"));
  EXPECT_THAT(run.dropped(), ElementsAre("student.backbone.w", "teacher.dino_head.w"));
  EXPECT_EQ(run.rewritten().dropped[0].by, (RuleRef{0, -1}));
}

TEST(RewriteRules, ArithmeticInTargets) {
  const Keys blocks({"blocks.5.norm1.weight"});
  EXPECT_THAT(Remap("map blocks.{i:int}.{x:any} -> blocks.{i // 3}.{i}.{x}\n", blocks).outputs(),
              ElementsAre("blocks.1.5.norm1.weight"));
  const Keys swin({"layers.2.downsample.norm.weight", "layers.2.blocks.0.w", "layers.0.w"});
  EXPECT_THAT(
      Remap("map layers.{i:int}.downsample.{x:any} -> layers.{i + 1}.downsample.{x}\n", swin)
          .outputs(),
      ElementsAre("layers.3.downsample.norm.weight", "layers.2.blocks.0.w", "layers.0.w"));
  const Keys unet({"input_blocks.3.0.op.weight", "input_blocks.1.0.in_layers.2.weight",
                   "input_blocks.8.0.in_layers.2.weight"});
  EXPECT_THAT(
      Remap("map input_blocks.{i:int}.0.op.{w} -> down_blocks.{(i - 1) // 3}.downsamplers.0.conv."
            "{w}\n"
            "map input_blocks.{i:int}.0.in_layers.2.{w} -> down_blocks.{(i - 1) // 3}.resnets."
            "{(i - 1) % 3}.conv1.{w}\n",
            unet)
          .outputs(),
      ElementsAre("down_blocks.0.downsamplers.0.conv.weight",
                  "down_blocks.0.resnets.0.conv1.weight", "down_blocks.2.resnets.1.conv1.weight"));
}

TEST(RewriteRules, ANegativeNumberNamesTheKey) {
  const Keys keys({"input_blocks.0.0.op.weight", "input_blocks.0.0.op.bias"});
  const Remap run("map input_blocks.{i:int}.{r:any} -> b.{i - 1}.{r}\n", keys);
  EXPECT_FALSE(run.ok());
  EXPECT_THAT(run.lints(), ElementsAre("negative-number"));
  EXPECT_THAT(run.text(), AllOf(HasSubstr("`input_blocks.0.0.op.weight`"),
                                HasSubstr("the same at 1 key more")));
}

TEST(RewriteRules, PiecesInsideOneFile) {
  const Keys keys({"stage_1.layer.0.bias", "device:1/attn/weight", "stage_0.layer.0.bias"});
  const Remap run(
      "table first { 0 = 0, 1 = 7 }\n"
      "map stage_{p:int}.layer.{i:int}.bias -> layer.{i + first(p)}.bias\n"
      "map device:{_:int}/{r:any} -> {dots(r)}\n",
      keys);
  EXPECT_THAT(run.outputs(), ElementsAre("layer.7.bias", "attn.weight", "layer.0.bias"))
      << run.text();
}

TEST(RewriteRules, ColonZeroOfTensorFlow) {
  const Keys keys({"module.conv_1/kernel:0"});
  const Remap run("strip \"module.\"\nmap /conv_(\\d+)\\/kernel:0/ -> conv\\1.weight\n", keys);
  EXPECT_THAT(run.outputs(), ElementsAre("conv1.weight")) << run.text();
  EXPECT_EQ(run.rewritten().touched, 1u);
}

TEST(RewriteRules, GuardsSendKeysOn) {
  const Keys keys({"a.w: f32[2, 3]", "b.w: f32[2]", "c.w: bf16[2, 3]", "d.v: f32[1]",
                   "d.v.ema: f32[1]", "e.v: f32[1]"});
  const Remap run(
      "map {p}.w -> {p}.matrix if rank == 2 and dtype == f32\n"
      "map {p}.w -> {p}.other\n"
      "map {p}.v -> {p}.plain if not has({p}.v.ema)\n"
      "drop {p}.v\n"
      "map {p}.v.ema -> {p}.plain\n",
      keys);
  EXPECT_THAT(run.moves(), ElementsAre("a.matrix <- a.w", "b.other <- b.w", "c.other <- c.w",
                                       "d.plain <- d.v.ema", "e.plain <- e.v"))
      << run.text();
  EXPECT_THAT(run.dropped(), ElementsAre("d.v"));
}

TEST(RewriteRules, HasNamesKeysAfterTheEdits) {
  const Keys keys({"m.a", "m.b"});
  EXPECT_THAT(Remap("strip \"m.\"\nmap a -> c if has(b)\nelse pass\n", keys).outputs(),
              ElementsAre("c", "b"));
}

TEST(RewriteRules, PassesRunOneAfterAnother) {
  const Keys keys({"a", "x"});
  const Remap run("map a -> b\nthen \"second\"\nmap b -> c\nprefix m.\nsuffix .w\n", keys);
  EXPECT_THAT(run.moves(), ElementsAre("m.c.w <- a", "m.x.w <- x"));
  EXPECT_THAT(run.passed(), ElementsAre("x"));
  EXPECT_EQ(run.rewritten().outputs[0].by, (RuleRef{1, 0}));
}

TEST(RewriteRules, ScopesArePlainConcatenation) {
  const Keys keys({"enc/layer_3/attn/kernel", "enc/layer_3/ln/gamma", "enc/emb"});
  const Remap run(
      "table norm { gamma = weight, beta = bias }\n"
      "in enc/layer_{i:int}/ -> encoder.{i}. {\n"
      "  map ln/{w:norm} -> norm.{norm(w)}\n"
      "  map {m:any}/kernel -> {dots(m)}.weight\n"
      "}\n",
      keys);
  EXPECT_THAT(run.outputs(),
              ElementsAre("encoder.3.attn.weight", "encoder.3.norm.weight", "enc/emb"))
      << run.text();
}

// --- What is wrong ------------------------------------------------------------------------------

TEST(RewriteErrors, OneTargetOfTwoSources) {
  const Keys keys({"a.w", "b.w", "c"});
  const Remap run("map a.w -> c\nmap b.w -> d\n", keys);
  EXPECT_FALSE(run.ok());
  EXPECT_THAT(run.lints(), ElementsAre("collision"));
  EXPECT_THAT(run.text(), AllOf(HasSubstr("`c` would come from `a.w` and from `c`"),
                                HasSubstr("passes unchanged"), HasSubstr("t.rekey:1:1")));
  const Keys two({"a.w", "b.w"});
  const Remap both("map {_}.w -> x\n", two);
  EXPECT_THAT(both.lints(), ElementsAre("collision"));
}

TEST(RewriteErrors, BothRulesOfACollisionAreShown) {
  const Keys keys({"a", "b"});
  const Remap run("map a -> x\nmap b -> x\n", keys);
  EXPECT_THAT(run.text(), AllOf(HasSubstr("1 | map a -> x"), HasSubstr("2 | map b -> x")));
}

TEST(RewriteErrors, ElseErrorListsKeysAndTheNearestRule) {
  const Keys keys({"layers.0.mlp.weight", "layers.0.mlp.weigth", "other"});
  const Remap run("map layers.{i:int}.mlp.weight -> l.{i}\nelse error \"a layer is unknown\"\n",
                  keys);
  EXPECT_FALSE(run.ok());
  EXPECT_THAT(run.text(),
              AllOf(HasSubstr("2 keys fit no rule: a layer is unknown"),
                    HasSubstr("`layers.0.mlp.weigth` f32[1]"), HasSubstr("`other` f32[1]"),
                    HasSubstr("comes nearest to `layers.0.mlp.weigth`")));
}

TEST(RewriteErrors, AnOutputOfNoTensors) {
  const Keys keys({"module.a"});
  const Remap run("strip \"module.\"\nmap? x -> y\nelse drop\n", keys);
  EXPECT_FALSE(run.ok());
  EXPECT_THAT(run.lints(), ElementsAre("no-tensors"));
}

TEST(RewriteErrors, ErrorsEndThePasses) {
  const Keys keys({"a", "b"});
  const Remap run("map a -> b\nthen\nmap q -> r\n", keys);
  EXPECT_THAT(run.lints(), ElementsAre("collision"));
}

// --- Lints on use -------------------------------------------------------------------------------

TEST(RewriteLints, UnusedRulesNameTheNearestKeys) {
  const Keys keys({"model.layers.0.norm.weight", "model.layers.1.norm.weight", "model.head"});
  const Remap run("map model.layers.{i:int}.norm.weigth -> n.{i}\n", keys);
  EXPECT_TRUE(run.ok());
  EXPECT_THAT(run.lints(), ElementsAre("unused-rule", "nothing-remapped"));
  EXPECT_THAT(run.text(),
              AllOf(HasSubstr("`model.layers.0.norm.weight`"),
                    Not(HasSubstr("`model.layers.1.norm.weight`")), HasSubstr("write `map?`")));
}

TEST(RewriteLints, AHoleIsOneSegment) {
  const Keys keys({"a.b.c.weight"});
  const Remap run("map {p}.weight -> {p}.w\n", keys);
  EXPECT_THAT(run.text(), AllOf(HasSubstr("`{p}` is one segment"), HasSubstr("`a.b.c.weight`"),
                                HasSubstr("`{p:any}`")));
}

TEST(RewriteLints, ShadowedRulesNameTheEarlierOne) {
  const Keys keys({"a.w", "b.w"});
  const Remap run("map {p}.w -> {p}.x\nmap a.w -> y\nmap? b.w -> z\n", keys);
  EXPECT_THAT(run.lints(), ElementsAre("shadowed-rule"));
  EXPECT_THAT(run.text(), AllOf(HasSubstr("t.rekey:2:1"), HasSubstr("claims `a.w`")));
}

TEST(RewriteLints, AGuardThatNeverHoldsIsNamed) {
  const Keys keys({"a.w: f32[2]"});
  const Remap run("map {p}.w -> {p}.x if rank == 4\n", keys);
  EXPECT_THAT(run.lints(), Contains("unused-rule"));
  EXPECT_THAT(run.text(), HasSubstr("its guard does not hold for the 1 key"));
}

TEST(RewriteLints, StrictMakesThemErrors) {
  const Keys keys({"a"});
  const Remap run("strict\nmap b -> c\nelse pass\n", keys);
  EXPECT_FALSE(run.ok());
}

TEST(RewriteLints, ManyKeysAndManyUnusedRulesStayBounded) {
  std::vector<std::string> lines;
  for (int i = 0; i < 20'000; ++i)
    lines.push_back("family" + std::string(1, static_cast<char>('a' + i % 26)) + std::to_string(i) +
                    ".layer.weight");
  const Keys keys(lines);
  std::string rules;
  for (int i = 0; i < 300; ++i) rules += "map famly.x" + std::to_string(i) + ".wt -> q\n";
  const Remap run(rules, keys);
  EXPECT_EQ(run.lints().size(), 301u);
}

// --- same as, copy, tie -------------------------------------------------------------------------

TEST(RewriteOutputs, DropSameAs) {
  const Keys keys({"embed.weight: f32[4, 2]", "lm_head.weight: f32[4, 2]"});
  const Remap run("drop lm_head.weight same as embed.weight\nelse pass\n", keys);
  ASSERT_TRUE(run.ok()) << run.text();
  EXPECT_THAT(run.outputs(), ElementsAre("embed.weight"));
  ASSERT_EQ(run.rewritten().must_equal.size(), 1u);
  EXPECT_THAT(run.rewritten().must_equal[0].tensors, ElementsAre(1u, 0u));
  EXPECT_THAT(run.rewritten().must_equal[0].keys, ElementsAre("lm_head.weight", "embed.weight"));
  const Remap typo("drop lm_head.weight same as embed.wieght\nelse pass\n", keys);
  EXPECT_FALSE(typo.ok());
  EXPECT_THAT(typo.text(), HasSubstr("the nearest key is `embed.weight`"));
}

TEST(RewriteOutputs, TieAndCopy) {
  const Keys keys({"embed.weight: f32[4, 2]", "x.w: f32[1]"});
  const Remap run("else pass\ntie lm_head.weight = embed.weight\ncopy {p}.w -> {p}.v\n", keys);
  ASSERT_TRUE(run.ok()) << run.text();
  EXPECT_THAT(run.moves(), ElementsAre("embed.weight <- embed.weight", "x.w <- x.w",
                                       "lm_head.weight <- embed.weight", "x.v <- x.w"));
  EXPECT_EQ(run.rewritten().outputs[2].tied_to, 0);
  EXPECT_EQ(run.rewritten().outputs[2].output, 0);
  EXPECT_EQ(run.rewritten().outputs[3].tied_to, -1);
  EXPECT_EQ(run.rewritten().outputs[3].output, 1);
}

TEST(RewriteOutputs, TiesAndCopiesOfNothing) {
  const Keys keys({"embed.weight"});
  const Remap tie("else pass\ntie head = embed.wieght\n", keys);
  EXPECT_THAT(tie.lints(), ElementsAre("tie-absent"));
  EXPECT_THAT(tie.text(), HasSubstr("the nearest output is `embed.weight`"));
  EXPECT_THAT(Remap("else pass\ntie? head = no\ncopy? {p}.w -> {p}.x\n", keys).outputs(),
              ElementsAre("embed.weight"));
  EXPECT_THAT(Remap("else pass\ncopy {p}.w -> {p}.x\n", keys).lints(), ElementsAre("unused-copy"));
  EXPECT_THAT(Remap("else pass\ntie embed.weight = embed.weight\n", keys).lints(),
              ElementsAre("collision"));
}

// --- The account --------------------------------------------------------------------------------

TEST(RewriteAccount, RulesAndEditsAreCounted) {
  const Keys keys({"m.a.w: f32[2]", "m.b.w: f32[3]", "m.z"});
  const Remap run("strip \"m.\"\nmap {p}.w -> {p}.x\ndrop z\n", keys);
  ASSERT_TRUE(run.ok()) << run.text();
  const Rewritten& rewritten = run.rewritten();
  EXPECT_EQ(rewritten.edits[0][0].touched, 3u);
  const RuleUse& map = rewritten.rules[0][0];
  EXPECT_EQ(map.claimed, 2u);
  EXPECT_EQ(map.made, 2u);
  EXPECT_THAT(map.example_sources, ElementsAre("a.w"));
  EXPECT_THAT(map.example_targets, ElementsAre("a.x"));
  EXPECT_EQ(ToString(map.example_target_types[0]), "f32[2]");
  EXPECT_EQ(rewritten.rules[0][1].claimed, 1u);
  EXPECT_EQ(rewritten.rules[0][1].made, 0u);
  EXPECT_EQ(rewritten.touched, 3u);
  EXPECT_EQ(rewritten.dropped[0].key, "m.z");
  EXPECT_EQ(rewritten.dropped[0].at_key, "z");
}

TEST(RewriteAccount, EventsTellTheStoryOfAKey) {
  const Keys keys({"module.fc.w: f32[2]", "other"});
  RemapOptions watch;
  watch.watch = "head.fc.y";
  const Remap run(
      "strip \"module.\"\nmap {p}.w -> {p}.x if rank == 2\nmap {p}.w -> {p}.y\n"
      "map fc.{r} -> {r}\nthen\nprefix head.\n",
      keys, watch);
  std::vector<Event::Kind> kinds;
  for (const Event& event : run.events()) kinds.push_back(event.kind);
  EXPECT_THAT(kinds,
              ElementsAre(Event::Kind::kEdit, Event::Kind::kGuardFalse, Event::Kind::kWouldClaim,
                          Event::Kind::kClaimed, Event::Kind::kPassed, Event::Kind::kAffix));
  EXPECT_EQ(run.events()[0].before, "module.fc.w");
  EXPECT_EQ(run.events()[0].after, "fc.w");
  EXPECT_EQ(run.events()[3].after, "fc.y");
  EXPECT_EQ(run.events()[5].after, "head.fc.y");
}

}  // namespace
}  // namespace rekey
