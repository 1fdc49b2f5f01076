// Patterns against keys: what each hole takes, by the language's definition of it.
#include "engine/pattern.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "engine/compile.h"

namespace rekey {
namespace {

struct Case {
  const char* pattern;
  const char* key;
  const char* texts;  // of the variables, joined by `,`; null: no match
};

// Compiled as the source of a rule, with the variables in order.
std::string Match(const std::string& pattern, std::string_view key, bool* ok) {
  const LoadedRules loaded = LoadRulesText(
      "a.rekey",
      "table norm { gamma = weight, ga = x }\ntable n { 1 = 2, 12 = 3 }\ndrop " + pattern + "\n");
  EXPECT_TRUE(loaded.file) << pattern;
  const Compiled compiled = Compile(loaded.file, {});
  EXPECT_TRUE(compiled.program) << pattern;
  if (!compiled.program) return "";
  const Rule& rule = compiled.program->passes[0].rules[0];
  std::vector<std::string_view> variables;
  *ok = rule.sources[0].Match(key, &variables);
  std::string texts;
  for (const std::string_view text : variables)
    texts += (texts.empty() ? "" : ",") + (text.data() ? std::string(text) : std::string("-"));
  return texts;
}

TEST(Patterns, MatchWholeKeys) {
  const std::vector<Case> cases = {
      {"a.b", "a.b", ""},
      {"a.b", "axb", nullptr},  // a dot is a dot
      {"a.b", "a.bc", nullptr},
      {"a.b", "xa.b", nullptr},
      {"a.{x}", "a.b", "b"},
      {"a.{x}", "a.b.c", nullptr},  // one segment
      {"a.{x}", "a.b/c", nullptr},
      {"a.{x}", "a.", nullptr},
      {"a.{x}", "a.b:0", "b:0"},
      {"{x}/{y}", "a/b", "a,b"},
      {"{p:any}.w", "a.b/c.w", "a.b/c"},
      {"{p:any}.w", ".w", nullptr},
      {"{p:any}.w", "a\nb.w", "a\nb"},  // keys may hold newlines
      {"{p:any}", "\xc3\xa9\xe2\x82\xac", "\xc3\xa9\xe2\x82\xac"},
      {"{p:any}.{q:any}", "a.b.c", "a.b,c"},  // leftmost greedy
      {"l{i:int}", "l007", "007"},
      {"l{i:int}", "l-1", nullptr},
      {"l{i:int}", "l", nullptr},
      {"b_{i:03}", "b_007", "007"},
      {"b_{i:03}", "b_123", "123"},
      {"b_{i:03}", "b_1234", "1234"},
      {"b_{i:03}", "b_07", nullptr},
      {"b_{i:03}", "b_0007", nullptr},                    // four digits are not padded to three
      {"{x:conv|conv_1}{r:any}", "conv_1a", "conv_1,a"},  // the longer word
      {"{x:a|b}", "c", nullptr},
      {"{x:a.b|c}", "a.b", "a.b"},
      {"{x:a.b|c}", "axb", nullptr},
      {"{x:norm}{r:any}", "gammab", "gamma,b"},
      {"{x:norm}", "ga", "ga"},
      {"{x:n}", "12", "12"},
      {"{_}.{_:int}", "a.3", "a,3"},
      {"\"a b{x}\"", "a bc", "c"},
      {"a\\{b\\}", "a{b}", ""},
      {"/a(b)?c/", "ac", "-"},
      {"/a(b)?c/", "abc", "b"},
      {"/a|bc/", "a", ""},
      {"/a|bc/", "ab", nullptr},
      {"/a|bc/", "ac", nullptr},
      {"/(?i)CONV(\\d+)/", "conv12", "12"},
      {"/conv_(\\d+)\\/kernel:0/", "conv_1/kernel:0", "1"},
      {"/(?P<n>\\d+)x/", "12x", "12"},
      {"/a.b/", "a\nb", ""},
      {"/x*y/", "y", ""},
      {"/ab?c/", "ac", ""},
      {"/a\xc3\xa9?/", "a", ""},
      {"/a{2}b/", "aab", ""},
      {"/\\.a/", ".a", ""},
      {"/\\da/", "1a", ""},
  };
  for (const Case& each : cases) {
    bool ok = false;
    const std::string texts = Match(each.pattern, each.key, &ok);
    EXPECT_EQ(ok, each.texts != nullptr) << each.pattern << " on " << each.key;
    EXPECT_EQ(ok ? texts : "", each.texts ? each.texts : "") << each.pattern << " on " << each.key;
  }
}

TEST(Patterns, TakeCharactersOfRegexesLiterally) {
  const std::string odd = "a+b(c)*[d]^$|?x";
  bool ok = false;
  Match("\"" + odd + "{x}\"", odd + "y", &ok);
  EXPECT_TRUE(ok);
  Match("\"" + odd + "\"", odd, &ok);
  EXPECT_TRUE(ok);
  Match("\"" + odd + "{x}\"", "aab(c)*[d]^$|?xy", &ok);
  EXPECT_FALSE(ok);
}

// A match begins with the prefix, whatever the pattern: the prefix is only a shortcut.
TEST(Patterns, PrefixIsWhatEveryMatchBeginsWith) {
  const auto prefix = [](const std::string& pattern) {
    const LoadedRules loaded = LoadRulesText("a.rekey", "drop " + pattern + "\n");
    return Compile(loaded.file, {}).program->passes[0].rules[0].sources[0].prefix;
  };
  EXPECT_EQ(prefix("layers.{i:int}.w"), "layers.");
  EXPECT_EQ(prefix("{x}.w"), "");
  EXPECT_EQ(prefix("/conv_(\\d+)/"), "conv_");
  EXPECT_EQ(prefix("/conv\\.1?/"), "conv.");
  EXPECT_EQ(prefix("/ab|cd/"), "");
  EXPECT_EQ(prefix("/(?i)ab/"), "");
  EXPECT_EQ(prefix("/ab*/"), "a");
  EXPECT_EQ(prefix("/a\xc3\xa9*/"), "a");
}

TEST(Filter, IsAPatternOfTheLanguage) {
  const Result<KeyPattern> filter = CompileFilter("layers.{i:int}.{r:any}");
  ASSERT_TRUE(filter.ok());
  std::vector<std::string_view> variables;
  EXPECT_TRUE(filter->Match("layers.3.a.b", &variables));
  EXPECT_FALSE(filter->Match("layers.x.a.b", &variables));
}

TEST(Filter, ShowsTheTextOfAWrongOne) {
  for (const char* text : {"/a(b/", "a.{x", "{x:nope}"}) {
    const Result<KeyPattern> filter = CompileFilter(text);
    ASSERT_FALSE(filter.ok()) << text;
    EXPECT_FALSE(filter.error().primary.span) << text;
    EXPECT_NE(Render(filter.error(), false).find(text), std::string::npos) << text;
  }
}

}  // namespace
}  // namespace rekey
