// What each edit and rule of a program did to a checkpoint's keys: the lines that `run` and `check`
// print and their JSON.
//
//   for (const RuleLine& line : RuleLines(plan, program)) std::cerr << line.text << "\n";
//   // merge 8: 2 x bf16[24, 12] -> layers.0.o_proj.weight bf16[48, 12], 32 times
#ifndef REKEY_CLI_RULE_LINES_H_
#define REKEY_CLI_RULE_LINES_H_

#include <string>
#include <vector>

#include "cli/json_text.h"
#include "engine/plan.h"
#include "engine/program.h"

namespace rekey::cli {

struct RuleLine {
  Span where;
  std::string text;              // for people, without a line end
  uint64_t keys = 0;             // that it claimed or changed
  uint64_t made = 0;             // that it put out; 0 for an edit
  const RuleUse* use = nullptr;  // of a rule
};

// In the order of the file: of each pass the edits, the rules, and the `else` that dropped keys.
// A span in another file than `main` says which.
std::vector<RuleLine> RuleLines(const Plan& plan, const Program& program, const Source* main);

// Where a rule, or the `else` of its pass, stands; nowhere for an `else` that is not written.
Span SpanOf(const Program& program, const RuleRef& rule);

// "12" or "unwrap.rekey:12": the line, with the file when it is not `main`.
std::string LineOf(Span span, const Source* main);

// {"file": ..., "line": ..., "text": ...}, or null for a span of nowhere.
void WritePlace(Span span, JsonText* json);

// "rules": [{file, line, text, keys, made, example?}]
void WriteRules(const std::vector<RuleLine>& lines, JsonText* json);

}  // namespace rekey::cli

#endif  // REKEY_CLI_RULE_LINES_H_
