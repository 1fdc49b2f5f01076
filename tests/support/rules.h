// Rule text on a list of keys, in a few lines: parse, compile, rewrite.
//
//   Keys keys({"module.fc.weight: f32[10, 64]", "step: i64[]", "a"});     // "a" is f32[1]
//   Remap run("strip \"module.\"\nelse pass\n", keys);
//   EXPECT_THAT(run.outputs(), ElementsAre("fc.weight", "step", "a"));
//
// What went wrong, at whatever stage, is in run.diagnostics(); run.text() is all of it rendered.
#ifndef REKEY_TESTS_SUPPORT_RULES_H_
#define REKEY_TESTS_SUPPORT_RULES_H_

#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/catalog.h"
#include "engine/compile.h"
#include "engine/rewrite.h"
#include "grammar/parser.h"

namespace rekey {

// A catalog without files, in one storage.
class Keys {
 public:
  explicit Keys(const std::vector<std::string>& lines) {
    catalog_.format = "test";
    catalog_.storages.resize(1);
    for (const std::string& line : lines) Add(line);
  }

  const Catalog& catalog() const { return catalog_; }

 private:
  void Add(const std::string& line) {
    Entry entry;
    const size_t colon = line.find(": ");
    entry.key = catalog_.text->Add(std::string_view(line).substr(0, colon));
    entry.shape = {1};
    if (colon != std::string::npos) {
      const size_t bracket = line.find('[', colon);
      const std::string dtype = line.substr(colon + 2, bracket - colon - 2);
      const std::optional<DType> known = DTypeByName(dtype);
      EXPECT_TRUE(known.has_value()) << line;
      entry.dtype = known.value_or(DType::kF32);
      entry.shape.clear();
      for (const char* at = line.c_str() + bracket + 1; *at != '\0' && *at != ']';) {
        char* end = nullptr;
        entry.shape.push_back(std::strtoll(at, &end, 10));
        at = *end == ',' ? end + 1 : end;
      }
    }
    entry.strides = ContiguousStrides(entry.shape);
    entry.start = catalog_.storages[0].bytes;
    catalog_.storages[0].bytes += DataBytes(entry);
    catalog_.entries.push_back(std::move(entry));
  }

  Catalog catalog_;
};

struct RemapOptions {
  std::vector<std::pair<std::string, std::string>> params;
  std::string watch;  // with it, events() holds what happened
  bool testing = false;
};

class Remap {
 public:
  // `keys` must outlive the run.
  Remap(const std::string& rules, const Keys& keys, const RemapOptions& options = {}) {
    ParseResult parsed = Parse(std::make_shared<Source>("t.rekey", rules));
    diagnostics_ = parsed.diagnostics;
    file_ = std::make_shared<ast::File>(std::move(parsed.file));
    if (HasErrors(diagnostics_)) return;
    CompileOptions compile;
    compile.params = options.params;
    compile.catalog = &keys.catalog();
    compile.testing = options.testing;
    Compiled compiled = Compile(file_, compile);
    diagnostics_.insert(diagnostics_.end(), compiled.diagnostics.begin(),
                        compiled.diagnostics.end());
    program_ = std::move(compiled.program);
    if (!program_) return;
    RewriteOptions rewrite;
    rewrite.testing = options.testing;
    rewrite.watch = options.watch;
    if (!options.watch.empty()) rewrite.events = &events_;
    rewritten_.emplace(Rewrite(*program_, keys.catalog(), rewrite));
    diagnostics_.insert(diagnostics_.end(), rewritten_->diagnostics.begin(),
                        rewritten_->diagnostics.end());
  }

  bool ok() const { return rewritten_ && !HasErrors(diagnostics_); }
  const Rewritten& rewritten() const { return *rewritten_; }
  const Diagnostics& diagnostics() const { return diagnostics_; }
  const std::vector<Event>& events() const { return events_; }

  // Names of all diagnostics, in order.
  std::vector<std::string> lints() const {
    std::vector<std::string> names;
    for (const Diagnostic& diagnostic : diagnostics_) names.push_back(diagnostic.name);
    return names;
  }

  std::string text() const {
    std::string text;
    for (const Diagnostic& diagnostic : diagnostics_) text += Render(diagnostic, false);
    return text;
  }

  // Output keys, in order; "key: f32[2, 3]" with types().
  std::vector<std::string> outputs() const {
    std::vector<std::string> keys;
    if (!rewritten_) return keys;
    for (const OutputKey& output : rewritten_->outputs) keys.emplace_back(output.key);
    return keys;
  }
  std::vector<std::string> types() const {
    std::vector<std::string> lines;
    if (!rewritten_) return lines;
    for (const OutputKey& output : rewritten_->outputs)
      lines.push_back(std::string(output.key) + ": " +
                      ToString(rewritten_->graph.type(output.tensor)));
    return lines;
  }

  // "target <- source, source" for each output.
  std::vector<std::string> moves() const {
    std::vector<std::string> lines;
    if (!rewritten_) return lines;
    for (const OutputKey& output : rewritten_->outputs) {
      std::string line = std::string(output.key) + " <-";
      const char* comma = " ";
      for (const uint32_t entry : rewritten_->graph.SourcesOf(output.tensor)) {
        line += comma + std::string(rewritten_->graph.source(entry).key);
        comma = ", ";
      }
      lines.push_back(std::move(line));
    }
    return lines;
  }

  std::vector<std::string> dropped() const {
    std::vector<std::string> keys;
    if (!rewritten_) return keys;
    for (const DroppedKey& key : rewritten_->dropped) keys.emplace_back(key.key);
    return keys;
  }
  std::vector<std::string> passed() const {
    if (!rewritten_) return {};
    return {rewritten_->passed.begin(), rewritten_->passed.end()};
  }

 private:
  std::shared_ptr<const ast::File> file_;
  std::optional<Program> program_;
  std::optional<Rewritten> rewritten_;
  std::vector<Event> events_;
  Diagnostics diagnostics_;
};

}  // namespace rekey

#endif  // REKEY_TESTS_SUPPORT_RULES_H_
