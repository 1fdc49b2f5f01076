// `rekey check RULES [IN]`: is a rule file right, and what does each rule do to a checkpoint.
#include <iostream>

#include "cli/job.h"
#include "cli/json_text.h"
#include "cli/report.h"
#include "cli/rule_lines.h"
#include "cli/summary.h"
#include "cli/verbs.h"
#include "grammar/printable.h"

namespace rekey::cli {
namespace {

struct Counts {
  uint64_t edits = 0, rules = 0;
};

Counts CountSteps(const Program& program) {
  Counts counts;
  for (const Pass& pass : program.passes) {
    counts.edits += pass.edits.size() + pass.affixes.size();
    counts.rules += pass.rules.size();
  }
  return counts;
}

void PrintJson(const Job& job, const std::vector<RuleLine>& lines) {
  const Counts counts = CountSteps(*job.program);
  JsonText json;
  json.StartObject();
  json.Field("passes", uint64_t{job.program->passes.size()});
  json.Field("edits", counts.edits);
  json.Field("statements", counts.rules);
  json.Field("tests", uint64_t{job.program->tests.size()});
  if (job.plan) {
    WriteRules(lines, &json);
    WriteSummary(Summarize(*job.plan, *job.program), &json);
  }
  json.Messages("warnings", job.diagnostics);
  json.EndObject();
  json.Print();
}

}  // namespace

int RunCheck(const Settings& settings) {
  Job job(settings);
  const bool with_input = !job.words.empty();
  if (!(with_input ? job.Plan(job.words[0]) : job.CompileAlone())) return job.Report();
  const int status = job.Report();
  std::vector<RuleLine> lines;
  if (job.plan) lines = RuleLines(*job.plan, *job.program, job.file->source.get());
  if (settings.json) {
    PrintJson(job, lines);
    return status;
  }
  for (const RuleLine& line : lines) std::cout << line.text << "\n";
  if (settings.quiet) return status;
  const Counts counts = CountSteps(*job.program);
  std::cout << Printable(job.rules_name) << ": "
            << Plural(job.program->passes.size(), "pass", "passes") << ", "
            << Plural(counts.edits, "edit") << ", " << Plural(counts.rules, "rule") << ", "
            << Plural(job.program->tests.size(), "test");
  if (job.plan) {
    const Summary summary = Summarize(*job.plan, *job.program);
    std::cout << "; " << SummaryText(summary);
  }
  std::cout << "\n";
  return status;
}

}  // namespace rekey::cli
