// Rule packs: finding them, their descriptions, and the wrapper pack on keys that torch wrote.
#include "engine/pack.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "engine/compile.h"
#include "engine/rewrite.h"

namespace rekey {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class Packs : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(testing::TempDir()) / "rekey_packs";
    fs::remove_all(folder_);
    Add("family/one", 1);
    Add("family/one", 2);
    Add("family/one", 10);
    setenv("REKEY_RULES", ("/nowhere:" + folder_.string()).c_str(), 1);
  }
  void TearDown() override {
    unsetenv("REKEY_RULES");
    fs::remove_all(folder_);
  }

  void Add(const std::string& name, int version, const std::string& toml = "") {
    const fs::path folder = folder_ / name / std::to_string(version);
    fs::create_directories(folder);
    std::ofstream(folder / "a.rekey") << "strip \"a.\"\n";
    std::ofstream(folder / "pack.toml")
        << (toml.empty() ? "name = \"" + name + "\"\nversion = " + std::to_string(version) +
                               "\nfile = \"a.rekey\"\nwhat = \"one\"\ntested = [\"x\", \"y\"]\n"
                               "[params]\nlayers = \"how many\"\n"
                         : toml);
  }

  std::string ErrorOf(const Result<Pack>& pack) {
    EXPECT_FALSE(pack.ok());
    return pack.ok() ? "" : Render(pack.error(), false);
  }

  fs::path folder_;
};

TEST_F(Packs, AreFoundByNameAndVersion) {
  const Result<Pack> newest = FindPackByReference("family/one");
  ASSERT_TRUE(newest.ok());
  EXPECT_EQ(newest->version, 10);  // as numbers: 10 is newer than 2
  const Result<Pack> second = FindPackByReference("family/one@2");
  ASSERT_TRUE(second.ok());
  EXPECT_EQ(second->file, (folder_ / "family/one/2/a.rekey").string());
  EXPECT_EQ(second->what, "one");
  EXPECT_EQ(second->tested, (std::vector<std::string>{"x", "y"}));
  ASSERT_EQ(second->params.size(), 1u);
  EXPECT_EQ(second->params[0].first, "layers");
  EXPECT_EQ(second->params[0].second, "how many");
}

TEST_F(Packs, ErrorsNameTheNearest) {
  EXPECT_THAT(ErrorOf(FindPackByReference("family/onee")), HasSubstr("pack:family/one"));
  EXPECT_THAT(ErrorOf(FindPackByReference("one")), HasSubstr("pack:family/one"));
  EXPECT_THAT(ErrorOf(FindPackByReference("family/one@3")), HasSubstr("1, 2, 10"));
  EXPECT_THAT(ErrorOf(FindPackByReference("family/one@new")), HasSubstr("pack:family/one@1"));
}

TEST_F(Packs, BrokenDescriptionsAreReported) {
  Add("bad/toml", 1, "name = ");
  Add("bad/name", 1, "name = \"other\"\nversion = 1\nfile = \"a.rekey\"\nwhat = \"x\"\n");
  Add("bad/file", 1, "name = \"bad/file\"\nversion = 1\nfile = \"../a.rekey\"\nwhat = \"x\"\n");
  Add("bad/what", 1, "name = \"bad/what\"\nversion = 1\nfile = \"a.rekey\"\n");
  Add("bad/type", 1, "name = \"bad/type\"\nversion = \"1\"\nfile = \"a.rekey\"\nwhat = \"x\"\n");
  Diagnostics diagnostics;
  const std::vector<Pack> packs = AllPacks(&diagnostics);
  EXPECT_EQ(diagnostics.size(), 5u);
  for (const Diagnostic& diagnostic : diagnostics) EXPECT_EQ(diagnostic.name, "broken-pack");
  std::vector<int> versions;
  for (const Pack& pack : packs)
    if (pack.name == "family/one") versions.push_back(pack.version);
  EXPECT_EQ(versions, (std::vector<int>{1, 2, 10}));
  EXPECT_THAT(ErrorOf(FindPackByReference("bad/toml@1")), HasSubstr("line 1"));
}

TEST_F(Packs, AreIncludedAndLoaded) {
  const LoadedRules loaded = LoadRules("pack:family/one@2");
  ASSERT_TRUE(loaded.file);
  EXPECT_EQ(loaded.source->name(), "pack:family/one@2");
  const LoadedRules including =
      LoadRulesText("-e", "include \"pack:family/one\"\nthen\nmap b -> c\n");
  const Compiled compiled = Compile(including.file, {});
  ASSERT_TRUE(compiled.program);
  EXPECT_EQ(compiled.program->passes.size(), 2u);
  EXPECT_EQ(compiled.program->passes[0].edits.size(), 1u);
}

// Every key of keys.txt, a section at a time.
TEST(UnwrapPack, GivesTorchsPlainNames) {
  const Result<Pack> pack = FindPackByReference("common/unwrap@1");
  ASSERT_TRUE(pack.ok());
  const Compiled compiled = Compile(LoadRules("pack:common/unwrap@1").file, {});
  ASSERT_TRUE(compiled.program);
  std::ifstream file(fs::path(pack->file).parent_path() / "keys.txt");
  std::vector<std::vector<std::pair<std::string, std::string>>> sections;
  for (std::string line; std::getline(file, line);) {
    const size_t arrow = line.find(" => ");
    if (line.starts_with("#")) sections.emplace_back();
    if (arrow != std::string::npos)
      sections.back().emplace_back(line.substr(0, arrow), line.substr(arrow + 4));
  }
  EXPECT_GE(sections.size(), 6u);
  size_t count = 0;
  for (const auto& section : sections) {
    if (section.empty()) continue;  // the comment on the whole file
    Catalog catalog;
    for (const auto& [key, plain] : section) {
      Entry entry;
      entry.key = key;
      entry.no_bytes = true;
      catalog.entries.push_back(entry);
    }
    const Rewritten rewritten = Rewrite(*compiled.program, catalog, {});
    ASSERT_EQ(rewritten.outputs.size(), section.size());
    for (size_t i = 0; i < section.size(); ++i)
      EXPECT_EQ(rewritten.outputs[i].key, section[i].second);
    EXPECT_FALSE(HasErrors(rewritten.diagnostics));
    count += section.size();
  }
  EXPECT_GE(count, 100u);
}

}  // namespace
}  // namespace rekey
