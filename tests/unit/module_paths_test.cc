#include "engine/module_paths.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace rekey {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

using Renames = std::vector<std::pair<std::string_view, std::string_view>>;

// The module paths of the output for a checkpoint of these modules and keys.
std::vector<std::string> Follow(const std::vector<std::string>& modules, const Renames& renames,
                                const std::vector<std::string_view>& dropped = {}) {
  Catalog catalog;
  for (const std::string& module : modules) catalog.module_metadata.push_back({module, 0});
  for (const auto& [source, target] : renames) {
    catalog.entries.emplace_back();
    catalog.entries.back().key = source;
  }
  for (std::string_view key : dropped) {
    catalog.entries.emplace_back();
    catalog.entries.back().key = key;
  }
  std::vector<std::string> paths;
  for (const ModuleMetadata& module : FollowRenames(catalog, renames)) {
    paths.push_back(module.module);
  }
  return paths;
}

TEST(ModulePathsTest, UnwrappedModuleIsTheRoot) {
  EXPECT_THAT(Follow({"", "module", "module.conv", "module.bn", "module.act"},
                     {{"module.conv.weight", "conv.weight"}, {"module.bn.weight", "bn.weight"}}),
              ElementsAre("", "conv", "bn", "act"));
}

TEST(ModulePathsTest, NothingRenamedNothingChanged) {
  EXPECT_THAT(Follow({"", "a", "a.b"}, {{"a.b.w", "a.b.w"}, {"c", "c"}}),
              ElementsAre("", "a", "a.b"));
}

TEST(ModulePathsTest, PrefixLeavesNoRoot) {
  EXPECT_THAT(Follow({"", "fc"}, {{"fc.weight", "net.fc.weight"}}), ElementsAre("net", "net.fc"));
}

TEST(ModulePathsTest, RenamedLeavesStillTellTheModule) {
  EXPECT_THAT(Follow({"enc.norm"}, {{"enc.norm.gamma", "encoder.ln.weight"},
                                    {"enc.norm.beta", "encoder.ln.bias"}}),
              ElementsAre("encoder.ln"));
}

TEST(ModulePathsTest, DroppedModulesAreGone) {
  EXPECT_THAT(Follow({"", "body", "head", "head.act"}, {{"body.w", "body.w"}}, {"head.w"}),
              ElementsAre("", "body"));
}

TEST(ModulePathsTest, OwnKeysDecideOverThoseFurtherDown) {
  EXPECT_THAT(Follow({"a"}, {{"a.w", "b.w"}, {"a.x.w", "c.x.w"}}), ElementsAre("b"));
  EXPECT_THAT(Follow({"a"}, {{"a.x.w", "c.x.w"}, {"a.w", "b.w"}}), ElementsAre("b"));
}

TEST(ModulePathsTest, SplitModulesAreGone) {
  EXPECT_THAT(Follow({"a"}, {{"a.w", "b.w"}, {"a.v", "c.v"}}), IsEmpty());
  EXPECT_THAT(Follow({"a"}, {{"a.x.w", "b.x.w"}, {"a.y.w", "c.y.w"}}), IsEmpty());
}

TEST(ModulePathsTest, OfTwoThatBecomeOneTheFirstStays) {
  EXPECT_THAT(Follow({"a", "b"}, {{"a.w", "c.w"}, {"b.v", "c.v"}}), ElementsAre("c"));
}

}  // namespace
}  // namespace rekey
