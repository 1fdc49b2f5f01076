#include "engine/names_only.h"

#include <algorithm>
#include <utility>

namespace rekey {
namespace {

// A split `by` a hole without a range takes its number from a shape, which names do not tell.
constexpr int64_t kGuessedPieces = 64;
constexpr int64_t kMaxPieces = 4096;

bool ReadsTensor(const Code& code) {
  if (code.kind == Code::Kind::kRank || code.kind == Code::Kind::kDType ||
      code.kind == Code::Kind::kDim) {
    return true;
  }
  return std::any_of(code.args.begin(), code.args.end(), ReadsTensor);
}

void SetVariable(int index, int64_t value, Code* code) {
  if (code->kind == Code::Kind::kVariable && code->index == index) {
    code->kind = Code::Kind::kConstant;
    code->value = value;
  }
  for (Code& arg : code->args) SetVariable(index, value, &arg);
}

// The numbers that a joined hole of a split takes.
std::pair<int64_t, int64_t> PiecesOf(const Join& join) {
  if (!join.begin || !join.end) return {0, kGuessedPieces};
  const Result<int64_t> begin = join.begin->EvaluateInt({});
  const Result<int64_t> end = join.end->EvaluateInt({});
  if (!begin.ok() || !end.ok() || *begin < 0 || *end <= *begin) return {0, kGuessedPieces};
  return {*begin, *begin + std::min(*end - *begin, kMaxPieces)};
}

// The one of a split's targets that `choice` stands for; counts them all in `choices`.
KeyTarget ChooseTarget(const Rule& split, size_t choice, size_t* choices) {
  if (split.by.empty()) {
    *choices = std::max(*choices, split.targets.size());
    return split.targets[std::min(choice, split.targets.size() - 1)];
  }
  size_t count = split.targets.size();
  for (const Join& join : split.by) {
    const auto [begin, end] = PiecesOf(join);
    count = std::min<size_t>(count * static_cast<size_t>(end - begin), kMaxPieces);
  }
  *choices = std::max(*choices, count);
  KeyTarget target = split.targets[choice % split.targets.size()];
  choice /= split.targets.size();
  for (const Join& join : split.by) {
    const auto [begin, end] = PiecesOf(join);
    const size_t pieces = static_cast<size_t>(end - begin);
    for (KeyTarget::Part& part : target.parts) {
      if (!part.code) continue;
      SetVariable(join.variable, begin + static_cast<int64_t>(choice % pieces), part.code.get());
    }
    choice /= pieces;
  }
  return target;
}

Rule WithoutTensors(const Rule& rule) {
  Rule reduced = rule;
  reduced.ops.clear();
  reduced.by.clear();
  if (reduced.same_as) reduced.same_as.reset();
  if (reduced.guard && ReadsTensor(*reduced.guard)) reduced.guard.reset();
  return reduced;
}

}  // namespace

NamesOnly ReduceToNames(const Program& program, size_t choice) {
  NamesOnly names;
  names.program = program;
  names.program.strict = false;
  names.program.outputs.clear();
  names.program.expects.clear();
  names.rules.resize(program.passes.size());
  for (size_t p = 0; p < program.passes.size(); ++p) {
    std::vector<Rule> rules;
    for (size_t r = 0; r < program.passes[p].rules.size(); ++r) {
      const Rule& rule = program.passes[p].rules[r];
      Rule reduced = WithoutTensors(rule);
      if (rule.verb == ast::Verb::kSplit) {
        reduced.verb = ast::Verb::kMap;
        reduced.targets = {ChooseTarget(rule, choice, &names.choices)};
      }
      if (rule.verb == ast::Verb::kMerge) reduced.verb = ast::Verb::kMap;
      for (const KeyPattern& source : rule.sources) {
        rules.push_back(reduced);
        rules.back().sources = {source};
        names.rules[p].push_back(static_cast<int>(r));
      }
    }
    names.program.passes[p].rules = std::move(rules);
  }
  return names;
}

}  // namespace rekey
