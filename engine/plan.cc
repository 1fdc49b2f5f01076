#include "engine/plan.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "engine/check.h"
#include "engine/lints.h"
#include "engine/module_paths.h"
#include "grammar/printable.h"

namespace rekey {
namespace {

bool IsCopy(const OutputKey& output, const Program& program) {
  return output.output >= 0 &&
         std::holds_alternative<Copy>(program.outputs[static_cast<size_t>(output.output)]);
}

// The first output with the same bytes, for each.
std::vector<uint32_t> SameBytes(const Rewritten& rewritten, const Program& program) {
  const std::vector<OutputKey>& outputs = rewritten.outputs;
  const std::vector<uint32_t> aliases = Aliases(rewritten.graph.catalog());
  std::vector<uint32_t> same(outputs.size());
  std::unordered_map<TensorId, uint32_t> first;  // output of a tensor, of aliases the first
  for (uint32_t i = 0; i < outputs.size(); ++i) {
    same[i] = i;
    if (outputs[i].tied_to >= 0 || IsCopy(outputs[i], program)) continue;
    TensorId tensor = outputs[i].tensor;
    if (rewritten.graph.IsSource(tensor)) tensor = aliases[tensor];
    same[i] = first.emplace(tensor, i).first->second;
  }
  for (uint32_t i = 0; i < outputs.size(); ++i) {
    // Ties of ties; Rewrite lets none go in a circle, and a bound costs nothing.
    uint32_t of = i;
    for (size_t steps = 0; outputs[of].tied_to >= 0 && steps < outputs.size(); ++steps) {
      of = static_cast<uint32_t>(outputs[of].tied_to);
    }
    if (of != i) same[i] = same[of];
  }
  // Of a group whose first output is a tie, that one stands for all.
  std::vector<uint32_t> least(outputs.size(), UINT32_MAX);
  for (uint32_t i = 0; i < outputs.size(); ++i) least[same[i]] = std::min(least[same[i]], i);
  for (uint32_t i = 0; i < outputs.size(); ++i) same[i] = least[same[i]];
  return same;
}

void LowerOutputs(Plan& plan) {
  const Rewritten& rewritten = plan.rewritten;
  plan.lowered.reserve(rewritten.outputs.size());
  for (size_t i = 0; i < rewritten.outputs.size(); ++i) {
    Result<Lowered> lowered = Lower(rewritten.graph, rewritten.outputs[i].tensor);
    if (!lowered.ok()) {
      Diagnostic error = std::move(lowered).error();
      error.Note("for the output `" + Printable(rewritten.outputs[i].key) + "`");
      plan.diagnostics.push_back(std::move(error));
      plan.lowered.emplace_back();
      continue;
    }
    if (plan.same_as[i] == i) plan.bytes += lowered->bytes;
    plan.lowered.push_back(std::move(*lowered));
  }
}

std::vector<ModuleMetadata> RenamedModules(const Plan& plan, const Program& program) {
  const Rewritten& rewritten = plan.rewritten;
  const Catalog& catalog = rewritten.graph.catalog();
  if (catalog.module_metadata.empty()) return {};
  std::vector<std::pair<std::string_view, std::string_view>> renames;
  for (const OutputKey& output : rewritten.outputs) {
    if (output.tied_to >= 0 || IsCopy(output, program)) continue;
    const std::vector<uint32_t> sources = rewritten.graph.SourcesOf(output.tensor);
    if (sources.size() == 1) renames.emplace_back(catalog.entries[sources[0]].key, output.key);
  }
  return FollowRenames(catalog, renames);
}

}  // namespace

Plan MakePlan(const Program& program, const Catalog& catalog, const PlanOptions& options) {
  RewriteOptions rewrite_options;
  rewrite_options.testing = options.testing;
  Plan plan(Rewrite(program, catalog, rewrite_options));
  plan.diagnostics = WithoutAllowed(plan.rewritten.diagnostics, options.allow);
  plan.same_as = SameBytes(plan.rewritten, program);
  if (HasErrors(plan.diagnostics)) {
    plan.lowered.resize(plan.rewritten.outputs.size());
    return plan;
  }
  LowerOutputs(plan);
  plan.module_metadata = RenamedModules(plan, program);
  if (!options.testing) {
    Diagnostics checks = CheckExpects(program.expects, plan.rewritten, nullptr);
    std::move(checks.begin(), checks.end(), std::back_inserter(plan.diagnostics));
  }
  return plan;
}

bool TouchesNothing(const Plan& plan, const Program& program) {
  if (plan.rewritten.touched > 0) return false;
  size_t steps = 0;
  for (const Pass& pass : program.passes) {
    steps += pass.edits.size() + pass.affixes.size();
    for (const Rule& rule : pass.rules) steps += rule.verb != ast::Verb::kKeep;
  }
  return steps > 0;
}

std::string Dump(const Plan& plan) {
  const Rewritten& rewritten = plan.rewritten;
  const Catalog& catalog = rewritten.graph.catalog();
  std::string text;
  for (size_t i = 0; i < rewritten.outputs.size(); ++i) {
    const OutputKey& output = rewritten.outputs[i];
    text += Printable(output.key) + ' ' + ToString(rewritten.graph.type(output.tensor)) + ' ';
    if (plan.same_as[i] != i) {
      text += "same as " + Printable(rewritten.outputs[plan.same_as[i]].key) + '\n';
      continue;
    }
    text += Name(plan.lowered[i].recipe);
    const char* separator = " <- ";
    for (uint32_t source : rewritten.graph.SourcesOf(output.tensor)) {
      text += separator + Printable(catalog.entries[source].key);
      separator = ", ";
    }
    text += '\n';
  }
  for (const DroppedKey& dropped : rewritten.dropped) {
    text += "drop " + Printable(dropped.key) + '\n';
  }
  return text;
}

}  // namespace rekey
