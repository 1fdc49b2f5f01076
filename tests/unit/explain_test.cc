#include "engine/explain.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/support/programs.h"

namespace rekey {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// "edit module.a -> a" and so on.
std::vector<std::string> InWords(const std::vector<Event>& events) {
  static const char* const kNames[] = {"edit",   "claimed", "would",   "guard", "incomplete",
                                       "passed", "dropped", "refused", "affix", "output"};
  std::vector<std::string> lines;
  for (const Event& event : events) {
    std::string line = kNames[static_cast<size_t>(event.kind)];
    line += ' ' + event.before;
    if (!event.after.empty()) line += " -> " + event.after;
    lines.push_back(std::move(line));
  }
  return lines;
}

class ExplainTest : public testing::Test {
 protected:
  Result<Story> Tell(const std::string& rules, const std::string& key) {
    program_ = CompileText(rules);
    return Explain(program_, catalog_, key);
  }

  Catalog catalog_ = CatalogOf(
      {{"module.fc.weight"}, {"module.fc.bias"}, {"module.layers.0.attn.weight"}, {"step"}});
  Program program_;
};

TEST_F(ExplainTest, SourceKeyFromEditToTarget) {
  const Result<Story> story = Tell(
      "strip \"module.\"\nmap fc.{w} -> head.{w}\nmap? fc.weight -> x\nelse pass\nprefix net.\n",
      "module.fc.weight");
  ASSERT_TRUE(story.ok());
  EXPECT_TRUE(story->is_source);
  EXPECT_FALSE(story->is_output);
  EXPECT_THAT(InWords(story->events),
              ElementsAre("edit module.fc.weight -> fc.weight", "claimed fc.weight -> head.weight",
                          "would fc.weight", "affix head.weight -> net.head.weight"));
  EXPECT_THAT(story->targets, ElementsAre("net.head.weight"));
  EXPECT_THAT(story->near_misses, IsEmpty());
}

TEST_F(ExplainTest, OutputKeyLeadsBack) {
  const Result<Story> story = Tell("strip \"module.\"\nelse pass\n", "fc.bias");
  ASSERT_TRUE(story.ok());
  EXPECT_TRUE(story->is_output);
  EXPECT_FALSE(story->is_source);
  EXPECT_THAT(story->sources, ElementsAre("module.fc.bias"));
  EXPECT_THAT(InWords(story->events),
              ElementsAre("edit module.fc.bias -> fc.bias", "passed fc.bias -> fc.bias"));
}

TEST_F(ExplainTest, DroppedKey) {
  const Result<Story> story = Tell("drop step\nelse pass\n", "step");
  ASSERT_TRUE(story.ok());
  EXPECT_TRUE(story->dropped);
  EXPECT_THAT(story->targets, IsEmpty());
}

TEST_F(ExplainTest, UnmatchedKeyHasNearMisses) {
  const Result<Story> story = Tell(
      "strip \"module.\"\nmap? {p}.weight -> {p}.kernel\nmap? layers.{i:int}.attm.weight -> "
      "l.{i}\nelse pass\n",
      "module.layers.0.attn.weight");
  ASSERT_TRUE(story.ok());
  EXPECT_TRUE(story->passed);
  ASSERT_EQ(story->near_misses.size(), 2u);
  EXPECT_EQ(story->near_misses[0].rule, (RuleRef{0, 0}));
  EXPECT_THAT(story->near_misses[0].why, HasSubstr("`{p:any}` would fit"));
  EXPECT_EQ(story->near_misses[1].rule, (RuleRef{0, 1}));
  EXPECT_THAT(story->near_misses[1].why, HasSubstr("differs in 1 character"));
  EXPECT_EQ(story->near_misses[1].where.Text(), "layers.{i:int}.attm.weight");
}

TEST_F(ExplainTest, UnknownKeyNamesTheNearest) {
  const Result<Story> story =
      Tell("map module.fc.bias -> fc.bias\nelse pass\n", "module.fc.wieght");
  ASSERT_FALSE(story.ok());
  const std::string text = Render(story.error(), false);
  EXPECT_THAT(text, HasSubstr("no key `module.fc.wieght`"));
  EXPECT_THAT(text, HasSubstr("the checkpoint has `module.fc.weight`"));
  EXPECT_THAT(Render(Tell("map step -> counter\nelse pass\n", "conter").error(), false),
              HasSubstr("the output has `counter`"));
}

TEST_F(ExplainTest, ErrorsEndTheStory) {
  const Result<Story> story = Tell("map step -> x\nelse error \"why\"\n", "module.fc.bias");
  ASSERT_TRUE(story.ok());
  ASSERT_FALSE(story->diagnostics.empty());
  EXPECT_THAT(InWords(story->events), testing::Contains(HasSubstr("refused module.fc.bias")));
}

}  // namespace
}  // namespace rekey
