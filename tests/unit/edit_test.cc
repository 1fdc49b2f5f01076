#include "engine/edit.h"

#include <gtest/gtest.h>

#include <initializer_list>

#include "engine/regex.h"

namespace rekey {
namespace {

Edit Strip(Edit::Kind kind, std::initializer_list<std::string> texts) {
  Edit edit;
  edit.kind = kind;
  edit.texts = texts;
  return edit;
}

KeyTarget Text(const std::string& text) {
  KeyTarget target;
  target.parts.emplace_back();
  target.parts.back().text = text;
  return target;
}

Edit RenameLiteral(const std::string& from, const std::string& to) {
  Edit edit;
  edit.kind = Edit::Kind::kRename;
  edit.pattern.emplace();
  edit.pattern->is_literal = true;
  edit.pattern->prefix = from;
  edit.target = Text(to);
  return edit;
}

// `regex` has one group, which is printed behind `to`.
Edit RenameRegex(const std::string& regex, const std::string& prefix, const std::string& to) {
  Edit edit = RenameLiteral(prefix, to);
  edit.pattern->is_literal = false;
  edit.pattern->is_regex = true;
  edit.pattern->regex = regex;
  edit.pattern->groups = {1};
  edit.pattern->re = std::make_shared<re2::RE2>(regex, RegexOptions());
  edit.variables.resize(1);
  edit.target->parts.emplace_back();
  edit.target->parts.back().code = std::make_unique<Code>();
  edit.target->parts.back().code->kind = Code::Kind::kVariable;
  return edit;
}

std::string Apply(const Edit& edit, std::string_view key) {
  const std::vector<Edit> edits = {edit};
  const Editor editor(edits);
  std::string scratch;
  Result<std::string_view> result = editor.Apply(0, key, &scratch);
  EXPECT_TRUE(result.ok());
  return result.ok() ? std::string(*result) : "";
}

TEST(Strip, TakesALeadingTextOnce) {
  const Edit edit = Strip(Edit::Kind::kStripFront, {"module.", "head."});
  EXPECT_EQ(Apply(edit, "module.conv.weight"), "conv.weight");
  EXPECT_EQ(Apply(edit, "module.mlp_module.l0.weight"), "mlp_module.l0.weight");
  EXPECT_EQ(Apply(edit, "head.aux_head.weight"), "aux_head.weight");
  EXPECT_EQ(Apply(edit, "module.module.w"), "module.w");
  EXPECT_EQ(Apply(edit, "module.head.w"), "head.w");
  EXPECT_EQ(Apply(edit, "submodule.w"), "submodule.w");
  EXPECT_EQ(Apply(edit, "module"), "module");
  EXPECT_EQ(Apply(edit, "module."), "module.") << "no edit leaves an empty key";
}

TEST(Strip, GivesAPartOfTheKey) {
  const std::vector<Edit> edits = {Strip(Edit::Kind::kStripAll, {"a.", "b."})};
  const Editor editor(edits);
  std::string scratch;
  const std::string_view key = "a.b.a.c.b.d";
  Result<std::string_view> result = editor.Apply(0, key, &scratch);
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(*result, "c.b.d");
  EXPECT_EQ(result->data(), key.data() + 6);
}

TEST(Strip, AllRunsUntilNoneLeads) {
  const Edit edit = Strip(Edit::Kind::kStripAll, {"module.", "_orig_mod."});
  EXPECT_EQ(Apply(edit, "_orig_mod.module._orig_mod.layers.0.w"), "layers.0.w");
  EXPECT_EQ(Apply(edit, "layers.module.w"), "layers.module.w");
  EXPECT_EQ(Apply(edit, "module.module."), "module.");
}

TEST(Strip, AnywhereTakesWholeSegments) {
  const Edit edit =
      Strip(Edit::Kind::kStripAnywhere, {"_fsdp_wrapped_module.", "_orig_mod.", "a/b/"});
  EXPECT_EQ(Apply(edit, "layers.0._fsdp_wrapped_module._orig_mod.w"), "layers.0.w");
  EXPECT_EQ(Apply(edit, "_orig_mod.w"), "w");
  EXPECT_EQ(Apply(edit, "my_orig_mod.w"), "my_orig_mod.w");
  EXPECT_EQ(Apply(edit, "w._orig_mod"), "w._orig_mod");
  EXPECT_EQ(Apply(edit, "x/a/b/c"), "x/c");
  EXPECT_EQ(Apply(edit, "x/aa/b/c"), "x/aa/b/c");
  EXPECT_EQ(Apply(edit, "_orig_mod._orig_mod."), "_orig_mod.");
}

TEST(Strip, AnywhereSeesWhatARemovalBringsTogether) {
  const Edit edit = Strip(Edit::Kind::kStripAnywhere, {"x.y."});
  EXPECT_EQ(Apply(edit, "a.x.x.y.y.b"), "a.b");
}

TEST(Strip, AnywhereNeverGluesSegments) {
  EXPECT_EQ(Apply(Strip(Edit::Kind::kStripAnywhere, {".x."}), "a.x.b"), "a.x.b");
  EXPECT_EQ(Apply(Strip(Edit::Kind::kStripAnywhere, {".x"}), "a.x.b"), "a.b");
  EXPECT_EQ(Apply(Strip(Edit::Kind::kStripAnywhere, {".x"}), "a.xy.x"), "a.xy");
}

TEST(Strip, SuffixMayBeginWithAColon) {
  const Edit edit = Strip(Edit::Kind::kStripSuffix, {".weight", ":0"});
  EXPECT_EQ(Apply(edit, "a.weight"), "a");
  EXPECT_EQ(Apply(edit, "conv/kernel:0"), "conv/kernel");
  EXPECT_EQ(Apply(edit, "a.weight.weight"), "a.weight");
  EXPECT_EQ(Apply(edit, "a.fused_weight"), "a.fused_weight");
  EXPECT_EQ(Apply(edit, ":0"), ":0");
}

TEST(Rename, ReplacesRunsOfWholeSegments) {
  const Edit edit = RenameLiteral("weight_g", "original0");
  EXPECT_EQ(Apply(edit, "conv.weight_g"), "conv.original0");
  EXPECT_EQ(Apply(edit, "gate.weight_gate.0"), "gate.weight_gate.0");
  EXPECT_EQ(Apply(edit, "my_weight_g"), "my_weight_g");
  EXPECT_EQ(Apply(edit, "weight_g/weight_g.weight_g"), "original0/original0.original0");
  EXPECT_EQ(Apply(edit, "kernel_weight_g.weight_g"), "kernel_weight_g.original0");
  EXPECT_EQ(Apply(RenameLiteral("a.b", "c"), "a.b.a.bb.a.b"), "c.a.bb.c");
}

TEST(Rename, DoesNotReadItsResultAgain) {
  EXPECT_EQ(Apply(RenameLiteral("a", "a.a"), "a.a.b"), "a.a.a.a.b");
  EXPECT_EQ(Apply(RenameLiteral("a.a", "a"), "a.a.a.a.a"), "a.a.a");
}

TEST(Rename, RegexCoversWholeSegments) {
  const Edit edit = RenameRegex("layer_(\\d+)", "layer_", "layer.");
  EXPECT_EQ(Apply(edit, "enc/layer_11/kernel"), "enc/layer.11/kernel");
  EXPECT_EQ(Apply(edit, "layer_1.layer_2"), "layer.1.layer.2");
  EXPECT_EQ(Apply(edit, "player_1.w"), "player_1.w");
  EXPECT_EQ(Apply(edit, "layer_1b.layer_3"), "layer_1b.layer.3");
  EXPECT_EQ(Apply(edit, "layer_"), "layer_");
}

TEST(Rename, RegexMayTakeItsSeparators) {
  const Edit after = RenameRegex("layer_(\\d+)\\.", "layer_", "l");
  EXPECT_EQ(Apply(after, "layer_1.layer_2.w"), "l1l2w");
  const Edit before = RenameRegex("\\.h(\\d+)", ".h", ".layers.");
  EXPECT_EQ(Apply(before, "m.h1.h2.w"), "m.layers.1.layers.2.w");
  EXPECT_EQ(Apply(before, "m.h1b"), "m.h1b");
}

TEST(Rename, AnchorsMeanTheEndsOfTheKey) {
  const Edit front = RenameRegex("^h(\\d+)", "", "x");
  EXPECT_EQ(Apply(front, "h1.h2"), "x1.h2");
  const Edit back = RenameRegex("h(\\d+)$", "h", "x");
  EXPECT_EQ(Apply(back, "h1.h2"), "h1.x2");
}

TEST(Edits, FindEmptySegments) {
  EXPECT_FALSE(HasEmptySegment("a.b"));
  EXPECT_FALSE(HasEmptySegment(""));
  EXPECT_TRUE(HasEmptySegment(".a"));
  EXPECT_TRUE(HasEmptySegment("a."));
  EXPECT_TRUE(HasEmptySegment("a..b"));
}

}  // namespace
}  // namespace rekey
