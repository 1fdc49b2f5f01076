// Every syntax error, word by word: tests/golden/syntax/NAME.rekey and what is said about it, in
// NAME.err. After a message was changed on purpose, `REKEY_REBASE=1 syntax_golden_test` writes the
// .err files anew; read the difference before committing it.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "grammar/parser.h"

namespace rekey {
namespace {

namespace fs = std::filesystem;

const fs::path kFolder = fs::path(REKEY_SOURCE_DIR) / "tests" / "golden" / "syntax";

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

class SyntaxGolden : public testing::TestWithParam<std::string> {};

TEST_P(SyntaxGolden, SaysWhatItShould) {
  const fs::path rules = kFolder / (GetParam() + ".rekey");
  const fs::path expected = kFolder / (GetParam() + ".err");
  const ParseResult result =
      Parse(std::make_shared<Source>(rules.filename().string(), Read(rules)));
  EXPECT_TRUE(HasErrors(result.diagnostics));
  EXPECT_TRUE(result.file.statements.empty());
  std::string said;
  for (const Diagnostic& diagnostic : result.diagnostics) said += Render(diagnostic, false);
  if (std::getenv("REKEY_REBASE") != nullptr) std::ofstream(expected, std::ios::binary) << said;
  EXPECT_EQ(said, Read(expected));
}

INSTANTIATE_TEST_SUITE_P(All, SyntaxGolden, testing::ValuesIn(Cases()),
                         [](const auto& info) { return info.param; });

TEST(SyntaxGoldenFolder, HasNoOrphans) {
  for (const auto& entry : fs::directory_iterator(kFolder)) {
    if (entry.path().extension() != ".err") continue;
    EXPECT_TRUE(fs::exists(fs::path(entry.path()).replace_extension(".rekey"))) << entry.path();
  }
}

}  // namespace
}  // namespace rekey
