#include "engine/captures.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

#include "engine/regex.h"

namespace rekey {
namespace {

KeyPattern Pattern(const std::string& regex) {
  KeyPattern pattern;
  pattern.regex = regex;
  pattern.re = std::make_shared<re2::RE2>(regex, RegexOptions());
  for (int group = pattern.re->NumberOfCapturingGroups(); group > 0; --group)
    pattern.groups.push_back(group);
  return pattern;
}

TEST(Captures, KnowsWhatItCanReadByItself) {
  for (const char* regex : {"a\\.(\\d+)\\.([^./]+)/w", "(.+)\\.w", "a(.+)", "(?:conv_(\\d+)\\/k)",
                            "([^./]+)\\.(\\d+)x(.+)-(\\d+)\\.([^./]+)"})
    EXPECT_TRUE(Captures(Pattern(regex)).is_simple()) << regex;
  for (const char* regex :
       {"(.+)\\.(.+)", "(\\d+)([^./]+)", "(\\d+)1", "([^./]+)x", "(weight|bias)", "(?:a|b)",
        "(?i:a)(\\d+)", "a*(\\d+)", "(?:(\\d+))?", "\\d(\\d+)", "(.+)(\\d+)", "x(.+)y([^./]+)"})
    EXPECT_FALSE(Captures(Pattern(regex)).is_simple()) << regex;
}

// RE2 is the oracle: the same answer and the same texts for random patterns and keys.
TEST(Captures, EqualsRE2) {
  const std::vector<std::string> pieces = {"(\\d+)", "([^./]+)", "(.+)", "\\.", "a",
                                           "1",      "\\/",      "b\\.", "-"};
  std::mt19937 random(11);
  size_t simple = 0, matched = 0;
  for (int round = 0; round < 3000; ++round) {
    std::string regex;
    for (size_t n = 1 + random() % 6; n > 0; --n) regex += pieces[random() % pieces.size()];
    if (random() % 4 == 0) regex = "(?:" + regex + ")";
    const KeyPattern pattern = Pattern(regex);
    const Captures captures(pattern);
    simple += captures.is_simple();
    for (int k = 0; k < 60; ++k) {
      std::string key;
      for (size_t n = random() % 9; n > 0; --n) key += "a1./b-27"[random() % 8];
      std::vector<std::string_view> expected, got;
      const bool fits = pattern.Match(key, &expected);
      ASSERT_EQ(captures.Read(key, &got), fits) << regex << " on " << key;
      if (!fits) continue;
      matched += captures.is_simple();
      ASSERT_EQ(got, expected) << regex << " on " << key;
    }
  }
  EXPECT_GT(simple, 500u);
  EXPECT_GT(matched, 300u);
}

}  // namespace
}  // namespace rekey
