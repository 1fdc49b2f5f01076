#include "engine/plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/support/programs.h"

namespace rekey {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(PlanTest, RenamesAreCopies) {
  const Program program = CompileText("strip \"module.\"\ndrop step\n");
  const Catalog catalog = CatalogOf({{"module.fc.weight", {10, 64}}, {"step"}});
  const Plan plan = MakePlan(program, catalog, {});
  EXPECT_EQ(Dump(plan), "fc.weight f32[10, 64] copy <- module.fc.weight\ndrop step\n");
  EXPECT_EQ(plan.bytes, 2560u);
  ASSERT_EQ(plan.lowered.size(), 1u);
  ASSERT_EQ(plan.lowered[0].pieces.size(), 1u);
  EXPECT_EQ(plan.lowered[0].pieces[0].storage, 0u);
}

TEST(PlanTest, NamesOfOneTensorStayTied) {
  Catalog catalog = CatalogOf({{"embed", {4, 2}}, {"norm", {2}}, {"head", {4, 2}}});
  catalog.entries[2].storage = 0;
  const Program program = CompileText("map head -> lm_head\nelse pass\n");
  const Plan plan = MakePlan(program, catalog, {});
  EXPECT_THAT(plan.same_as, ElementsAre(0, 1, 0));
  EXPECT_EQ(plan.bytes, 32u + 8u);
  EXPECT_THAT(Dump(plan), HasSubstr("lm_head f32[4, 2] same as embed\n"));
}

TEST(PlanTest, TieSharesAndCopyDoesNot) {
  const Catalog catalog = CatalogOf({{"embed", {4, 2}}});
  const Program program = CompileText("else pass\ntie head = embed\ncopy embed -> twin\n");
  const Plan plan = MakePlan(program, catalog, {});
  ASSERT_FALSE(HasErrors(plan.diagnostics)) << InWords(plan.diagnostics);
  EXPECT_THAT(plan.same_as, ElementsAre(0, 0, 2));
  EXPECT_EQ(plan.bytes, 64u);
}

TEST(PlanTest, ExpectsAreErrorsOfThePlan) {
  const Catalog catalog = CatalogOf({{"a", {2}}});
  const Program program = CompileText("map a -> b\nexpect b : f32[3]\n");
  EXPECT_THAT(InWords(MakePlan(program, catalog, {}).diagnostics),
              HasSubstr("error: `b` is f32[2], not f32[3] [expect]"));
  PlanOptions testing;
  testing.testing = true;
  EXPECT_FALSE(HasErrors(MakePlan(program, catalog, testing).diagnostics));
}

TEST(PlanTest, CollisionsNameBothKeys) {
  const Catalog catalog = CatalogOf({{"module.fc.w"}, {"fc.w"}});
  const Program program = CompileText("strip \"module.\"");
  const Plan plan = MakePlan(program, catalog, {});
  ASSERT_TRUE(HasErrors(plan.diagnostics));
  const std::string text = InWords(plan.diagnostics);
  EXPECT_THAT(text, HasSubstr("module.fc.w"));
  EXPECT_THAT(text, HasSubstr("`fc.w`"));
}

TEST(PlanTest, TensorWithoutBytesNamesTheOutput) {
  Catalog catalog = CatalogOf({{"a", {2}}});
  catalog.entries[0].no_bytes = true;
  const Program program = CompileText("map a -> b");
  const Plan plan = MakePlan(program, catalog, {});
  ASSERT_TRUE(HasErrors(plan.diagnostics));
  EXPECT_THAT(InWords(plan.diagnostics), HasSubstr("for the output `b`"));
}

TEST(PlanTest, ModulePathsFollow) {
  Catalog catalog = CatalogOf({{"module.bn.weight", {2}}, {"module.bn.bias", {2}}});
  for (const char* module : {"", "module", "module.bn"}) {
    catalog.module_metadata.push_back({module, 0});
  }
  const Program program = CompileText("strip \"module.\"");
  const Plan plan = MakePlan(program, catalog, {});
  ASSERT_EQ(plan.module_metadata.size(), 2u);
  EXPECT_EQ(plan.module_metadata[0].module, "");
  EXPECT_EQ(plan.module_metadata[1].module, "bn");
}

TEST(PlanTest, ZeroKeysRemapped) {
  const Catalog catalog = CatalogOf({{"fc.weight", {2}}});
  const auto touches_nothing = [&](const std::string& rules) {
    const Program program = CompileText(rules);
    return TouchesNothing(MakePlan(program, catalog, {}), program);
  };
  EXPECT_TRUE(touches_nothing("strip? \"module.\"\n"));
  EXPECT_TRUE(touches_nothing("map? a -> b\nelse pass\n"));
  EXPECT_FALSE(touches_nothing("map? fc.weight -> b\n"));
  EXPECT_FALSE(touches_nothing("prefix net.\n"));
  // A plain conversion.
  EXPECT_FALSE(touches_nothing("else pass\n"));
  EXPECT_FALSE(touches_nothing("keep fc.weight\n"));
  EXPECT_FALSE(touches_nothing("keep? other\n"));
}

}  // namespace
}  // namespace rekey
