// What is said about rule files that parse and do not make sense: tests/golden/compile/NAME.rekey
// and NAME.err, errors and warnings alike. After a message was changed on purpose,
// `REKEY_REBASE=1 compile_golden_test` writes the .err files anew; read the difference before
// committing it.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "engine/compile.h"

namespace rekey {
namespace {

namespace fs = std::filesystem;

const fs::path kFolder = fs::path(REKEY_SOURCE_DIR) / "tests" / "golden" / "compile";

std::string Read(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

std::vector<std::string> Cases() {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(kFolder))
    if (entry.path().extension() == ".rekey") names.push_back(entry.path().stem().string());
  std::sort(names.begin(), names.end());
  return names;
}

std::string Said(const Diagnostics& diagnostics) {
  std::string said;
  for (const Diagnostic& diagnostic : diagnostics) said += Render(diagnostic, false);
  return said;
}

class CompileGolden : public testing::TestWithParam<std::string> {};

TEST_P(CompileGolden, SaysWhatItShould) {
  // Includes are relative to the file, and messages name files as they were named.
  fs::current_path(kFolder);
  const fs::path expected = kFolder / (GetParam() + ".err");
  const LoadedRules loaded = LoadRules(GetParam() + ".rekey");
  ASSERT_TRUE(loaded.file) << Said(loaded.diagnostics);
  std::string said = Said(loaded.diagnostics);
  const CompiledInputs inputs = CompileInputs(loaded.file, {});
  const Compiled compiled = Compile(loaded.file, {});
  said += Said(compiled.diagnostics);
  EXPECT_FALSE(said.empty() && inputs.diagnostics.empty());
  EXPECT_NE(HasErrors(compiled.diagnostics), compiled.program.has_value());
  // What CompileInputs alone can see.
  if (!HasErrors(compiled.diagnostics)) said += Said(inputs.diagnostics);
  if (std::getenv("REKEY_REBASE") != nullptr) std::ofstream(expected, std::ios::binary) << said;
  EXPECT_EQ(said, Read(expected));
}

INSTANTIATE_TEST_SUITE_P(All, CompileGolden, testing::ValuesIn(Cases()),
                         [](const auto& info) { return info.param; });

TEST(CompileGoldenFolder, HasNoOrphans) {
  for (const auto& entry : fs::directory_iterator(kFolder)) {
    if (entry.path().extension() != ".err") continue;
    EXPECT_TRUE(fs::exists(fs::path(entry.path()).replace_extension(".rekey"))) << entry.path();
  }
}

}  // namespace
}  // namespace rekey
