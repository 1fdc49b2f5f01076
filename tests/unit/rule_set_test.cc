#include "engine/rule_set.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <string>

#include "engine/regex.h"

namespace rekey {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

KeyPattern Literal(const std::string& key) {
  KeyPattern pattern;
  pattern.is_literal = true;
  pattern.prefix = key;
  return pattern;
}

KeyPattern Open(const std::string& regex) {
  KeyPattern pattern;
  pattern.regex = regex;
  pattern.prefix = regex.substr(0, regex.find_first_of("\\(.["));
  pattern.re = std::make_shared<re2::RE2>(regex, RegexOptions());
  return pattern;
}

std::vector<int> Matches(const RuleSet& set, std::string_view key) {
  std::vector<int> ids;
  set.Match(key, &ids);
  return ids;
}

std::vector<const KeyPattern*> Pointers(const std::vector<KeyPattern>& patterns) {
  std::vector<const KeyPattern*> pointers;
  for (const KeyPattern& pattern : patterns) pointers.push_back(&pattern);
  return pointers;
}

TEST(RuleSet, FindsAllThatFitTheWholeKey) {
  const std::vector<KeyPattern> patterns = {Open("a\\.(.+)"), Literal("a.b"), Open("([^./]+)\\.b"),
                                            Literal("x"),     Literal("a.b"), Open("b")};
  const RuleSet set(Pointers(patterns));
  EXPECT_THAT(Matches(set, "a.b"), ElementsAre(0, 1, 2, 4));
  EXPECT_THAT(Matches(set, "a.b.c"), ElementsAre(0));
  EXPECT_THAT(Matches(set, "x"), ElementsAre(3));
  EXPECT_THAT(Matches(set, "b"), ElementsAre(5));
  EXPECT_THAT(Matches(set, "ab"), IsEmpty());
  EXPECT_THAT(Matches(set, ""), IsEmpty());
  EXPECT_THAT(Matches(RuleSet({}), "a"), IsEmpty());
}

TEST(RuleSet, OneOpenPatternNeedsNoSet) {
  const std::vector<KeyPattern> patterns = {Literal("a"), Open("a(\\d*)")};
  const RuleSet set(Pointers(patterns));
  EXPECT_THAT(Matches(set, "a"), ElementsAre(0, 1));
  EXPECT_THAT(Matches(set, "a12"), ElementsAre(1));
  EXPECT_THAT(Matches(set, "a12."), IsEmpty());
}

// A set that runs out of memory, while it is built or while it matches, must not lose a match.
TEST(RuleSet, AnswersAreTheSameWithoutMemory) {
  std::vector<KeyPattern> patterns;
  for (int i = 0; i < 40; ++i) {
    patterns.push_back(Open("(.+)\\.w" + std::to_string(i % 7) + "[a-c]{2,9}\\.(.+)"));
    patterns.push_back(Open("l(\\d+)\\.(.*)x" + std::to_string(i)));
    patterns.push_back(Literal("l" + std::to_string(i) + ".x" + std::to_string(i)));
  }
  std::mt19937 random(7);
  std::vector<std::string> keys;
  for (int i = 0; i < 400; ++i) {
    std::string key = "l" + std::to_string(random() % 40) + ".";
    for (size_t n = random() % 12; n > 0; --n) key += "w123abc.x."[random() % 10];
    if (random() % 2) key += "x" + std::to_string(random() % 40);
    keys.push_back(key);
  }
  const RuleSet full(Pointers(patterns));
  for (const int64_t memory : {int64_t{1} << 10, int64_t{1} << 16, int64_t{200} << 10}) {
    const RuleSet small(Pointers(patterns), memory);
    for (const std::string& key : keys) {
      std::vector<int> expected;
      for (size_t p = 0; p < patterns.size(); ++p)
        if (patterns[p].is_literal ? patterns[p].prefix == key
                                   : re2::RE2::FullMatch(key, *patterns[p].re))
          expected.push_back(static_cast<int>(p));
      ASSERT_EQ(Matches(full, key), expected) << key;
      ASSERT_EQ(Matches(small, key), expected) << key << " with " << memory;
    }
  }
}

}  // namespace
}  // namespace rekey
