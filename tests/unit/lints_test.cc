// The table of warnings against the sources: each is listed once, and none is listed for nothing.
#include "engine/lints.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>
#include <string>

namespace rekey {
namespace {

namespace fs = std::filesystem;

std::string Sources() {
  std::stringstream all;
  for (const char* folder : {"engine", "grammar", "cli"})
    for (const auto& entry : fs::recursive_directory_iterator(fs::path(REKEY_SOURCE_DIR) / folder))
      if (entry.path().extension() == ".cc") all << std::ifstream(entry.path()).rdbuf();
  return all.str();
}

TEST(Lints, EveryWarningIsListed) {
  const std::string sources = Sources();
  const std::regex warning("\\b(?:Warning|Lint)\\((?:\\*journey,)?\\s*\"([a-z-]+)\"");
  size_t found = 0;
  for (std::sregex_iterator it(sources.begin(), sources.end(), warning), end; it != end; ++it) {
    const std::string name = (*it)[1];
    if (name.back() == '-') continue;  // a name put together: `unused-` + param, let, table
    EXPECT_TRUE(IsLint(name)) << name;
    ++found;
  }
  EXPECT_GT(found, 10u);
}

TEST(Lints, EveryListedOneIsGiven) {
  const std::string sources = Sources();
  std::set<std::string_view> seen;
  for (const Lint& lint : kLints) {
    EXPECT_TRUE(seen.insert(lint.name).second) << lint.name;
    EXPECT_FALSE(lint.what.empty()) << lint.name;
    std::string name(lint.name);
    if (name == "unused-param" || name == "unused-let" || name == "unused-table") name = "unused-";
    EXPECT_NE(sources.find("\"" + name + "\""), std::string::npos) << name;
  }
}

TEST(Lints, OthersAreNone) { EXPECT_FALSE(IsLint("unused")); }

}  // namespace
}  // namespace rekey
