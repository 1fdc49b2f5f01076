#include "grammar/diagnostic.h"

#include <gtest/gtest.h>

#include <string>

namespace rekey {
namespace {

Span At(const Source& source, std::string_view word) {
  const size_t begin = source.text().find(word);
  return {&source, static_cast<uint32_t>(begin), static_cast<uint32_t>(begin + word.size())};
}

TEST(Render, PointsAtThePlace) {
  const Source source("a.rekey", "strict\n\nmapp a -> b\n");
  EXPECT_EQ(Render(Error("unknown-verb", "unknown verb `mapp`")
                       .At(At(source, "mapp"), "not a verb")
                       .Help("write `map`"),
                   false),
            "error: unknown verb `mapp` [unknown-verb]\n"
            " --> a.rekey:3:1\n"
            "  |\n"
            "3 | mapp a -> b\n"
            "  | ^^^^ not a verb\n"
            "  = help: write `map`\n");
}

TEST(Render, NeedsNoPlace) {
  EXPECT_EQ(Render(Warning("disk", "the disk is nearly full").Note("3 MB are left"), false),
            "warning: the disk is nearly full [disk]\n"
            "  = note: 3 MB are left\n");
}

TEST(Render, ShowsLabelsOfOneLineBelowEachOther) {
  const Source source("a.rekey", "map a -> b\n");
  EXPECT_EQ(
      Render(Error("x", "m").At(At(source, "b"), "here").Also(At(source, "map"), "there"), false),
      "error: m [x]\n"
      " --> a.rekey:1:10\n"
      "  |\n"
      "1 | map a -> b\n"
      "  |          ^ here\n"
      "  | --- there\n");
}

TEST(Render, ShowsOtherLinesInOrderAndElidesBetween) {
  const Source source("a.rekey", "one\ntwo\nthree\nfour\n");
  EXPECT_EQ(Render(Error("x", "m")
                       .At(At(source, "four"), "last")
                       .Also(At(source, "one"), "first")
                       .Also(At(source, "two"), ""),
                   false),
            "error: m [x]\n"
            " --> a.rekey:4:1\n"
            "  |\n"
            "1 | one\n"
            "  | --- first\n"
            "2 | two\n"
            "  | ---\n"
            "...\n"
            "4 | four\n"
            "  | ^^^^ last\n");
}

TEST(Render, ShowsOtherFilesAfterTheFirst) {
  const Source main("a.rekey", "strict\n\n\n\n\n\n\n\n\ninclude \"b\"\n");
  const Source included("b.rekey", "mapp\n");
  EXPECT_EQ(Render(Error("x", "m")
                       .At(At(included, "mapp"), "here")
                       .Also(At(main, "include"), "included here"),
                   false),
            "error: m [x]\n"
            "  --> b.rekey:1:1\n"
            "   |\n"
            " 1 | mapp\n"
            "   | ^^^^ here\n"
            "  ::: a.rekey:10:1\n"
            "   |\n"
            "10 | include \"b\"\n"
            "   | ------- included here\n");
}

TEST(Render, KeepsCaretsUnderTheirTextBehindTabsAndWideBytes) {
  const Source source("a.rekey", "\tgröße\tx\n");
  EXPECT_EQ(Render(Error("x", "m").At(At(source, "x")), false),
            "error: m [x]\n"
            " --> a.rekey:1:10\n"
            "  |\n"
            "1 |     größe    x\n"
            "  |              ^\n");
}

TEST(Render, EscapesWhatCouldSteerTheTerminal) {
  const Source source("a\x1b.rekey",
                      "a\x1b[31m\xff"
                      "b\n");
  EXPECT_EQ(Render(Error("x", "key `\x1b[2J\n`")
                       .At({&source, 7, 8}, "\x07")
                       .Note("one\ntwo\x1b")
                       .Help("\xe2\x80\xae"),
                   false),
            "error: key `\\x1b[2J\\n` [x]\n"
            " --> a\\x1b.rekey:1:8\n"
            "  |\n"
            "1 | a\\x1b[31m\\xffb\n"
            "  |              ^ \\x07\n"
            "  = note: one\n"
            "          two\\x1b\n"
            "  = help: \\u{202e}\n");
}

TEST(Render, MarksASpanOfManyLinesOnItsFirst) {
  const Source source("a.rekey", "in a {\n}\n");
  EXPECT_EQ(Render(Error("x", "m").At({&source, 0, 8}), false),
            "error: m [x]\n"
            " --> a.rekey:1:1\n"
            "  |\n"
            "1 | in a {\n"
            "  | ^^^^^^\n");
}

TEST(Render, PointsBehindTheEnd) {
  const Source source("a.rekey", "map\n");
  const std::string empty = "error: m [x]\n --> a.rekey:2:1\n  |\n2 |\n  | ^\n";
  EXPECT_EQ(Render(Error("x", "m").At({&source, 4, 4}), false), empty);
  EXPECT_EQ(Render(Error("x", "m").At({&source, 3, 3}), false),
            "error: m [x]\n --> a.rekey:1:4\n  |\n1 | map\n  |    ^\n");
}

// The caret must stand under the marked character whatever part of the line is shown.
TEST(Render, ShowsAWindowOfALongLine) {
  for (size_t place : {0u, 5u, 100u, 161u, 300u, 500u, 899u}) {
    std::string text(900, '.');
    text[place] = 'X';
    const Source source("a.rekey", text + "\n");
    const std::string shown = Render(Error("x", "m").At({&source, static_cast<uint32_t>(place),
                                                         static_cast<uint32_t>(place + 1)}),
                                     false);
    std::vector<std::string> lines;
    for (size_t begin = 0, end; (end = shown.find('\n', begin)) != std::string::npos;
         begin = end + 1)
      lines.push_back(shown.substr(begin, end - begin));
    ASSERT_EQ(lines.size(), 5u);
    EXPECT_LE(lines[3].size(), 4 + 160 + 6u);
    EXPECT_EQ(lines[3].find('X'), lines[4].find('^')) << shown;
    EXPECT_NE(lines[3].find("..."), std::string::npos);
  }
}

TEST(Render, DoesNotCutCharactersInALongLine) {
  std::string text;
  for (int i = 0; i < 300; ++i) text += "ö";
  const Source source("a.rekey", text);
  const std::string shown = Render(Error("x", "m").At({&source, 400, 402}), false);
  EXPECT_EQ(shown.find("\\x"), std::string::npos) << shown;
}

TEST(Render, Colours) {
  const Source source("a.rekey", "ab\n");
  EXPECT_EQ(Render(Error("x", "m").At({&source, 0, 1}, "here"), true),
            "\x1b[1;31merror\x1b[0m\x1b[1m: m\x1b[0m [x]\n"
            " \x1b[1;34m--> \x1b[0ma.rekey:1:1\n"
            "\x1b[1;34m  |\x1b[0m\n"
            "\x1b[1;34m1 |\x1b[0m ab\n"
            "\x1b[1;34m  |\x1b[0m \x1b[1;31m^ here\x1b[0m\n");
}

TEST(HasErrors, IgnoresWarnings) {
  EXPECT_FALSE(HasErrors({}));
  EXPECT_FALSE(HasErrors({Warning("x", "m")}));
  EXPECT_TRUE(HasErrors({Warning("x", "m"), Error("x", "m")}));
}

}  // namespace
}  // namespace rekey
