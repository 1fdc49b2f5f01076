#include "cli/summary.h"

#include <algorithm>
#include <set>
#include <utility>

#include "cli/report.h"

namespace rekey::cli {

Summary Summarize(const Plan& plan, const Program& program) {
  const Rewritten& rewritten = plan.rewritten;
  const Catalog& catalog = rewritten.graph.catalog();
  Summary summary;
  summary.keys = catalog.entries.size();
  summary.tensors = rewritten.outputs.size();
  std::vector<bool> used(catalog.entries.size(), false);
  for (const OutputKey& output : rewritten.outputs) {
    if (output.output >= 0) {
      const auto& statement = program.outputs[static_cast<size_t>(output.output)];
      if (std::holds_alternative<Fill>(statement)) ++summary.filled;
      if (std::holds_alternative<Copy>(statement)) ++summary.copied;
      if (std::holds_alternative<Tie>(statement)) ++summary.tied;
      continue;
    }
    for (uint32_t source : rewritten.graph.SourcesOf(output.tensor)) used[source] = true;
    if (!output.claimed && rewritten.graph.IsSource(output.tensor) &&
        rewritten.graph.source(output.tensor).key == output.key) {
      summary.left_over.push_back(output.key);
    }
  }
  summary.used = static_cast<uint64_t>(std::count(used.begin(), used.end(), true));
  std::set<std::pair<int, int>> droppers;
  for (const DroppedKey& dropped : rewritten.dropped) {
    droppers.emplace(dropped.by.pass, dropped.by.rule);
  }
  summary.dropped = rewritten.dropped.size();
  summary.dropped_by = droppers.size();
  summary.default_else = !program.passes.back().else_written;
  return summary;
}

std::string SummaryText(const Summary& summary) {
  std::string text = Count(summary.used) + " of " + Plural(summary.keys, "key") + " -> " +
                     Plural(summary.tensors, "tensor");
  if (summary.filled > 0) text += ", " + Count(summary.filled) + " filled";
  if (summary.copied > 0) text += ", " + Count(summary.copied) + " copied";
  if (summary.tied > 0) text += ", " + Count(summary.tied) + " tied";
  text += ", " + Count(summary.dropped) + " dropped";
  if (summary.dropped > 0) text += " by " + Plural(summary.dropped_by, "rule");
  return text + ", " + Count(summary.left_over.size()) + " left over";
}

Diagnostics PassedNote(const Summary& summary) {
  if (summary.left_over.empty() || !summary.default_else) return {};
  Diagnostic note{
      .severity = Severity::kNote,
      .name = "passed-keys",
      .message = Plural(summary.left_over.size(), "key") +
                 " that nothing touches pass by default: " + FirstOf(summary.left_over, 5)};
  return {note.Help("say `else pass`, `else drop` or `else error` in the rules")};
}

void WriteSummary(const Summary& summary, JsonText* json) {
  json->Field("keys", summary.keys);
  json->Field("used", summary.used);
  json->Field("tensors", summary.tensors);
  json->Field("filled", summary.filled);
  json->Field("copied", summary.copied);
  json->Field("tied", summary.tied);
  json->Field("dropped", summary.dropped);
  json->Field("left_over", uint64_t{summary.left_over.size()});
}

}  // namespace rekey::cli
