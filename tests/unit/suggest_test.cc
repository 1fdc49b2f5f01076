#include "grammar/suggest.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

namespace rekey {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(EditDistance, CountsEachKindOfEditOnce) {
  EXPECT_EQ(EditDistance("strip", "strip", 9), 0u);
  EXPECT_EQ(EditDistance("strp", "strip", 9), 1u);    // insert
  EXPECT_EQ(EditDistance("sttrip", "strip", 9), 1u);  // delete
  EXPECT_EQ(EditDistance("stryp", "strip", 9), 1u);   // replace
  EXPECT_EQ(EditDistance("strpi", "strip", 9), 1u);   // swap
  EXPECT_EQ(EditDistance("", "abc", 9), 3u);
  EXPECT_EQ(EditDistance("kitten", "sitting", 9), 3u);
}

TEST(EditDistance, StopsAboveTheLimit) {
  EXPECT_EQ(EditDistance("kitten", "sitting", 3), 3u);
  EXPECT_EQ(EditDistance("kitten", "sitting", 2), 3u);
  EXPECT_EQ(EditDistance("kitten", "sitting", 1), 2u);
  EXPECT_EQ(EditDistance("a", "a very long text", 4), 5u);
}

// The whole table, by recursion from the definition: no rows saved, no early end.
size_t Reference(const std::string& a, const std::string& b) {
  std::vector<std::vector<size_t>> d(a.size() + 1, std::vector<size_t>(b.size() + 1));
  for (size_t i = 0; i <= a.size(); ++i) {
    for (size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        d[i][j] = i + j;
        continue;
      }
      d[i][j] =
          std::min({d[i - 1][j] + 1, d[i][j - 1] + 1, d[i - 1][j - 1] + (a[i - 1] != b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
    }
  }
  return d[a.size()][b.size()];
}

TEST(EditDistance, AgreesWithTheDefinition) {
  std::mt19937 random(7);
  const auto word = [&] {
    std::string text(random() % 9, 'a');
    for (char& c : text) c = static_cast<char>('a' + random() % 3);
    return text;
  };
  for (int i = 0; i < 20000; ++i) {
    const std::string a = word(), b = word();
    const size_t limit = random() % 6;
    EXPECT_EQ(EditDistance(a, b, limit), std::min(Reference(a, b), limit + 1))
        << a << " " << b << " " << limit;
  }
}

TEST(Nearest, GivesTheNearestFirst) {
  EXPECT_THAT(Nearest("strpi", {"strip", "split", "map"}), ElementsAre("strip"));
  EXPECT_THAT(Nearest("weigth", {"height", "weights", "weight"}),
              ElementsAre("weight", "height", "weights"));
  EXPECT_THAT(Nearest("model.norm.weigth", {"model.embed.weight", "model.norm.weight"}),
              ElementsAre("model.norm.weight", "model.embed.weight"));
}

TEST(Nearest, KeepsTheOrderOfEqualsAndTheCount) {
  EXPECT_THAT(Nearest("layer0", {"layer3", "layer1", "layer2", "layer4"}),
              ElementsAre("layer3", "layer1", "layer2"));
  EXPECT_THAT(Nearest("layer0", {"layer3", "layer1"}, 1), ElementsAre("layer3"));
}

TEST(Nearest, DoesNotInvent) {
  EXPECT_THAT(Nearest("frobnicate", {"map", "keep", "strip"}), IsEmpty());
  EXPECT_THAT(Nearest("x", {"y"}), IsEmpty());
  EXPECT_THAT(Nearest("", {"in", "map"}), IsEmpty());
}

}  // namespace
}  // namespace rekey
