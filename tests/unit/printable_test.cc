#include "grammar/printable.h"

#include <gtest/gtest.h>

#include <string>

namespace rekey {
namespace {

TEST(ValidUtf8, TakesWellFormedTextsOnly) {
  const std::string good = "a\xc2\xa2\xe2\x82\xac\xf0\x9f\x98\x80";  // 1, 2, 3 and 4 bytes
  EXPECT_EQ(ValidUtf8(good), good.size());
  EXPECT_EQ(ValidUtf8(""), 0u);
  EXPECT_EQ(ValidUtf8(std::string("a\0b", 3)), 3u);
  for (const char* bad : {
           "ab\xff",          // never a byte of UTF-8
           "ab\xc0\xaf",      // `/` in two bytes
           "ab\xe0\x80\xaf",  // and in three
           "ab\xf0\x80\x80\xaf",
           "ab\xed\xa0\x80",      // a surrogate
           "ab\xf4\x90\x80\x80",  // above U+10FFFF
           "ab\xe2\x82",          // cut
           "ab\x80",              // a continuation alone
       })
    EXPECT_EQ(ValidUtf8(bad), 2u) << bad;
}

TEST(Printable, LeavesTextsAlone) {
  EXPECT_EQ(Printable("layers.0/größe:0 重み"), "layers.0/größe:0 重み");
}

TEST(Printable, EscapesWhatSteersATerminal) {
  EXPECT_EQ(Printable("a\x1b[2J"), "a\\x1b[2J");
  EXPECT_EQ(Printable("a\r\n\tb\x7f"), "a\\r\\n\\tb\\x7f");
  EXPECT_EQ(Printable(std::string("\0", 1)), "\\x00");
  EXPECT_EQ(Printable("\xc2\x9b"), "\\u{9b}");        // CSI in one character
  EXPECT_EQ(Printable("\xe2\x80\xae"), "\\u{202e}");  // right-to-left override
  EXPECT_EQ(Printable("\xef\xbb\xbf"), "\\u{feff}");
  EXPECT_EQ(Printable("a\xff"
                      "b"),
            "a\\xffb");
}

TEST(FirstGlyph, SaysHowMuchItTook) {
  EXPECT_EQ(FirstGlyph("ö.").bytes, 2u);
  EXPECT_EQ(FirstGlyph("ö.").width, 1u);
  EXPECT_EQ(FirstGlyph("\x1b.").bytes, 1u);
  EXPECT_EQ(FirstGlyph("\x1b.").width, 4u);
}

}  // namespace
}  // namespace rekey
