#include "grammar/source.h"

#include <gtest/gtest.h>

#include <string>

namespace rekey {
namespace {

TEST(Source, LocatesEveryByte) {
  const Source source("a.rekey", "ab\n\ncd");
  const std::pair<uint32_t, uint32_t> expected[] = {{1, 1}, {1, 2}, {1, 3}, {2, 1},
                                                    {3, 1}, {3, 2}, {3, 3}};
  for (uint32_t offset = 0; offset < std::size(expected); ++offset) {
    const Location at = source.Locate(offset);
    EXPECT_EQ(at.line, expected[offset].first) << offset;
    EXPECT_EQ(at.column, expected[offset].second) << offset;
  }
}

TEST(Source, GivesLinesWithoutTheirEnds) {
  const Source source("a.rekey", "one\r\ntwo\n\nfour\r\r\nlast");
  EXPECT_EQ(source.Line(1), "one");
  EXPECT_EQ(source.Line(2), "two");
  EXPECT_EQ(source.Line(3), "");
  EXPECT_EQ(source.Line(4), "four\r");
  EXPECT_EQ(source.Line(5), "last");
}

TEST(Source, HasNoLinesOutsideTheText) {
  const Source source("a.rekey", "one\n");
  EXPECT_EQ(source.Line(0), "");
  EXPECT_EQ(source.Line(2), "");
  EXPECT_EQ(source.Line(3), "");
  EXPECT_EQ(Source("empty", "").Line(1), "");
  EXPECT_EQ(Source("empty", "").Locate(0).line, 1u);
}

TEST(Span, IsNowhereUnlessItHasASource) {
  EXPECT_FALSE(Span());
  EXPECT_EQ(Span().Text(), "");
  const Source source("a.rekey", "strip \"module.\"");
  const Span span{&source, 6, 15};
  EXPECT_TRUE(span);
  EXPECT_EQ(span.Text(), "\"module.\"");
}

}  // namespace
}  // namespace rekey
