// Merge and split: the rules of Claims that join several keys or make several.
#include <algorithm>
#include <utility>

#include "engine/claims.h"

namespace rekey {

void Claims::Merge(int number) {
  const Rule& rule = pass_.rules[static_cast<size_t>(number)];
  std::vector<Waiting> waiting = std::move(waiting_[static_cast<size_t>(number)]);
  std::sort(waiting.begin(), waiting.end(),
            [](const Waiting& a, const Waiting& b) { return a.item < b.item; });
  std::vector<Membership> members;
  std::vector<size_t> next(waiting.size());  // the first candidate behind this rule
  for (size_t w = 0; w < waiting.size(); ++w) {
    const std::vector<int>& ids = waiting[w].ids;
    const LiveKey& key = keys_[waiting[w].item];
    size_t i = waiting[w].at;
    for (; i < ids.size() && rule_of_[ids[i]] == number; ++i) {
      Membership member{waiting[w].item, source_of_[ids[i]], key.key, key.tensor, {}};
      if (!PatternOf(ids[i]).Read(key.key, &member.variables)) continue;
      if (CheckGuard(member.item, ids[i], &variables_) == Guard::kHolds)
        members.push_back(std::move(member));
    }
    next[w] = i;
  }
  Env env;
  env.has = &has_;
  MergeResult merged = GroupMembers(rule, members, env);
  for (Diagnostic& error : merged.errors) journey_->AddError(std::move(error));
  std::vector<bool> free(waiting.size());
  for (const auto& [item, why] : merged.incomplete) {
    const auto at =
        std::lower_bound(waiting.begin(), waiting.end(), item,
                         [](const Waiting& waits, uint32_t number) { return waits.item < number; });
    const size_t w = static_cast<size_t>(at - waiting.begin());
    free[w] = true;
    RuleFit& fit = fits_[static_cast<size_t>(number)];
    if (fit.incomplete++ == 0) fit.incomplete_why = Quoted(keys_[item].key) + ": " + why;
    Tell(Event::Kind::kIncomplete, item, rule.line, "", why);
  }
  for (size_t w = 0; w < waiting.size(); ++w)
    if (!free[w]) NoteTaken(waiting[w].item, waiting[w].ids, next[w] - 1);
  for (MergeGroup& group : merged.groups) MakeMerged(number, std::move(group));
  for (size_t w = 0; w < waiting.size(); ++w)
    if (free[w]) Decide(waiting[w].item, waiting[w].ids, next[w]);
}

void Claims::MakeMerged(int number, MergeGroup group) {
  const Rule& rule = pass_.rules[static_cast<size_t>(number)];
  RuleUse& use =
      journey_->out.rules[static_cast<size_t>(pass_number_)][static_cast<size_t>(number)];
  use.claimed += group.items.size();
  for (const uint32_t item : group.items) {
    journey_->Touch(keys_[item].tensor);
    Tell(Event::Kind::kClaimed, item, rule.line, group.target, "");
  }
  Env env;
  env.variables = &group.variables;
  env.has = &has_;
  const auto same = [&](std::vector<TensorId> tensors, std::vector<std::string_view> keys,
                        Span where) {
    journey_->out.must_equal.push_back({std::move(tensors), std::move(keys), where});
  };
  Result<TensorId> tensor = Reduce(&journey_->out.graph, rule.ops, group.tree, env, same);
  if (!tensor.ok())
    return journey_->AddError(std::move(tensor).error().Note("for " + Quoted(group.target)));
  const std::string_view target = Keep(group.target, group.items[0]);
  if (use.example_sources.empty()) Example(number, group.items, target, *tensor);
  Put(group.items[0], target, *tensor, number);
}

void Claims::Split(uint32_t item, int number, std::vector<std::string_view> variables) {
  const Rule& rule = pass_.rules[static_cast<size_t>(number)];
  const LiveKey& key = keys_[item];
  const auto fail = [&](Diagnostic error) {
    journey_->AddError(std::move(error).Note("for " + Quoted(key.key) + ", " +
                                             ToString(journey_->out.graph.type(key.tensor))));
  };
  Env env;
  env.variables = &variables;
  env.has = &has_;
  std::vector<uint32_t> counts;
  std::vector<int64_t> begins;
  for (const Join& join : rule.by) {
    int64_t begin = 0, count = static_cast<int64_t>(join.words.size());
    if (join.words.empty() && join.end) {
      Result<int64_t> from = join.begin ? join.begin->EvaluateInt(env) : Result<int64_t>(0);
      if (!from.ok()) return fail(std::move(from).error());
      Result<int64_t> to = join.end->EvaluateInt(env);
      if (!to.ok()) return fail(std::move(to).error());
      constexpr int64_t kMost = 1 << 24;
      if (*from < 0 || *to <= *from || *to - *from > kMost)
        return fail(Error("split-count", "the range " + std::to_string(*from) + ".." +
                                             std::to_string(*to) + " names no pieces to split into")
                        .At(join.span));
      begin = *from;
      count = *to - *from;
    }
    begins.push_back(begin);
    counts.push_back(static_cast<uint32_t>(count));
  }
  // A list of targets is the innermost level; so is a single target without `by`.
  if (rule.targets.size() > 1 || rule.by.empty())
    counts.push_back(static_cast<uint32_t>(rule.targets.size()));
  Result<PieceTree> tree = Expand(&journey_->out.graph, rule.ops, key.tensor, counts, env);
  if (!tree.ok()) return fail(std::move(tree).error());
  const RuleUse& use =
      journey_->out.rules[static_cast<size_t>(pass_number_)][static_cast<size_t>(number)];
  const size_t before = out_.size();
  SplitTargets(item, number, 0, *tree, &variables, begins);
  if (use.claimed != 1) return;
  for (size_t i = before; i < out_.size(); ++i)
    Example(number, {item}, out_[i].key, out_[i].tensor);
}

void Claims::SplitTargets(uint32_t item, int number, size_t level, const PieceTree& tree,
                          std::vector<std::string_view>* variables,
                          const std::vector<int64_t>& begins) {
  const Rule& rule = pass_.rules[static_cast<size_t>(number)];
  if (level < rule.by.size()) {
    const Join& join = rule.by[level];
    for (size_t i = 0; i < tree.pieces.size(); ++i) {
      const std::string text = join.words.empty()
                                   ? std::to_string(begins[level] + static_cast<int64_t>(i))
                                   : join.words[i];
      (*variables)[static_cast<size_t>(join.variable)] = text;
      SplitTargets(item, number, level + 1, tree.pieces[i], variables, begins);
    }
    (*variables)[static_cast<size_t>(join.variable)] = std::string_view();
    return;
  }
  Env env;
  env.variables = variables;
  env.has = &has_;
  for (size_t t = 0; t < rule.targets.size(); ++t) {
    text_.clear();
    if (Status printed = rule.targets[t].Print(env, &text_); !printed.ok())
      return journey_->AddError(std::move(printed).error().Note("for " + Quoted(keys_[item].key)));
    const std::string_view target = Keep(text_, item);
    Tell(Event::Kind::kClaimed, item, rule.line, std::string(target), "");
    Put(item, target, tree.pieces.empty() ? tree.tensor : tree.pieces[t].tensor, number);
  }
}

}  // namespace rekey
