#include "engine/claims.h"

#include <algorithm>
#include <utility>

#include "engine/near_miss.h"

namespace rekey {
namespace {

std::vector<const KeyPattern*> PatternsOf(const Pass& pass) {
  std::vector<const KeyPattern*> patterns;
  for (const Rule& rule : pass.rules)
    for (const KeyPattern& source : rule.sources) patterns.push_back(&source);
  return patterns;
}

}  // namespace

Claims::Claims(Journey* journey, int pass, const std::vector<LiveKey>& keys)
    : journey_(journey),
      pass_number_(pass),
      pass_(journey->program.passes[static_cast<size_t>(pass)]),
      keys_(keys),
      patterns_(PatternsOf(pass_)),
      set_(patterns_),
      waiting_(pass_.rules.size()),
      fits_(pass_.rules.size()) {
  for (const KeyPattern* pattern : patterns_) captures_.emplace_back(*pattern);
  for (size_t r = 0; r < pass_.rules.size(); ++r) {
    for (size_t s = 0; s < pass_.rules[r].sources.size(); ++s) {
      rule_of_.push_back(static_cast<int>(r));
      source_of_.push_back(static_cast<uint32_t>(s));
    }
  }
  has_ = [this](std::string_view key) { return Find(key).has_value(); };
}

std::optional<uint32_t> Claims::Find(std::string_view key) {
  if (!index_) {
    index_.emplace(keys_.size());
    for (uint32_t i = 0; i < keys_.size(); ++i) index_->Add(keys_[i].key, i);
  }
  return index_->Find(key);
}

std::vector<LiveKey> Claims::Run() {
  out_.reserve(keys_.size());
  std::vector<int> ids;
  for (uint32_t item = 0; item < keys_.size(); ++item) {
    set_.Match(keys_[item].key, &ids);
    for (size_t i = 0; i < ids.size(); ++i)
      if (i == 0 || rule_of_[ids[i]] != rule_of_[ids[i - 1]]) ++fits_[rule_of_[ids[i]]].fits;
    Decide(item, ids, 0);
  }
  bool sort = false;
  for (size_t rule = 0; rule < pass_.rules.size(); ++rule) {
    if (waiting_[rule].empty()) continue;
    Merge(static_cast<int>(rule));
    sort = true;
  }
  if (sort)
    std::stable_sort(out_.begin(), out_.end(),
                     [](const LiveKey& a, const LiveKey& b) { return a.place < b.place; });
  std::sort(refused_.begin(), refused_.end());
  return std::move(out_);
}

// --- Which rule ---------------------------------------------------------------------------------

Claims::Guard Claims::CheckGuard(uint32_t item, int id, std::vector<std::string_view>* variables) {
  const Rule& rule = RuleOf(id);
  if (!rule.guard) return Guard::kHolds;
  if (!PatternOf(id).Read(keys_[item].key, variables)) return Guard::kFails;
  const TensorType type = journey_->out.graph.type(keys_[item].tensor);
  Env env;
  env.variables = variables;
  env.tensor = &type;
  env.has = &has_;
  Result<bool> holds = rule.guard->EvaluateBool(env);
  if (holds.ok()) return *holds ? Guard::kHolds : Guard::kFails;
  journey_->AddError(std::move(holds).error().Note("for " + Quoted(keys_[item].key)));
  return Guard::kBroken;
}

void Claims::NoteTaken(uint32_t item, const std::vector<int>& ids, size_t winner) {
  const int rule = rule_of_[ids[winner]];
  int last = rule;
  for (size_t i = winner + 1; i < ids.size(); ++i) {
    const int later = rule_of_[ids[i]];
    if (later == last) continue;
    last = later;
    RuleFit& fit = fits_[later];
    if (fit.taken++ == 0) {
      fit.taken_key = keys_[item].key;
      fit.taker = rule;
    }
    if (!journey_->IsWatched(keys_[item].tensor)) continue;
    std::vector<std::string_view> variables;
    const bool holds = CheckGuard(item, ids[i], &variables) == Guard::kHolds;
    Tell(Event::Kind::kWouldClaim, item, RuleOf(ids[i]).line, "",
         holds ? "" : "its guard does not hold");
  }
}

// Gives the key to the first candidate from number `from` on that wants it, or to else.
void Claims::Decide(uint32_t item, const std::vector<int>& ids, size_t from) {
  for (size_t i = from; i < ids.size(); ++i) {
    switch (CheckGuard(item, ids[i], &variables_)) {
      case Guard::kBroken:
        return;
      case Guard::kFails:
        ++fits_[rule_of_[ids[i]]].guard_false;
        Tell(Event::Kind::kGuardFalse, item, RuleOf(ids[i]).line, "", "");
        continue;
      case Guard::kHolds:
        break;
    }
    if (RuleOf(ids[i]).verb == ast::Verb::kMerge) {
      waiting_[rule_of_[ids[i]]].push_back({item, ids, i});
      return;
    }
    NoteTaken(item, ids, i);
    Claim(item, ids[i]);
    return;
  }
  Else(item);
}

// --- What becomes of it -------------------------------------------------------------------------

std::string_view Claims::Keep(std::string_view text, uint32_t item) {
  if (text == keys_[item].key) return keys_[item].key;
  return journey_->out.text->Add(text);
}

void Claims::Tell(Event::Kind kind, uint32_t item, Span where, std::string after,
                  std::string note) {
  if (!journey_->IsWatched(keys_[item].tensor)) return;
  journey_->Record(
      {kind, pass_number_, where, std::string(keys_[item].key), std::move(after), std::move(note)});
}

void Claims::Example(int rule, const std::vector<uint32_t>& sources, std::string_view target,
                     TensorId tensor) {
  RuleUse& use = journey_->out.rules[static_cast<size_t>(pass_number_)][static_cast<size_t>(rule)];
  if (use.example_sources.empty()) {
    for (const uint32_t item : sources) {
      use.example_sources.push_back(keys_[item].key);
      use.example_source_types.push_back(journey_->out.graph.type(keys_[item].tensor));
    }
  }
  use.example_targets.push_back(target);
  use.example_target_types.push_back(journey_->out.graph.type(tensor));
}

void Claims::Put(uint32_t item, std::string_view key, TensorId tensor, int rule) {
  LiveKey made = keys_[item];
  made.key = key;
  made.tensor = tensor;
  made.place = item;
  if (rule >= 0) {
    made.by = Ref(rule);
    made.claimed = true;
    ++journey_->out.rules[static_cast<size_t>(pass_number_)][static_cast<size_t>(rule)].made;
  } else if (!made.claimed) {
    made.by = Ref(-1);
  }
  out_.push_back(made);
}

void Claims::Claim(uint32_t item, int id) {
  const int number = rule_of_[id];
  const Rule& rule = RuleOf(id);
  RuleUse& use =
      journey_->out.rules[static_cast<size_t>(pass_number_)][static_cast<size_t>(number)];
  ++use.claimed;
  journey_->Touch(keys_[item].tensor);
  if (!PatternOf(id).Read(keys_[item].key, &variables_)) return;
  Env env;
  env.variables = &variables_;
  env.has = &has_;
  switch (rule.verb) {
    case ast::Verb::kKeep:
      Tell(Event::Kind::kClaimed, item, rule.line, std::string(keys_[item].key), "");
      if (use.claimed == 1) Example(number, {item}, keys_[item].key, keys_[item].tensor);
      return Put(item, keys_[item].key, keys_[item].tensor, number);
    case ast::Verb::kDrop:
      return Drop(item, number, env);
    case ast::Verb::kSplit:
      return Split(item, number, variables_);
    case ast::Verb::kMap:
    case ast::Verb::kMerge:  // merges do not come here
      return Map(item, number, env);
  }
}

void Claims::Drop(uint32_t item, int number, const Env& env) {
  const Rule& rule = pass_.rules[static_cast<size_t>(number)];
  const LiveKey& key = keys_[item];
  RuleUse& use =
      journey_->out.rules[static_cast<size_t>(pass_number_)][static_cast<size_t>(number)];
  if (use.claimed == 1) {
    use.example_sources.push_back(key.key);
    use.example_source_types.push_back(journey_->out.graph.type(key.tensor));
  }
  journey_->drops.push_back({key.tensor, key.key, Ref(number)});
  if (!rule.same_as) return Tell(Event::Kind::kDropped, item, rule.line, "", "");
  text_.clear();
  if (Status printed = rule.same_as->Print(env, &text_); !printed.ok())
    return journey_->AddError(std::move(printed).error().Note("for " + Quoted(key.key)));
  const std::optional<uint32_t> other = Find(text_);
  if (!other || *other == item) {
    Diagnostic error =
        Error("same-as",
              Quoted(key.key) + (other ? " is to be compared with itself"
                                       : " is to be the same as " + Quoted(text_) +
                                             ", which is not among the keys of this pass"))
            .At(rule.same_as->span);
    if (!other)
      for (const std::string& near : NearestKeys(text_, keys_))
        error.Help("the nearest key is " + Quoted(near));
    return journey_->AddError(std::move(error));
  }
  Tell(Event::Kind::kDropped, item, rule.line, "", "if it is the same as " + Quoted(text_));
  journey_->out.must_equal.push_back(
      {{key.tensor, keys_[*other].tensor}, {key.key, keys_[*other].key}, rule.line});
}

void Claims::Map(uint32_t item, int number, const Env& env) {
  const Rule& rule = pass_.rules[static_cast<size_t>(number)];
  std::string_view target = keys_[item].key;
  if (!rule.targets.empty()) {
    text_.clear();
    if (Status printed = rule.targets[0].Print(env, &text_); !printed.ok())
      return journey_->AddError(std::move(printed).error().Note("for " + Quoted(target)));
    target = Keep(text_, item);
  }
  TensorId tensor = keys_[item].tensor;
  if (!rule.ops.empty()) {
    Result<TensorId> changed =
        ApplyEach(&journey_->out.graph, rule.ops, 0, rule.ops.size(), tensor, env);
    if (!changed.ok())
      return journey_->AddError(std::move(changed).error().Note(
          "for " + Quoted(keys_[item].key) + ", " + ToString(journey_->out.graph.type(tensor))));
    tensor = *changed;
  }
  Tell(Event::Kind::kClaimed, item, rule.line, std::string(target), "");
  const RuleUse& use =
      journey_->out.rules[static_cast<size_t>(pass_number_)][static_cast<size_t>(number)];
  if (use.claimed == 1) Example(number, {item}, target, tensor);
  Put(item, target, tensor, number);
}

void Claims::Else(uint32_t item) {
  const LiveKey& key = keys_[item];
  switch (pass_.else_mode) {
    case ast::Else::Mode::kPass:
      Tell(Event::Kind::kPassed, item, pass_.else_span, std::string(key.key), "");
      return Put(item, key.key, key.tensor, -1);
    case ast::Else::Mode::kDrop:
      Tell(Event::Kind::kDropped, item, pass_.else_span, "", "");
      journey_->Touch(key.tensor);
      journey_->drops.push_back({key.tensor, key.key, Ref(-1)});
      return;
    case ast::Else::Mode::kError:
      Tell(Event::Kind::kRefused, item, pass_.else_span, "", pass_.else_why);
      refused_.push_back(item);
      return;
  }
}

}  // namespace rekey
