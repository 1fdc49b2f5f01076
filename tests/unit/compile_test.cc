// Trees to Programs: what each construct compiles to, as the printed program says it.
#include "engine/compile.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "engine/compiler.h"
#include "engine/program_dump.h"
#include "grammar/parser.h"

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
  return BuildProgram(loaded.file, options);
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

}  // namespace
}  // namespace rekey
