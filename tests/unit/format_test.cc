#include "grammar/format.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "grammar/dump.h"
#include "grammar/parser.h"

namespace rekey {
namespace {

namespace fs = std::filesystem;

ast::File ParseGood(const std::string& text) {
  ParseResult result = Parse(std::make_shared<Source>("test.rekey", text));
  for (const Diagnostic& diagnostic : result.diagnostics)
    ADD_FAILURE() << Render(diagnostic, false);
  return result.file;
}

std::string Formatted(const std::string& text) {
  const ast::File file = ParseGood(text);
  const std::string once = Format(file);
  const ast::File again = ParseGood(once);
  EXPECT_EQ(Format(again), once);
  EXPECT_EQ(Dump(again), Dump(file));
  EXPECT_EQ(again.comments.size(), file.comments.size());
  return once;
}

TEST(Format, LeavesTheWorkedExamplesAlone) {
  for (const auto& entry :
       fs::directory_iterator(fs::path(REKEY_SOURCE_DIR) / "tests/data/rules")) {
    std::ifstream in(entry.path(), std::ios::binary);
    std::stringstream text;
    text << in.rdbuf();
    EXPECT_EQ(Formatted(text.str()), text.str()) << entry.path();
  }
}

TEST(Format, SpacesTokensOneWay) {
  EXPECT_EQ(Formatted("  rekey   1\nstrip?   all   \"a.\"  \"b.\"\nparam n :int=3\n"
                      "table t { a=b ,c = \"d\" }\nlet x=a+b*( c-1 )%2\n"
                      "map a-{i:int} -> b{i+1:03}|permute( 3,2,0,1 )|cast(f16,overflow:clamp)\n"
                      "map a|slice(0,1..n-1,step:2)\n"
                      "merge [ a,b ] -> c by i,j in 0..n | cat(0)\n"
                      "expect K : f32[ a,b ]  for i in 0..3\n"
                      "keep x if not(a==b)and-1<c\n"),
            "rekey 1\n"
            "strip? all \"a.\" \"b.\"\n"
            "param n: int = 3\n"
            "table t { a = b, c = \"d\" }\n"
            "let x = a + b * (c - 1) % 2\n"
            "map a-{i:int} -> b{i + 1:03} | permute(3, 2, 0, 1) | cast(f16, overflow: clamp)\n"
            "map a | slice(0, 1..n - 1, step: 2)\n"
            "merge [a, b] -> c by i, j in 0..n | cat(0)\n"
            "expect K : f32[a, b] for i in 0..3\n"
            "keep x if not (a == b) and -1 < c\n");
}

TEST(Format, IndentsBlocksAndKeepsSingleBlankLines) {
  EXPECT_EQ(Formatted("\n\n# top\n\n\n\nin a {\n\n\nmap b\n\n\n      in c {\nkeep d\n}\n\n}\n"
                      "test \"t\" {\n\na => b\n\n\nc => d\n\n}\n\n\n"),
            "# top\n"
            "\n"
            "in a {\n"
            "  map b\n"
            "\n"
            "  in c {\n"
            "    keep d\n"
            "  }\n"
            "}\n"
            "test \"t\" {\n"
            "  a => b\n"
            "\n"
            "  c => d\n"
            "}\n");
}

TEST(Format, KeepsTheAuthorsLineBreaks) {
  const std::string text =
      "map a -> b\n"
      "  | t\n"
      "  | u\n"
      "merge a -> b\n"
      "  by i\n"
      "  if rank == 2\n"
      "  | cat(0)\n"
      "merge [\n"
      "  a,\n"
      "  b\n"
      "] -> c | same\n"
      "let x = [1, 2,\n"
      "  3, 4]\n"
      "let y = (a +\n"
      "  b) * 2\n"
      "table t {\n"
      "  a = b\n"
      "  c = d\n"
      "}\n";
  EXPECT_EQ(Formatted(text), text);
}

TEST(Format, BreaksAllOperationsIfItBreaksOne) {
  EXPECT_EQ(Formatted("map a | t\n  | u\nmerge a -> b\n  by i | t | u\n"),
            "map a\n"
            "  | t\n"
            "  | u\n"
            "merge a -> b\n"
            "  by i\n"
            "  | t\n"
            "  | u\n");
}

TEST(Format, BreaksWhatDoesNotFit) {
  const std::string a(50, 'a'), b(35, 'b');
  EXPECT_EQ(Formatted("map " + a + " -> " + b + " | transpose\n"),  // 93 and 12 columns
            "map " + a + " -> " + b + "\n  | transpose\n");
  EXPECT_EQ(Formatted("map " + a + " -> " + b + " | t(0)\n"),  // 100 columns
            "map " + a + " -> " + b + " | t(0)\n");
  EXPECT_EQ(Formatted("map " + a + " -> " + b + " | t(00)\n"),
            "map " + a + " -> " + b + " | t(0)\n");
  EXPECT_EQ(Formatted("map " + a + " -> " + b + " | t(01, 2)\n"),
            "map " + a + " -> " + b + "\n  | t(1, 2)\n");
  EXPECT_EQ(Formatted("merge " + a + " -> " + b + " by hole if x | t\n"),
            "merge " + a + " -> " + b + "\n  by hole\n  if x\n  | t\n");
  EXPECT_EQ(Formatted("split " + a + " -> [" + b + ", " + b + "] | t\n"),
            "split " + a + " -> [\n  " + b + ",\n  " + b + "\n] | t\n");
  const std::string c(28, 'c');
  EXPECT_EQ(Formatted("table t { " + a + " = x, " + c + " = y }\n"),  // 100 columns
            "table t { " + a + " = x, " + c + " = y }\n");
  EXPECT_EQ(Formatted("table t { " + a + " = x, " + c + " = yy }\n"),
            "table t {\n  " + a + " = x\n  " + c + " = yy\n}\n");
}

TEST(Format, PutsCommentsBackWhereTheyStood) {
  EXPECT_EQ(Formatted("  # own line   \n"
                      "strict # close\n"
                      "strip \"a\"             # aligned\n"
                      "map   a   ->   b       # aligned\n"
                      "   # before the operation\n"
                      "\n"
                      "   | t(1, # in brackets\n"
                      "       2)\n"
                      "# before the scope\n"
                      "in a { # behind the brace\n"
                      "\n"
                      "     # in the scope\n"
                      "\n"
                      "  # twice\n"
                      "  keep x\n"
                      "  # at its end\n"
                      "}\n"
                      "merge [ # one\n"
                      "  a, # two\n"
                      "  b # three\n"
                      "  # four\n"
                      "] -> c | same\n"
                      "table t { a = b # five\n"
                      "# six\n"
                      "}\n"
                      "let x = ( # seven\n"
                      "  a # eight\n"
                      "  + b # nine\n"
                      ")\n"
                      "# last"),
            "# own line\n"
            "strict  # close\n"
            "strip \"a\"             # aligned\n"
            "map a -> b             # aligned\n"
            "  # before the operation\n"
            "  | t(1,  # in brackets\n"
            "    2)\n"
            "# before the scope\n"
            "in a {  # behind the brace\n"
            "  # in the scope\n"
            "\n"
            "  # twice\n"
            "  keep x\n"
            "  # at its end\n"
            "}\n"
            "merge [  # one\n"
            "  a,  # two\n"
            "  b  # three\n"
            "  # four\n"
            "] -> c | same\n"
            "table t {\n"
            "  a = b         # five\n"
            "  # six\n"
            "}\n"
            "let x = (  # seven\n"
            "  a +  # eight\n"
            "  b   # nine\n"
            ")\n"
            "# last\n");
}

TEST(Format, QuotesOnlyWhatNeedsIt) {
  EXPECT_EQ(Formatted("map \"a\" -> \"b c\"\n"), "map \"a\" -> \"b c\"\n");
  EXPECT_EQ(Formatted("map \\{a\\} -> \\\\b\n"), "map \\{a\\} -> \\\\b\n");
  EXPECT_EQ(Formatted("expect \"no\"\nselect \"all\"\n"), "expect \"no\"\nselect \"all\"\n");
  EXPECT_EQ(Formatted("map {w:\"a b\"|\"c\"} -> x\n"), "map {w:\"a b\"|c} -> x\n");
}

ast::Pattern Literal(const std::string& text) {
  ast::Pattern pattern;
  pattern.parts.push_back({{}, text, {}});
  return pattern;
}

ast::Target Text(const std::string& text) {
  ast::Target target;
  target.parts.push_back({});
  target.parts[0].text = text;
  return target;
}

ast::Expr Name(const std::string& name) {
  ast::Expr expr;
  expr.kind = ast::Expr::Kind::kName;
  expr.text = name;
  return expr;
}

ast::Expr Binary(const std::string& op, ast::Expr left, ast::Expr right) {
  ast::Expr expr;
  expr.kind = ast::Expr::Kind::kBinary;
  expr.text = op;
  expr.args = {std::move(left), std::move(right)};
  return expr;
}

TEST(Format, WritesTreesThatWereNeverText) {
  ast::Rule rule;
  rule.sources = {Literal("/a b")};
  rule.targets = {Text("no \"x\"")};
  ast::Statement statement;
  statement.node = rule;
  EXPECT_EQ(Format(statement), "map \"/a b\" -> \"no \\\"x\\\"\"");

  ast::Expect expect;
  expect.target = Text("count");
  ast::Statement check;
  check.node = expect;
  EXPECT_EQ(Format(check), "expect \"count\"");

  ast::File file;
  file.statements.resize(4);
  file.statements[0].node = ast::Version{1};
  file.statements[1].node = ast::Let{"x", {}, Name("y")};
  file.statements[2].node = rule;
  file.statements[3].node = ast::Else{};
  EXPECT_EQ(Format(file), "rekey 1\n\nlet x = y\n\nmap \"/a b\" -> \"no \\\"x\\\"\"\nelse pass\n");
}

TEST(Format, AddsTheParenthesesThatTheTreeNeeds) {
  const ast::Expr a = Name("a"), b = Name("b"), c = Name("c");
  EXPECT_EQ(Format(Binary("*", Binary("+", a, b), c)), "(a + b) * c");
  EXPECT_EQ(Format(Binary("-", a, Binary("-", b, c))), "a - (b - c)");
  EXPECT_EQ(Format(Binary("-", Binary("-", a, b), c)), "a - b - c");
  EXPECT_EQ(Format(Binary("and", Binary("or", a, b), c)), "(a or b) and c");
  EXPECT_EQ(Format(Binary("==", Binary("==", a, b), c)), "(a == b) == c");
  ast::Expr minus;
  minus.kind = ast::Expr::Kind::kUnary;
  minus.text = "-";
  minus.args = {Binary("+", a, b)};
  EXPECT_EQ(Format(minus), "-(a + b)");
  ast::Expr negative;
  negative.integer = -5;
  EXPECT_EQ(Format(Binary("-", a, negative)), "a - -5");
  ast::Expr real;
  real.kind = ast::Expr::Kind::kReal;
  real.real = 3;
  EXPECT_EQ(Format(real), "3.0");
  real.real = 1e-9;
  EXPECT_EQ(Format(real), "1e-09");
}

TEST(Format, KeepsADigitApartFromAGroup) {
  ast::Target target;
  target.parts.resize(2);
  target.parts[0].kind = ast::Target::Part::Kind::kGroup;
  target.parts[0].group = 1;
  target.parts[1].text = "0";
  EXPECT_EQ(Format(target), "{\\1}0");
}

TEST(Format, WritesOneConstructOnOneLine) {
  const ast::File file = ParseGood(
      "in a. -> b. if x {\n  map c\n}\nmap a -> b\n  | t(1,\n 2)   # c\n  | u\n"
      "table t {\n  a = b\n}\ntest \"t\" {\n  a => b\n}\n");
  EXPECT_EQ(Format(file.statements[0]), "in a. -> b. if x");
  EXPECT_EQ(Format(file.statements[1]), "map a -> b | t(1, 2) | u");
  EXPECT_EQ(Format(file.statements[2]), "table t { a = b }");
  EXPECT_EQ(Format(file.statements[3]), "test \"t\"");
}

}  // namespace
}  // namespace rekey
