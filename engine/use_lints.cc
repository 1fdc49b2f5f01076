#include "engine/use_lints.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "engine/near_miss.h"
#include "grammar/suggest.h"

namespace rekey {
namespace {

// Near misses are looked for so many times a pass; further rules are reported without.
constexpr size_t kMostSearches = 40;

Diagnostic Lint(const Journey& journey, std::string name, std::string message) {
  Diagnostic lint = Warning(std::move(name), std::move(message));
  if (journey.program.strict) lint.severity = Severity::kError;
  return lint;
}

std::string List(const std::vector<std::string>& keys) {
  std::string list;
  for (const std::string& key : keys) list += (list.empty() ? "" : ", ") + Quoted(key);
  return list;
}

// Keys are folded only when something is to be said about them.
class Families {
 public:
  explicit Families(const std::vector<LiveKey>& keys) : keys_(keys) {}
  bool MaySearch() { return searches_++ < kMostSearches; }
  const KeyFamilies& get() {
    if (!families_) families_.emplace(keys_);
    return *families_;
  }

 private:
  const std::vector<LiveKey>& keys_;
  std::optional<KeyFamilies> families_;
  size_t searches_ = 0;
};

void AddNearMisses(const Rule& rule, Families* families, Diagnostic* lint) {
  for (const KeyPattern& source : rule.sources) {
    if (!families->MaySearch()) return;
    const KeyFamilies& all = families->get();
    if (const auto narrow = FindNarrowHole(source, rule.variables, all.keys())) {
      const std::string hole = "{" + narrow->name;
      lint->Note(Quoted(hole + "}") + " is one segment; " + Quoted(narrow->key) +
                 " has more there");
      lint->Help("write " + Quoted(hole + ":any}") + " to match any number of segments");
      continue;
    }
    if (const std::vector<std::string> near = all.Nearest(PatternShape(source)); !near.empty())
      lint->Help((near.size() == 1 ? "the nearest key is " : "the nearest keys are ") + List(near));
  }
}

// Runs of as many segments as `text` has, from the keys, each once.
std::vector<std::string_view> RunsLike(std::string_view text, const KeyFamilies& families,
                                       bool at_front, bool at_end) {
  const auto ends = [](char c) { return c == '.' || c == '/'; };
  const size_t separators = static_cast<size_t>(std::count_if(text.begin(), text.end(), ends));
  const bool closed = !text.empty() && ends(text.back());
  const size_t segments = separators + (closed ? 0 : 1);
  std::vector<std::string_view> runs;
  for (const std::string_view key : families.keys()) {
    std::vector<size_t> starts = {0};
    for (size_t i = 0; i < key.size(); ++i)
      if (ends(key[i])) starts.push_back(i + 1);
    starts.push_back(key.size() + 1);
    for (size_t s = 0; s + segments < starts.size(); ++s) {
      if (at_front && s > 0) break;
      if (at_end && s + segments + 1 != starts.size()) continue;
      const size_t end = std::min(key.size(), starts[s + segments] - (closed ? 0 : 1));
      const std::string_view run = key.substr(starts[s], end - starts[s]);
      if (std::find(runs.begin(), runs.end(), run) == runs.end()) runs.push_back(run);
      if (runs.size() >= 500) return runs;
    }
  }
  return runs;
}

void AddNearRuns(const Edit& edit, Families* families, Diagnostic* lint) {
  if (!families->MaySearch()) return;
  const bool rename = edit.kind == Edit::Kind::kRename;
  std::vector<std::string> texts = edit.texts;
  if (rename && edit.pattern->is_literal) texts = {edit.pattern->prefix};
  const bool front = edit.kind == Edit::Kind::kStripFront || edit.kind == Edit::Kind::kStripAll;
  const bool back = edit.kind == Edit::Kind::kStripSuffix;
  for (const std::string& text : texts) {
    std::vector<std::string_view> runs = RunsLike(text, families->get(), front, back);
    std::vector<std::string> near;
    for (const std::string_view run : Nearest(text, runs)) near.emplace_back(run);
    near.erase(std::remove(near.begin(), near.end(), text), near.end());
    if (!near.empty()) {
      lint->Help("keys have " + List(near));
    } else if (front && !families->get().keys().empty()) {
      lint->Note("the first key is " + Quoted(families->get().keys()[0]));
    }
  }
}

const char* EditName(Edit::Kind kind) {
  switch (kind) {
    case Edit::Kind::kStripFront:
      return "strip";
    case Edit::Kind::kStripAll:
      return "strip all";
    case Edit::Kind::kStripAnywhere:
      return "strip anywhere";
    case Edit::Kind::kStripSuffix:
      return "strip suffix";
    case Edit::Kind::kRename:
      return "rename";
  }
  return "";
}

const char* VerbName(ast::Verb verb) {
  switch (verb) {
    case ast::Verb::kMap:
      return "map";
    case ast::Verb::kKeep:
      return "keep";
    case ast::Verb::kDrop:
      return "drop";
    case ast::Verb::kMerge:
      return "merge";
    case ast::Verb::kSplit:
      return "split";
  }
  return "";
}

}  // namespace

void LintEdits(Journey* journey, int number, const std::vector<LiveKey>& keys) {
  if (journey->options.testing) return;
  const Pass& pass = journey->program.passes[static_cast<size_t>(number)];
  const std::vector<EditUse>& uses = journey->out.edits[static_cast<size_t>(number)];
  Families families(keys);
  for (size_t i = 0; i < pass.edits.size(); ++i) {
    const Edit& edit = pass.edits[i];
    if (edit.maybe || uses[i].touched > 0) continue;
    const std::string name = EditName(edit.kind);
    Diagnostic lint =
        Lint(*journey, "unused-edit", "this " + Quoted(name) + " changed no key").At(edit.span);
    AddNearRuns(edit, &families, &lint);
    const std::string verb = name.substr(0, name.find(' '));
    lint.Help("if it may find nothing, write " + Quoted(verb + "?"));
    journey->Add(std::move(lint));
  }
}

void LintRules(Journey* journey, int number, const std::vector<LiveKey>& keys,
               const std::vector<RuleFit>& fits) {
  if (journey->options.testing) return;
  const Pass& pass = journey->program.passes[static_cast<size_t>(number)];
  const std::vector<RuleUse>& uses = journey->out.rules[static_cast<size_t>(number)];
  Families families(keys);
  for (size_t i = 0; i < pass.rules.size(); ++i) {
    const Rule& rule = pass.rules[i];
    if (rule.maybe || uses[i].claimed > 0) continue;
    const RuleFit& fit = fits[i];
    const std::string verb = VerbName(rule.verb);
    if (fit.taken > 0 && fit.guard_false == 0 && fit.incomplete == 0) {
      const Rule& taker = pass.rules[static_cast<size_t>(fit.taker)];
      Diagnostic lint = Lint(*journey, "shadowed-rule",
                             "this " + Quoted(verb) + " gets no key: earlier rules claim the " +
                                 CountKeys(fit.taken) + " that it fits");
      lint.At(rule.line).Also(taker.line, "claims " + Quoted(fit.taken_key));
      lint.Help("move it above that rule, or write " + Quoted(verb + "?"));
      journey->Add(std::move(lint));
      continue;
    }
    Diagnostic lint =
        Lint(*journey, "unused-rule", "this " + Quoted(verb) + " claims no key").At(rule.line);
    if (fit.guard_false > 0)
      lint.Note("its guard does not hold for the " + CountKeys(fit.guard_false) +
                " that its pattern fits");
    if (fit.incomplete > 0)
      lint.Note(CountKeys(fit.incomplete) + " fit it, but no group is complete; " +
                fit.incomplete_why);
    if (fit.fits == 0) AddNearMisses(rule, &families, &lint);
    lint.Help("if it may match nothing, write " + Quoted(verb + "?"));
    journey->Add(std::move(lint));
  }
}

void ReportRefused(Journey* journey, int number, const std::vector<LiveKey>& keys,
                   const std::vector<uint32_t>& refused) {
  if (refused.empty()) return;
  const Pass& pass = journey->program.passes[static_cast<size_t>(number)];
  constexpr size_t kShown = 5;
  Diagnostic error =
      Error("unclaimed-key", CountKeys(refused.size()) +
                                 (refused.size() == 1 ? " fits no rule" : " fit no rule") +
                                 (pass.else_why.empty() ? "" : ": " + pass.else_why));
  error.At(pass.else_span);
  for (size_t i = 0; i < refused.size() && i < kShown; ++i) {
    const LiveKey& key = keys[refused[i]];
    std::string note = Quoted(key.key);
    if (journey->out.graph.IsSource(key.tensor) &&
        journey->out.graph.source(key.tensor).key != key.key)
      note += " (from " + Quoted(journey->out.graph.source(key.tensor).key) + ")";
    error.Note(note + " " + ToString(journey->out.graph.type(key.tensor)));
  }
  if (refused.size() > kShown)
    error.Note("and " + std::to_string(refused.size() - kShown) + " more");
  // The rule whose pattern comes nearest to the first of them.
  const std::string_view first = keys[refused[0]].key;
  const Rule* nearest = nullptr;
  size_t least = 0;
  if (first.size() < 300) {
    for (const Rule& rule : pass.rules) {
      for (const KeyPattern& source : rule.sources) {
        const PatternShape shape(source);
        const size_t limit = nearest ? std::min(shape.limit(), least - 1) : shape.limit();
        const size_t distance = shape.Distance(first, limit);
        if (distance > limit) continue;
        nearest = &rule;
        least = distance;
        if (least == 0) break;
      }
      if (nearest && least == 0) break;
    }
  }
  if (nearest) error.Also(nearest->line, "comes nearest to " + Quoted(first));
  error.Help("add a rule that maps, keeps or drops them, or write `else pass`");
  journey->AddError(std::move(error));
}

}  // namespace rekey
