#include "grammar/parser.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <ostream>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "grammar/dump.h"
#include "grammar/format.h"

namespace rekey {
namespace {

namespace fs = std::filesystem;

ParseResult ParseText(std::string text) {
  return Parse(std::make_shared<Source>("test.rekey", std::move(text)));
}

// The tree in brackets, or what was said instead.
std::string Tree(std::string text) {
  const ParseResult result = ParseText(std::move(text));
  std::string out = Dump(result.file);
  for (const Diagnostic& diagnostic : result.diagnostics) out += Render(diagnostic, false);
  return out;
}

TEST(Grammar, HasNoCyclesWithoutProgress) { EXPECT_EQ(AnalyzeGrammar(), 0u); }

TEST(Parse, TheTwoLinesOfTheIntroduction) {
  EXPECT_EQ(Tree("strip \"module.\"\n"
                 "map /conv_(\\d+)\\/kernel:0/ -> conv\\1.weight\n"),
            "(strip \"module.\")\n"
            "(map (regex \"conv_(\\\\d+)\\\\/kernel:0\") -> (target \"conv\" \\1 \".weight\"))\n");
}

struct Case {
  const char* text;
  const char* tree;

  friend std::ostream& operator<<(std::ostream& out, const Case& that) { return out << that.text; }
};

class OneStatement : public testing::TestWithParam<Case> {};

TEST_P(OneStatement, HasItsTree) {
  EXPECT_EQ(Tree(std::string(GetParam().text) + "\n"), std::string(GetParam().tree) + "\n");
  // The same without a line end, with a comment, and indented.
  EXPECT_EQ(Tree(GetParam().text), std::string(GetParam().tree) + "\n");
  EXPECT_EQ(Tree(std::string("  ") + GetParam().text + " # why"),
            std::string(GetParam().tree) + "\n");
}

INSTANTIATE_TEST_SUITE_P(
    Heads, OneStatement,
    testing::Values(
        Case{"rekey 1", "(rekey 1)"}, Case{"strict", "(strict)"},
        Case{"include \"common/unwrap.rekey\"", "(include \"common/unwrap.rekey\")"},
        Case{"include \"pack:megatron-llama@2\"", "(include \"pack:megatron-llama@2\")"},
        Case{"require heads % kv_heads == 0, \"must \\\"divide\\\"\"",
             "(require (== (% heads kv_heads) 0) \"must \\\"divide\\\"\")"},
        Case{"require n > 1", "(require (> n 1))"},
        Case{"param layers: int = 12", "(param layers :int 12)"},
        Case{"param n: float", "(param n :float)"}, Case{"param n = \"a\"", "(param n \"a\")"},
        Case{"param heads: int = meta(\"config.num_attention_heads\")",
             "(param heads :int (call meta \"config.num_attention_heads\"))"},
        Case{"param v = meta(\"checkpoint_version\", 0)",
             "(param v (call meta \"checkpoint_version\" 0))"},
        Case{"let per_stage = layers / pp", "(let per_stage (/ layers pp))"},
        Case{"table norm { gamma = weight, beta = bias }",
             "(table norm (row \"gamma\" (target \"weight\")) (row \"beta\" (target \"bias\")))"},
        Case{
            "table first { 0 = 0, 1 = 7, 2 = 15, }",
            "(table first (row \"0\" (target \"0\")) (row \"1\" (target \"7\")) (row \"2\" (target "
            "\"15\")))"},
        Case{"table t {\n  # c\n\n  \"a b\" = x.{n + 1}   # d\n  c = \"d e\"\n}",
             "(table t (row \"a b\" (target \"x.\" {(+ n 1)})) (row \"c\" (quoted \"d e\")))"},
        Case{"source mp_rank_{t:int}/model.pt -> tp{t}.",
             "(source (pattern \"mp_rank_\" {t:int} \"/model.pt\") (target \"tp\" {t} \".\"))"},
        Case{"source a/{x} -> b{x} if meta(\"args.n\", 1) > 1",
             "(source (pattern \"a/\" {x}) (target \"b\" {x}) (> (call meta \"args.n\" 1) 1))"},
        Case{"sink tp{t:int}. -> mp_rank_{t:02}/model.pt",
             "(sink (pattern \"tp\" {t:int} \".\") (target \"mp_rank_\" {t:02} \"/model.pt\"))"},
        Case{"select state_dict", "(select \"state_dict\")"},
        Case{"select \"model state\"", "(select \"model state\")"},
        Case{"select all", "(select all)"}, Case{"select \"all\"", "(select \"all\")"}));

INSTANTIATE_TEST_SUITE_P(
    Edits, OneStatement,
    testing::Values(Case{"strip \"A\" \"B\"", "(strip \"A\" \"B\")"},
                    Case{"strip? all \"module.\" \"_orig_mod.\"",
                         "(strip? all \"module.\" \"_orig_mod.\")"},
                    Case{"strip anywhere \"a.\"", "(strip anywhere \"a.\")"},
                    Case{"strip suffix \":0\"", "(strip suffix \":0\")"},
                    Case{"rename self_attn -> attention",
                         "(rename (pattern \"self_attn\") (target \"attention\"))"},
                    Case{"rename? /layer_(\\d+)/ -> layer.\\1",
                         "(rename? (regex \"layer_(\\\\d+)\") (target \"layer.\" \\1))"},
                    Case{"rename layer_{i:int} -> layer.{i}",
                         "(rename (pattern \"layer_\" {i:int}) (target \"layer.\" {i}))"},
                    Case{"prefix model.", "(prefix (target \"model.\"))"},
                    Case{"suffix \".weight\"", "(suffix (quoted \".weight\"))"}));

INSTANTIATE_TEST_SUITE_P(
    Rules, OneStatement,
    testing::Values(
        Case{"map a | transpose", "(map (pattern \"a\") (op transpose))"},
        Case{"map a|t()|u", "(map (pattern \"a\") (op t ()) (op u))"},
        Case{"map? \"a b\" -> \"\"", "(map? (quoted-pattern \"a b\") -> (quoted))"},
        Case{"map \\{a\\} -> \"\\\"\\\\\"", "(map (pattern \"{a}\") -> (quoted \"\\\"\\\\\"))"},
        Case{"map a.{x}.{_}.{_:int}.{m:A|B}.{w:\"a b\"|c} -> {x}{m}",
             "(map (pattern \"a.\" {x} \".\" {_} \".\" {_:int} \".\" {m:A|B} \".\" {w:\"a b\"|c}) "
             "-> "
             "(target {x} {m}))"},
        Case{"map block_{i:03} -> b{i:03}.\\0",
             "(map (pattern \"block_\" {i:03}) -> (target \"b\" {i:03} \".\" \\0))"},
        Case{"map a -> b if rank == 4 and dtype == f32",
             "(map (pattern \"a\") -> (target \"b\") if (and (== rank 4) (== dtype f32)))"},
        Case{"map {p:any}/v -> {p} if not has({p}/v/x) or dim(0) >= 2",
             "(map (pattern {p:any} \"/v\") -> (target {p}) if (or (not (has (target {p} "
             "\"/v/x\"))) (>= (call dim 0) 2)))"},
        Case{"map a -> b\n  if rank == 2   # c\n\n  # d\n  | cast(f16, overflow: clamp)\n  | "
             "slice(0, "
             "1..n - 1, step: 2)",
             "(map (pattern \"a\") -> (target \"b\") if (== rank 2) (op cast () (arg f16) (arg "
             "overflow: clamp)) (op slice () (arg 0) (arg 1 (- n 1)) (arg step: 2)))"},
        Case{"map a | unflatten(0, [heads, -1, 2])",
             "(map (pattern \"a\") (op unflatten () (arg 0) (arg (list heads (- 1) 2))))"},
        Case{"map a | reshape(dim(0) / 3, 3,\n    dim(1),\n  )",
             "(map (pattern \"a\") (op reshape () (arg (/ (call dim 0) 3)) (arg 3) (arg (call dim "
             "1))))"},
        Case{"keep P", "(keep (pattern \"P\"))"},
        Case{"keep? P if i >= 5", "(keep? (pattern \"P\") if (>= i 5))"},
        Case{"drop /.*\\/adam_[mv]/", "(drop (regex \".*\\\\/adam_[mv]\"))"},
        Case{"drop? lm_head.weight same as embed.weight if rank == 2",
             "(drop? (pattern \"lm_head.weight\") same-as (target \"embed.weight\") if (== rank "
             "2))"},
        Case{"merge w{i:int} -> w by i in 0..n if n > 1 | cat(0)",
             "(merge (pattern \"w\" {i:int}) -> (target \"w\") (by i (range 0 n)) if (> n 1) (op "
             "cat () (arg 0)))"},
        Case{"merge w{i:int} -> w if n > 1 by i | cat(0)",
             "(merge (pattern \"w\" {i:int}) -> (target \"w\") (by i) if (> n 1) (op cat () (arg "
             "0)))"},
        Case{
            "merge w{a}{b} -> w by a in 0..2, b\n  | cat(0)\n  | stack(0)",
            "(merge (pattern \"w\" {a} {b}) -> (target \"w\") (by a (range 0 2)) (by b) (op cat () "
            "(arg 0)) (op stack () (arg 0)))"},
        Case{"merge? [ A ,\n  B, # c\n] -> T | same",
             "(merge? [] (pattern \"A\") (pattern \"B\") -> (target \"T\") (op same))"},
        Case{
            "split qkv -> [q, \"k\", v] | chunk(0)",
            "(split (pattern \"qkv\") -> [] (target \"q\") (quoted \"k\") (target \"v\") (op chunk "
            "() (arg 0)))"},
        Case{"split w -> e.{i}.w by i in 0..8 | unstack(0)",
             "(split (pattern \"w\") -> (target \"e.\" {i} \".w\") (by i (range 0 8)) (op unstack "
             "() (arg 0)))"},
        Case{"in a. -> b{i}. if version == 1 {\n  map x\n\n  in y {\n    keep z\n  }\n}",
             "(in (pattern \"a.\") -> (target \"b\" {i} \".\") if (== version 1) (map (pattern "
             "\"x\")) (in (pattern \"y\") (keep (pattern \"z\"))))"},
        Case{"in? a. {\n}", "(in? (pattern \"a.\"))"},
        Case{"in a\n  if b {\n  # nothing\n}", "(in (pattern \"a\") if b)"},
        Case{"else pass", "(else pass)"}, Case{"else drop", "(else drop)"},
        Case{"else error", "(else error)"},
        Case{"else error \"a new key\"", "(else error \"a new key\")"}, Case{"then", "(then)"},
        Case{"then \"names\"", "(then \"names\")"}));

INSTANTIATE_TEST_SUITE_P(
    After, OneStatement,
    testing::Values(
        Case{"fill h.{i}.attn.bias = tril(n) as f16 for i in 0..layers | reshape(1, 1, n, n)",
             "(fill (target \"h.\" {i} \".attn.bias\") (call tril n) f16 (for i (range 0 layers)) "
             "(op reshape () (arg 1) (arg 1) (arg n) (arg n)))"},
        Case{"fill? {p}.num_batches_tracked = 0 as i64 for {p:any}.running_var",
             "(fill? (target {p} \".num_batches_tracked\") 0 i64 (for (pattern {p:any} "
             "\".running_var\")))"},
        Case{"fill k = [[1.5, 2], [-3, 1e-5]] as f32",
             "(fill (target \"k\") (list (list 1.5r 2) (list (- 3) 1e-05r)) f32)"},
        Case{"copy? A -> B", "(copy? (pattern \"A\") (target \"B\"))"},
        Case{"tie A = B", "(tie (target \"A\") (target \"B\"))"},
        Case{"tie? \"A\" = B", "(tie? (quoted \"A\") (target \"B\"))"},
        Case{"expect K : bf16[a, b] for i in 0..n",
             "(expect tensor (target \"K\") (type bf16 [] a b) (for i (range 0 n)))"},
        Case{"expect K : f32", "(expect tensor (target \"K\") (type f32))"},
        Case{"expect K : f32[]", "(expect tensor (target \"K\") (type f32 []))"},
        Case{"expect \"K\": f32", "(expect tensor (quoted \"K\") (type f32))"},
        Case{"expect K = [1, nan]", "(expect tensor (target \"K\") (list 1 nan))"},
        Case{"expect K", "(expect tensor (target \"K\"))"},
        Case{"expect /a.*/", "(expect tensor (regex \"a.*\"))"},
        Case{"expect no /.*_inv/", "(expect no (regex \".*_inv\"))"},
        Case{"expect no.bias", "(expect tensor (target \"no.bias\"))"},
        Case{"expect \"no\"", "(expect tensor (quoted \"no\"))"},
        Case{"expect count 9 * layers + 3", "(expect count (+ (* 9 layers) 3))"},
        Case{"expect error \"differs\"", "(expect error \"differs\")"},
        Case{"expect error", "(expect error)"},
        Case{
            "test \"t\" {\n  with n = 2.0\n  given a : u8[2] = [1, 2]\n  given a.{e} = [e] for e "
            "in "
            "0..3\n  given b : f32[2]\n  expect a = [1]\n\n  a => b.{1 + 1}\n  a=>dropped\n  a => "
            "kept\n  a => passed\n  a => \"kept\"\n  a => kept.x\n}",
            "(test \"t\" (with n 2r) (given (target \"a\") (type u8 [] 2) (list 1 2)) (given "
            "(target \"a.\" {e}) (list e) (for e (range 0 3))) (given (target \"b\") (type f32 [] "
            "2)) (expect tensor (target \"a\") (list 1)) (=> (target \"a\") (target \"b.\" {(+ 1 "
            "1)})) (=> (target \"a\") dropped) (=> (target \"a\") kept) (=> (target \"a\") passed) "
            "(=> (target \"a\") (quoted \"kept\")) (=> (target \"a\") (target \"kept.x\")))"}));

INSTANTIATE_TEST_SUITE_P(
    Expressions, OneStatement,
    testing::Values(Case{"let x = a - b - c", "(let x (- (- a b) c))"},
                    Case{"let x = a - (b - c)", "(let x (- a (- b c)()))"},
                    Case{"let x = a + b * c // d % e", "(let x (+ a (% (// (* b c) d) e)))"},
                    Case{"let x = - - a * -1", "(let x (* (- (- a)) (- 1)))"},
                    Case{"let x = not a == b and c or d", "(let x (or (and (not (== a b)) c) d))"},
                    Case{"let x = not not a", "(let x (not (not a)))"},
                    Case{"let x = notes + order + android", "(let x (+ (+ notes order) android))"},
                    Case{"let x = (a\n  + b)   # c", "(let x (+ a b)())"},
                    Case{"let x = t(u(1, 2), \"a\") != \"\"",
                         "(let x (!= (call t (call u 1 2) \"a\") \"\"))"},
                    Case{"let x = [[1, 2], [], [3]]", "(let x (list (list 1 2) (list) (list 3)))"},
                    Case{"let x = 1.5e3 + 007", "(let x (+ 1500r 7))"},
                    Case{"map /a(.)/ -> {\\1 + 1}{dots(\\0)}",
                         "(map (regex \"a(.)\") -> (target {(+ \\1 1)} {(call dots \\0)}))"}));

TEST(Parse, ReadsTheWorkedExamples) {
  size_t count = 0;
  for (const auto& entry :
       fs::directory_iterator(fs::path(REKEY_SOURCE_DIR) / "tests/data/rules")) {
    std::ifstream in(entry.path(), std::ios::binary);
    std::stringstream text;
    text << in.rdbuf();
    const ParseResult result = ParseText(text.str());
    for (const Diagnostic& diagnostic : result.diagnostics)
      ADD_FAILURE() << Render(diagnostic, false);
    EXPECT_GE(result.file.statements.size(), 5u) << entry.path();
    ++count;
  }
  EXPECT_GE(count, 9u);
}

TEST(Parse, TakesBothLineEndsAndAByteOrderMark) {
  const std::string text = "# c\nrekey 1\nin a {\n  map b -> c   # d\n    | t(1,\n 2)\n}\n";
  std::string crlf;
  for (char c : text) crlf += c == '\n' ? "\r\n" : std::string(1, c);
  const std::string tree = Tree(text);
  EXPECT_EQ(Tree(crlf), tree);
  EXPECT_EQ(Tree("\xef\xbb\xbf" + text), tree);
  const ParseResult marked = ParseText("\xef\xbb\xbf# c\r\nmap a   # d \t\r\n");
  ASSERT_EQ(marked.file.comments.size(), 2u);
  EXPECT_EQ(marked.file.comments[0].span.Text(), "# c");
  EXPECT_TRUE(marked.file.comments[0].own_line);
  EXPECT_EQ(marked.file.comments[1].span.Text(), "# d");
  EXPECT_FALSE(marked.file.comments[1].own_line);
  EXPECT_EQ(marked.file.statements[0].span.Text(), "map a");
}

TEST(Parse, TakesEmptyFiles) {
  for (const char* text : {"", "\n", "\r\n\r\n", "  ", "# c", "# c\n", "\xef\xbb\xbf"}) {
    const ParseResult result = ParseText(text);
    EXPECT_TRUE(result.diagnostics.empty()) << text;
    EXPECT_TRUE(result.file.statements.empty());
  }
}

TEST(Parse, GivesEveryCommentOnceAndInOrder) {
  const ParseResult result = ParseText(
      "# 1\nmerge [a, # 2\n  # 3\n b # 4\n] -> c # 5\n  # 6\n  by i # 7\n  | cat(0, # 8\n 1) # 9\n"
      "  # 10\ntable t { # 11\n a = b # 12\n # 13\n} # 14\nin x { # 15\n # 16\n keep y # 17\n}\n"
      "let z = (1 # 18\n + 2) # 19\n# 20");
  ASSERT_EQ(result.diagnostics.size(), 0u) << Render(result.diagnostics[0], false);
  ASSERT_EQ(result.file.comments.size(), 20u);
  for (size_t i = 0; i < 20; ++i)
    EXPECT_EQ(result.file.comments[i].span.Text(), "# " + std::to_string(i + 1));
}

TEST(Parse, GivesPlaces) {
  const ParseResult result = ParseText(
      "map a.{i:int} -> b{i + 1} if rank == 2 | cast( f16 )  # c\n"
      "merge [a, b] -> c by x in 0..2, y | d\n");
  ASSERT_TRUE(result.diagnostics.empty());
  const auto& map = std::get<ast::Rule>(result.file.statements[0].node);
  EXPECT_EQ(result.file.statements[0].span.Text(),
            "map a.{i:int} -> b{i + 1} if rank == 2 | cast( f16 )");
  EXPECT_EQ(map.sources[0].span.Text(), "a.{i:int}");
  EXPECT_EQ(map.sources[0].parts[1].span.Text(), "{i:int}");
  EXPECT_EQ(map.targets[0].parts[1].span.Text(), "{i + 1}");
  EXPECT_EQ(map.targets[0].parts[1].expr->span.Text(), "i + 1");
  EXPECT_EQ(map.guard->span.Text(), "rank == 2");
  EXPECT_EQ(map.ops[0].span.Text(), "cast( f16 )");
  EXPECT_EQ(map.ops[0].name_span.Text(), "cast");
  EXPECT_EQ(map.ops[0].args[0].span.Text(), "f16");
  const auto& merge = std::get<ast::Rule>(result.file.statements[1].node);
  EXPECT_EQ(merge.sources_span.Text(), "[a, b]");
  EXPECT_EQ(merge.targets_span.Text(), "c");
  EXPECT_EQ(merge.by[0].span.Text(), "x in 0..2");
  EXPECT_EQ(merge.by[1].span.Text(), "y");
}

TEST(Parse, TakesNestingUpToTheLimit) {
  const auto nested = [](size_t depth) {
    return "let x = " + std::string(depth, '(') + "1" + std::string(depth, ')');
  };
  EXPECT_FALSE(HasErrors(ParseText(nested(100)).diagnostics));
  ASSERT_EQ(ParseText(nested(101)).diagnostics.size(), 1u);
  EXPECT_EQ(ParseText(nested(101)).diagnostics[0].name, "nesting");
  EXPECT_EQ(ParseText(nested(1000000)).diagnostics[0].name, "nesting");
}

TEST(Parse, IsNotQuadraticInDepthOrExponentialInNesting) {
  std::string calls = "map a | t(";
  for (int i = 0; i < 95; ++i) calls += "f(";
  calls += "1" + std::string(95, ')') + ")";
  EXPECT_FALSE(HasErrors(ParseText(calls).diagnostics));
  std::string minuses = "let x = " + std::string(100000, '-') + "1";
  EXPECT_EQ(ParseText(minuses).diagnostics[0].name, "nesting");
  std::string nots = "let x = ";
  for (int i = 0; i < 100000; ++i) nots += "not ";
  EXPECT_EQ(ParseText(nots + "a").diagnostics[0].name, "nesting");
}

TEST(Parse, RefusesTextsThatAreNoRuleFile) {
  const ParseResult result = ParseText(std::string("\x80\x02}q\x01", 5));
  ASSERT_EQ(result.diagnostics.size(), 1u);
  EXPECT_EQ(result.diagnostics[0].name, "not-utf8");
  EXPECT_NE(result.diagnostics[0].message.find("byte 0"), std::string::npos);
}

TEST(Parse, ReadsTheVersionBeforeAnythingElse) {
  const ParseResult newer = ParseText("\n# c\n rekey 2\n\"no syntax of today\n");
  ASSERT_EQ(newer.diagnostics.size(), 1u);
  EXPECT_EQ(newer.diagnostics[0].name, "version");
  EXPECT_EQ(newer.diagnostics[0].primary.span.Text(), "2");
  EXPECT_EQ(ParseText("rekey 99999999999999999999999").diagnostics[0].name, "version");
  EXPECT_TRUE(ParseText("rekey 1").diagnostics.empty());
}

TEST(ParsePattern, ReadsOnePattern) {
  const auto parse = [](const char* text) {
    auto source = std::make_shared<Source>("--filter", text);
    const ParsePatternResult result = ParsePattern(source);
    return result.diagnostics.empty() ? Dump(result.pattern) : Render(result.diagnostics[0], false);
  };
  EXPECT_EQ(parse("layers.{i:int}.{x:any}"), "(pattern \"layers.\" {i:int} \".\" {x:any})");
  EXPECT_EQ(parse(" \"a b\" "), "(quoted-pattern \"a b\")");
  EXPECT_EQ(parse("/a+/"), "(regex \"a+\")");
  EXPECT_EQ(
      parse("layers.*"),
      "error: unexpected text after the end [syntax]\n"
      " --> --filter:1:8\n"
      "  |\n"
      "1 | layers.*\n"
      "  |        ^ found `*`\n"
      "  = help: `*` is no wildcard: write `{x}` for one segment, `{x:any}` for any text, or a "
      "/regex/\n");
  EXPECT_NE(parse("").find("expected a pattern"), std::string::npos);
}

TEST(ParseExpr, ReadsOneValue) {
  const auto parse = [](const char* text) {
    auto source = std::make_shared<Source>("-p", text);
    const ParseExprResult result = ParseExpr(source);
    return result.diagnostics.empty() ? Dump(result.expr) : result.diagnostics[0].message;
  };
  EXPECT_EQ(parse("12"), "12");
  EXPECT_EQ(parse("-1.5"), "(- 1.5r)");
  EXPECT_EQ(parse("\"a b\""), "\"a b\"");
  EXPECT_EQ(parse("word"), "word");
  EXPECT_EQ(parse("1 2"), "unexpected text after the end");
  EXPECT_EQ(parse(""), "expected a value");
}

// Each worked example with one byte replaced, removed or doubled: an error that can be shown, or a
// tree that survives being written and read.
TEST(Parse, StandsDamage) {
  std::mt19937 random(11);
  const std::string kBytes = "\"'{}()[]|\\/#$*?:.,=->+\n\r\t 019azAZ_\xc3\xff";
  int parsed = 0;
  for (const auto& entry :
       fs::directory_iterator(fs::path(REKEY_SOURCE_DIR) / "tests/data/rules")) {
    std::ifstream in(entry.path(), std::ios::binary);
    std::stringstream buffer;
    buffer << in.rdbuf();
    const std::string text = buffer.str();
    for (size_t at = 0; at < text.size(); ++at) {
      std::string damaged = text;
      switch (random() % 4) {
        case 0:
          damaged.erase(at, 1 + random() % 3);
          break;
        case 1:
          damaged.insert(at, 1, kBytes[random() % kBytes.size()]);
          break;
        case 2:
          damaged.resize(at);
          break;
        default:
          damaged[at] = kBytes[random() % kBytes.size()];
      }
      const ParseResult result = ParseText(damaged);
      for (const Diagnostic& diagnostic : result.diagnostics)
        ASSERT_NE(Render(diagnostic, true), "");
      if (HasErrors(result.diagnostics)) continue;
      ++parsed;
      const std::string formatted = Format(result.file);
      const ParseResult again = ParseText(formatted);
      ASSERT_TRUE(again.diagnostics.empty()) << damaged << "\n-----\n"
                                             << formatted << Render(again.diagnostics[0], false);
      ASSERT_EQ(Dump(again.file), Dump(result.file)) << damaged << "\n-----\n" << formatted;
      ASSERT_EQ(Format(again.file), formatted) << damaged;
      ASSERT_EQ(again.file.comments.size(), result.file.comments.size()) << formatted;
    }
  }
  EXPECT_GT(parsed, 1000);
}

}  // namespace
}  // namespace rekey
