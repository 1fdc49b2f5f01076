// The engine against a naive interpreter of the language, on random programs and random keys.
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "engine/compile.h"
#include "engine/rewrite.h"
#include "grammar/parser.h"
#include "tests/unit/oracle/naive.h"
#include "tests/unit/oracle/random_program.h"

namespace rekey {
namespace {

constexpr uint64_t kPrograms = 20'000;

std::shared_ptr<const ast::File> ParseText(const std::string& text, std::string* error) {
  ParseResult parsed = Parse(std::make_shared<Source>("random.rekey", text));
  if (HasErrors(parsed.diagnostics)) *error = Render(parsed.diagnostics.front(), false);
  return std::make_shared<ast::File>(std::move(parsed.file));
}

std::string InWords(const Diagnostics& diagnostics) {
  std::string text;
  for (const Diagnostic& diagnostic : diagnostics) {
    if (diagnostic.severity == Severity::kError) text += Render(diagnostic, false);
  }
  return text;
}

// One program with its keys, and what the engine makes of them.
struct Trial {
  std::string program;
  std::vector<std::string> keys;
  std::string syntax_error;
  std::string compile_error;
  std::string engine_error;
  std::map<std::string, std::string> outputs;  // output key -> source key
  std::set<std::string> dropped;
};

Catalog CatalogOf(const std::vector<std::string>& keys) {
  Catalog catalog;
  for (const std::string& key : keys) {
    Entry entry;
    entry.key = catalog.text->Add(key);
    entry.storage = static_cast<uint32_t>(catalog.storages.size());
    catalog.storages.emplace_back();
    catalog.entries.push_back(std::move(entry));
  }
  return catalog;
}

void RunEngine(std::shared_ptr<const ast::File> file, Trial* trial) {
  const Compiled compiled = Compile(file, {});
  if (HasErrors(compiled.diagnostics) || !compiled.program) {
    trial->compile_error = InWords(compiled.diagnostics);
    return;
  }
  const Catalog catalog = CatalogOf(trial->keys);
  const Rewritten rewritten = Rewrite(*compiled.program, catalog, {});
  if (HasErrors(rewritten.diagnostics)) {
    trial->engine_error = InWords(rewritten.diagnostics);
    return;
  }
  for (const OutputKey& output : rewritten.outputs) {
    ASSERT_TRUE(rewritten.graph.IsSource(output.tensor));
    trial->outputs.emplace(output.key, catalog.entries[output.tensor].key);
  }
  ASSERT_EQ(trial->outputs.size(), rewritten.outputs.size()) << "two outputs of one key";
  for (const DroppedKey& dropped : rewritten.dropped) trial->dropped.emplace(dropped.key);
}

std::string Show(const Trial& trial, const oracle::NaiveResult& naive) {
  std::string text = "program:\n" + trial.program + "keys:\n";
  for (const std::string& key : trial.keys) text += "  " + key + "\n";
  text += "oracle: " + (naive.error.empty() ? "no error" : naive.error) + "\n";
  for (const auto& [key, source] : naive.outputs) text += "  " + source + " => " + key + "\n";
  for (const std::string& key : naive.dropped) text += "  " + key + " => dropped\n";
  text += "engine: " + (trial.engine_error.empty() ? "no error" : trial.engine_error) + "\n";
  for (const auto& [key, source] : trial.outputs) text += "  " + source + " => " + key + "\n";
  for (const std::string& key : trial.dropped) text += "  " + key + " => dropped\n";
  return text;
}

// The same program for the same seed. REKEY_ORACLE_SEED=N runs that one alone.
TEST(OracleTest, RandomProgramsOnRandomKeys) {
  uint64_t first = 1;
  uint64_t last = kPrograms;
  if (const char* seed = std::getenv("REKEY_ORACLE_SEED"))
    first = last = std::strtoull(seed, nullptr, 10);
  size_t refused = 0;
  size_t failed = 0;
  size_t renamed = 0;
  size_t dropped = 0;
  for (uint64_t seed = first; seed <= last; ++seed) {
    oracle::Dice dice(seed);
    Trial trial;
    trial.keys = oracle::RandomKeys(dice);
    trial.program = oracle::ProgramWriter(dice, [&](const std::string& text) {
                      std::string error;
                      const std::shared_ptr<const ast::File> file = ParseText(text, &error);
                      if (!error.empty()) return std::vector<std::string>();
                      return oracle::Naive().KeysAfter(*file, trial.keys);
                    }).Write();
    const std::shared_ptr<const ast::File> file = ParseText(trial.program, &trial.syntax_error);
    ASSERT_EQ(trial.syntax_error, "") << "seed " << seed << "\n" << trial.program;
    RunEngine(file, &trial);
    if (HasFatalFailure()) FAIL() << "seed " << seed << "\n" << trial.program;
    if (!trial.compile_error.empty()) {
      if (first == last)
        std::printf("%s\n%s\n", trial.program.c_str(), trial.compile_error.c_str());
      ++refused;  // the writer knows little of what a program may not say
      continue;
    }
    const oracle::NaiveResult naive = oracle::Naive().Run(*file, trial.keys);
    ASSERT_EQ(naive.error.empty(), trial.engine_error.empty()) << "seed " << seed << "\n"
                                                               << Show(trial, naive);
    if (!naive.error.empty()) {
      ++failed;
      continue;
    }
    ASSERT_EQ(naive.outputs, trial.outputs) << "seed " << seed << "\n" << Show(trial, naive);
    ASSERT_EQ(naive.dropped, trial.dropped) << "seed " << seed << "\n" << Show(trial, naive);
    for (const auto& [key, source] : naive.outputs) renamed += key != source;
    dropped += naive.dropped.size();
  }
  if (first == last) return;
  std::printf("%zu refused by the compiler, %zu end in an error, %zu keys renamed, %zu dropped\n",
              refused, failed, renamed, dropped);
  // The test is worth something only while most programs run and do something.
  EXPECT_LT(refused, kPrograms / 5);
  EXPECT_LT(failed, kPrograms / 2);
  EXPECT_GT(renamed, kPrograms);
  EXPECT_GT(dropped, kPrograms / 10);
}

}  // namespace
}  // namespace rekey
