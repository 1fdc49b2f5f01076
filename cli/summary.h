// The last line of a run: how many keys became what.
//
//   SummaryText(Summarize(plan, program))
//   // 267 of 320 keys -> 267 tensors, 53 dropped by 2 rules, 0 left over
#ifndef REKEY_CLI_SUMMARY_H_
#define REKEY_CLI_SUMMARY_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cli/json_text.h"
#include "engine/plan.h"
#include "engine/program.h"

namespace rekey::cli {

struct Summary {
  uint64_t keys = 0;                          // of the checkpoint
  uint64_t used = 0;                          // of these, that flow into an output
  uint64_t tensors = 0;                       // put out
  uint64_t filled = 0, copied = 0, tied = 0;  // of these, made by output statements
  uint64_t dropped = 0, dropped_by = 0;       // keys; rules (`else drop` is one)
  // Keys that no rule claimed and no edit changed: they stand in the output as they were.
  std::vector<std::string_view> left_over;
  bool default_else = false;  // the last pass lets them through without an `else` written
};

Summary Summarize(const Plan& plan, const Program& program);
std::string SummaryText(const Summary& summary);

// A note about keys left over by the default `else pass`, or nothing.
Diagnostics PassedNote(const Summary& summary);

// The fields "keys", "used", ...
void WriteSummary(const Summary& summary, JsonText* json);

}  // namespace rekey::cli

#endif  // REKEY_CLI_SUMMARY_H_
