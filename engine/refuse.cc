#include "engine/refuse.h"

#include <string>

namespace rekey {
namespace {

Diagnostic Refusal(const std::string& what, Span span) {
  return Error("not-yet", what + " arrives with the next release").At(span);
}

void RefuseRule(const Rule& rule, Diagnostics* errors) {
  if (rule.verb == ast::Verb::kMerge) {
    errors->push_back(Refusal("`merge`", rule.line));
  } else if (rule.verb == ast::Verb::kSplit) {
    errors->push_back(Refusal("`split`", rule.line));
  } else if (!rule.ops.empty()) {
    errors->push_back(
        Refusal("the operation `" + std::string(rule.ops[0].op->name) + "`", rule.ops[0].span));
  }
}

}  // namespace

Diagnostics RefuseUnsupported(const Program& program) {
  Diagnostics errors;
  for (const Pass& pass : program.passes)
    for (const Rule& rule : pass.rules) RefuseRule(rule, &errors);
  for (const auto& output : program.outputs)
    if (const auto* fill = std::get_if<Fill>(&output))
      errors.push_back(Refusal("`fill`", fill->span));
  return errors;
}

}  // namespace rekey
