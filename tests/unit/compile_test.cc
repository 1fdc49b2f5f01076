// Trees to Programs: what each construct compiles to, as the printed program says it.
#include "engine/compile.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "engine/program_dump.h"

namespace rekey {
namespace {

using testing::HasSubstr;

std::string Said(const Diagnostics& diagnostics) {
  std::string said;
  for (const Diagnostic& diagnostic : diagnostics) said += Render(diagnostic, false);
  return said;
}

Compiled Build(const std::string& text, CompileOptions options = {}) {
  const LoadedRules loaded = LoadRulesText("a.rekey", text);
  EXPECT_TRUE(loaded.file) << Said(loaded.diagnostics);
  if (!loaded.file) return {};
  return Compile(loaded.file, options);
}

std::string Whole(const std::string& text, CompileOptions options = {}) {
  const Compiled compiled = Build(text, options);
  EXPECT_TRUE(compiled.program) << text << Said(compiled.diagnostics);
  return compiled.program ? Dump(*compiled.program) : "";
}

// The one line that a rule compiles to.
std::string Line(const std::string& text, CompileOptions options = {}) {
  const Compiled compiled = Build(text, options);
  EXPECT_TRUE(compiled.program) << text << Said(compiled.diagnostics);
  if (!compiled.program) return "";
  const Pass& pass = compiled.program->passes.back();
  return pass.rules.empty() ? Dump(pass.edits.back()) : Dump(pass.rules.back());
}

TEST(Compile, TheTwoLineProgram) {
  EXPECT_EQ(Whole("strip \"module.\"\nmap /conv_(\\d+)\\/kernel:0/ -> conv\\1.weight\n"),
            "pass\n"
            "  strip \"module.\"\n"
            "  map regex `(?:conv_(\\d+)\\/kernel:0)` from \"conv_\"  vars \\1=1"
            "  -> \"conv\" {\\1} \".weight\"\n"
            "  else pass (default)\n");
}

TEST(Compile, AScopeIsConcatenation) {
  EXPECT_EQ(Line("in layers.{i:int}. -> blocks.{i + 1}. {\n  map {x}.w -> {x}.weight\n}\n"),
            "map regex `layers\\.(\\d+)\\.([^./]+)\\.w` from \"layers.\"  vars i:int=1 x=2"
            "  -> \"blocks.\" {(i + 1)} \".\" {x} \".weight\"");
  // Without `->` the scope's text is put back.
  EXPECT_EQ(Line("in a.{_:int}. {\n  map b -> c\n}\n"),
            "map regex `a\\.(\\d+)\\.b` from \"a.\"  vars _:int=1  -> \"a.\" {_} \".\" \"c\"");
}

// --- Scopes and holes ---------------------------------------------------------------------------

TEST(Compile, ScopesNest) {
  EXPECT_EQ(
      Line("in a.{i:int}. -> b.{i}. {\n  in /l(\\d+)\\./ -> \\1. {\n    map /w(\\d)/ -> v\\1\n"
           "  }\n}\n"),
      "map regex `a\\.(\\d+)\\.(?:l(\\d+)\\.)(?:w(\\d))` from \"a.\"  vars i:int=1 \\1=2 \\1=3"
      "  -> \"b.\" {i} \".\" {\\1} \".\" \"v\" {\\1}");
  // Both groups are called \1, and each target counts its own.
  const Compiled compiled = Build("in /l(\\d+)\\./ -> a\\1. {\n  map /w(\\d+)/ -> v\\1\n}\n");
  ASSERT_TRUE(compiled.program);
  const Rule& rule = compiled.program->passes[0].rules[0];
  std::vector<std::string_view> variables;
  ASSERT_TRUE(rule.sources[0].Match("l3.w14", &variables));
  Env env;
  env.variables = &variables;
  std::string key;
  ASSERT_TRUE(rule.targets[0].Print(env, &key).ok());
  EXPECT_EQ(key, "a3.v14");
}

TEST(Compile, GuardsOfScopesAreJoined) {
  EXPECT_EQ(Line("in a. -> b. if rank == 2 {\n  drop {i:int} if i >= 5\n}\n"),
            "drop regex `a\\.(\\d+)` from \"a.\"  vars i:int=1  if ((rank == 2) and (i >= 5))");
}

TEST(Compile, AnythingMayBeUncertainInAMaybeScope) {
  EXPECT_THAT(Line("in? a. -> b. {\n  map c -> d\n}\n"), HasSubstr("map? "));
}

TEST(Compile, APutBackHoleKeepsItsText) {
  const Compiled compiled = Build("in l{i:03}. {\n  map a -> b\n}\n");
  ASSERT_TRUE(compiled.program);
  const Rule& rule = compiled.program->passes[0].rules[0];
  std::vector<std::string_view> variables;
  ASSERT_TRUE(rule.sources[0].Match("l007.a", &variables));
  Env env;
  env.variables = &variables;
  std::string key;
  ASSERT_TRUE(rule.targets[0].Print(env, &key).ok());
  EXPECT_EQ(key, "l007.b");
}

TEST(Compile, TheWholeMatchIsTheRulesOwn) {
  const Compiled compiled = Build("in a. -> b. {\n  map /c(\\d)/ -> x.\\0\n}\n");
  ASSERT_TRUE(compiled.program) << Said(compiled.diagnostics);
  const Rule& rule = compiled.program->passes[0].rules[0];
  std::vector<std::string_view> variables;
  ASSERT_TRUE(rule.sources[0].Match("a.c1", &variables));
  Env env;
  env.variables = &variables;
  std::string key;
  ASSERT_TRUE(rule.targets[0].Print(env, &key).ok());
  EXPECT_EQ(key, "b.x.c1");
}

TEST(Compile, AListOfSourcesJoinsOnEqualHoles) {
  EXPECT_EQ(Line("merge [{p:any}.w, {p:any}.s] -> {p}.w | dequant_block(128, 128)\n"),
            "merge regex `(.+)\\.w`  vars p:any=1, regex `(.+)\\.s`  vars p:any=1"
            "  -> {p} \".w\" | dequant_block(128, 128)");
  EXPECT_THAT(Line("merge a.{w:q|k|v} -> a by w | cat(0)\n"), HasSubstr("by w:q|k|v"));
  EXPECT_THAT(Line("split a -> b.{e} by e in 0..4 | unstack(0)\n"), HasSubstr("by e in 0..4"));
}

// --- Params -------------------------------------------------------------------------------------

CompileOptions With(std::vector<std::pair<std::string, std::string>> params) {
  CompileOptions options;
  options.params = std::move(params);
  return options;
}

TEST(Params, AreReadAsTheirType) {
  const std::string rules = "param n: int\nmap a -> b{n}\n";
  EXPECT_THAT(Line(rules, With({{"n", "3"}})), HasSubstr("\"b3\""));
  EXPECT_THAT(Line(rules, With({{"n", "4.0"}})), HasSubstr("\"b4\""));
  EXPECT_THAT(Line(rules, With({{"n", "2 * 3"}})), HasSubstr("\"b6\""));
  EXPECT_THAT(Line(rules, With({{"n", "3"}, {"n", "5"}})), HasSubstr("\"b5\""));  // the last
  EXPECT_FALSE(Build(rules, With({{"n", "1.5"}})).program);
  EXPECT_FALSE(Build(rules, With({{"n", "x"}})).program);
  const std::string text = "param t = \"x\"\nmap a -> b{t}\n";
  EXPECT_THAT(Line(text, With({{"t", "3"}})), HasSubstr("\"b3\""));
  EXPECT_THAT(Line(text, With({{"t", "model.layers"}})), HasSubstr("\"bmodel.layers\""));
  EXPECT_THAT(Line(text, With({{"t", "\"q\""}})), HasSubstr("\"bq\""));
  EXPECT_THAT(Line("param t = bf16\nmap a -> b if dtype == t\n", With({{"t", "f32"}})),
              HasSubstr("(dtype == f32)"));
}

TEST(Params, UnknownOnesGetTheNearest) {
  const Compiled compiled = Build("param layers = 2\nmap a -> b{layers}\n", With({{"layer", "3"}}));
  EXPECT_FALSE(compiled.program);
  EXPECT_THAT(Said(compiled.diagnostics), HasSubstr("did you mean `layers`?"));
}

TEST(Params, OnesWithoutAValueWaitUntilTheyAreNeeded) {
  const std::string rules =
      "param n: int\nlet m = n // 2\nrequire n > 0\nmap a.{i:int} -> b.{i + m}\n";
  EXPECT_THAT(Line(rules), HasSubstr("{(i + missing(n))}"));
  EXPECT_THAT(Line(rules, With({{"n", "5"}})), HasSubstr("{(i + 2)}"));
  EXPECT_FALSE(Build(rules, With({{"n", "0"}})).program);
}

TEST(Params, ComeFromTheCheckpoint) {
  Catalog catalog;
  Object args;
  args.kind = Object::Kind::kDict;
  const auto add = [&](const char* name, Object value) {
    Object key;
    key.kind = Object::Kind::kText;
    key.text = name;
    args.items.push_back(catalog.objects->Add(key));
    args.items.push_back(catalog.objects->Add(std::move(value)));
  };
  Object number;
  number.kind = Object::Kind::kInt;
  number.integer = 12;
  add("layers", number);
  Object version;
  version.kind = Object::Kind::kFloat;
  version.real = 3.0;
  add("version", version);
  Object digits;
  digits.kind = Object::Kind::kText;
  digits.text = "7";
  add("digits", digits);
  const ObjectId root = catalog.objects->Add(std::move(args));
  catalog.meta.push_back({"", root, 0, ""});
  CompileOptions options;
  options.catalog = &catalog;
  const auto line = [&options](const std::string& param) {
    return Line("param n: int = " + param + "\nmap a -> b{n}\n", options);
  };
  EXPECT_THAT(line("meta(\"layers\")"), HasSubstr("\"b12\""));
  EXPECT_THAT(line("meta(\"version\")"), HasSubstr("\"b3\""));  // whole-valued
  EXPECT_THAT(line("meta(\"digits\")"), HasSubstr("\"b7\""));   // metadata are texts
  EXPECT_THAT(line("meta(\"nothing\", 4)"), HasSubstr("\"b4\""));
  EXPECT_THAT(line("meta(\"nothing\")"), HasSubstr("missing(n)"));
  options.params = {{"n", "9"}};
  EXPECT_THAT(line("meta(\"layers\")"), HasSubstr("\"b9\""));
}

// --- Inputs -------------------------------------------------------------------------------------

TEST(Inputs, SourceLinesGivePrefixes) {
  const LoadedRules loaded =
      LoadRulesText("a.rekey",
                    "param base = 10\nselect model\nsource mp_rank_{t:int}_{p:int}/m.pt -> "
                    "tp{t}.pp{p + base}. if "
                    "meta(\"version\", 2) > 2\nsource mp_rank_{t:int}_{p:int}/m.pt -> t{t}.\n");
  ASSERT_TRUE(loaded.file) << Said(loaded.diagnostics);
  const CompiledInputs inputs = CompileInputs(loaded.file, With({{"base", "20"}}));
  ASSERT_TRUE(inputs.spec) << Said(inputs.diagnostics);
  EXPECT_TRUE(inputs.has_source);
  EXPECT_EQ(inputs.spec->read.select, "model");
  Catalog none;
  const InputSpec::File file = [&none]() -> Result<const Catalog*> { return &none; };
  EXPECT_EQ(**inputs.spec->source("mp_rank_01_002/m.pt", file), "t01.");
  EXPECT_EQ(*inputs.spec->source("other.pt", file), std::nullopt);
  Object version;
  version.kind = Object::Kind::kFloat;
  version.real = 3.0;
  Object key;
  key.kind = Object::Kind::kText;
  key.text = "version";
  Object root;
  root.kind = Object::Kind::kDict;
  root.items = {none.objects->Add(key), none.objects->Add(version)};
  none.meta.push_back({"", none.objects->Add(root), 0, ""});
  EXPECT_EQ(**inputs.spec->source("mp_rank_01_002/m.pt", file), "tp01.pp22.");
}

}  // namespace
}  // namespace rekey
