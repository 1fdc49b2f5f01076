#include "engine/rewrite.h"

#include <algorithm>
#include <string>
#include <utility>

#include "engine/live_keys.h"
#include "engine/output_statements.h"
#include "engine/rule_pass.h"

namespace rekey {
namespace {

class Rewriter {
 public:
  Rewriter(const Program& program, const Catalog& catalog, const RewriteOptions& options,
           const std::vector<bool>* watched)
      : program_(program), catalog_(catalog), journey_(program, catalog, options, watched) {
    for (const Pass& pass : program.passes) {
      journey_.out.rules.emplace_back(pass.rules.size());
      journey_.out.edits.emplace_back(pass.edits.size());
    }
  }

  Rewritten Run() {
    std::vector<LiveKey> keys(catalog_.entries.size());
    for (uint32_t i = 0; i < keys.size(); ++i) {
      keys[i].key = catalog_.entries[i].key;
      keys[i].tensor = i;
    }
    for (size_t pass = 0; pass < program_.passes.size(); ++pass) {
      keys = RunPass(&journey_, static_cast<int>(pass), std::move(keys));
      // What a pass with errors puts out says nothing about the next one.
      if (HasErrors(journey_.out.diagnostics)) break;
    }
    PutOut(keys);
    if (!HasErrors(journey_.out.diagnostics)) {
      RunOutputStatements(&journey_);
      CheckWhole();
    }
    FinishDropped();
    journey_.FinishErrors();
    return std::move(journey_.out);
  }

 private:
  void PutOut(const std::vector<LiveKey>& keys) {
    Rewritten& out = journey_.out;
    out.outputs.reserve(keys.size());
    for (const LiveKey& key : keys) {
      OutputKey output;
      output.key = key.key;
      output.tensor = key.tensor;
      output.by = key.by;
      output.claimed = key.claimed;
      if (!key.claimed) {
        output.by = {static_cast<int>(program_.passes.size()) - 1, -1};
        out.passed.push_back(catalog_.entries[key.tensor].key);
      }
      out.outputs.push_back(output);
    }
  }

  // A source is dropped when a rule or else dropped it and no output needs it.
  void FinishDropped() {
    Rewritten& out = journey_.out;
    if (journey_.drops.empty()) return;
    std::vector<bool> done(catalog_.entries.size());
    for (const OutputKey& output : out.outputs) {
      if (out.graph.IsSource(output.tensor)) {
        done[output.tensor] = true;
      } else {
        for (const uint32_t entry : out.graph.SourcesOf(output.tensor)) done[entry] = true;
      }
    }
    for (const DropRecord& drop : journey_.drops) {
      for (const uint32_t entry : out.graph.SourcesOf(drop.tensor)) {
        if (done[entry]) continue;
        done[entry] = true;
        out.dropped.push_back({catalog_.entries[entry].key, drop.at_key, drop.by});
      }
    }
  }

  void CheckWhole() {
    Rewritten& out = journey_.out;
    if (journey_.options.testing) return;
    if (out.outputs.empty()) {
      Diagnostic error = Error("no-tensors", "the output would hold no tensors");
      error.Note(catalog_.entries.empty()
                     ? "the checkpoint holds none"
                     : "all " + CountKeys(catalog_.entries.size()) + " were dropped");
      const Pass& last = program_.passes.back();
      if (last.else_mode == ast::Else::Mode::kDrop)
        error.At(last.else_span, "drops what no rule claims")
            .Help("an edit claims nothing: map or keep what is to stay");
      return journey_.Add(std::move(error));
    }
    const bool any =
        std::any_of(program_.passes.begin(), program_.passes.end(),
                    [](const Pass& pass) { return !pass.rules.empty() || !pass.edits.empty(); });
    if (any && out.touched == 0)
      journey_.Add(Warning("nothing-remapped", "no rule or edit touches any of the " +
                                                   CountKeys(catalog_.entries.size()))
                       .Note("the first key is `" + std::string(catalog_.entries[0].key) + "`"));
  }

  const Program& program_;
  const Catalog& catalog_;
  Journey journey_;
};

// The entries that flow into what is watched: the source key itself, or an output's sources.
std::vector<bool> WatchedEntries(const Rewritten& rewritten, const Catalog& catalog,
                                 const std::string& watch) {
  std::vector<bool> watched(catalog.entries.size());
  for (size_t i = 0; i < catalog.entries.size(); ++i) watched[i] = catalog.entries[i].key == watch;
  for (const OutputKey& output : rewritten.outputs)
    if (output.key == watch)
      for (const uint32_t entry : rewritten.graph.SourcesOf(output.tensor)) watched[entry] = true;
  return watched;
}

}  // namespace

Rewritten Rewrite(const Program& program, const Catalog& catalog, const RewriteOptions& options) {
  if (options.events == nullptr) return Rewriter(program, catalog, options, nullptr).Run();
  // What becomes of a key is known only at the end, so a watched run is the second one.
  RewriteOptions quiet = options;
  quiet.events = nullptr;
  const std::vector<bool> watched =
      WatchedEntries(Rewriter(program, catalog, quiet, nullptr).Run(), catalog, options.watch);
  return Rewriter(program, catalog, options, &watched).Run();
}

}  // namespace rekey
