#include "engine/rule_compile.h"

#include <algorithm>
#include <utility>

#include "engine/merge_check.h"
#include "engine/op_call.h"
#include "grammar/format.h"

namespace rekey {
namespace {

using ast::Verb;

Span FirstLine(Span span) {
  const size_t end = span.Text().find('\n');
  if (end == std::string_view::npos) return span;
  size_t size = end;
  while (size > 0 && (span.Text()[size - 1] == '\r' || span.Text()[size - 1] == ' ')) --size;
  return {span.source, span.begin, span.begin + static_cast<uint32_t>(size)};
}

bool MentionsWholeMatch(const ast::Expr& expr) {
  if (expr.kind == ast::Expr::Kind::kGroup && expr.integer == 0) return true;
  return std::any_of(expr.args.begin(), expr.args.end(), MentionsWholeMatch);
}

bool MentionsWholeMatch(const ast::Target& target) {
  return std::any_of(target.parts.begin(), target.parts.end(), [](const auto& part) {
    using Kind = ast::Target::Part::Kind;
    return (part.kind == Kind::kGroup && part.group == 0) ||
           (part.kind == Kind::kExpr && MentionsWholeMatch(*part.expr));
  });
}

std::optional<Code> And(std::optional<Code> outer, Code inner) {
  if (!outer) return inner;
  Code both;
  both.kind = Code::Kind::kBinary;
  both.span = inner.span;
  both.text = "and";
  both.args.push_back(std::move(*outer));
  both.args.push_back(std::move(inner));
  return both;
}

// --- One rule -----------------------------------------------------------------------------------

class OneRule {
 public:
  OneRule(const CompileContext& context, const ast::Rule& tree, Span span, const ScopeFrame& frame)
      : context_(context), tree_(tree), frame_(frame), holes_(frame.holes) {
    rule_.verb = tree.verb;
    rule_.maybe = tree.maybe || frame.maybe;
    rule_.span = span;
    rule_.line = FirstLine(span);
  }

  Rule Compile() {
    Sources();
    SplitHoles();
    holes_.used.assign(holes_.variables.size(), false);
    Targets();
    Guard();
    rule_.by = CompileBy(tree_, holes_, frame_.holes.variables.size(), Where(), context_);
    for (const ast::Op& op : tree_.ops)
      if (std::optional<OpCall> call =
              CompileOp(op, Where(), context_.binder, context_.diagnostics))
        rule_.ops.push_back(std::move(*call));
    rule_.variables = holes_.variables;
    CheckVerb();
    CheckStructure(tree_, rule_, frame_, holes_, context_.diagnostics);
    if (context_.lints && (tree_.verb == Verb::kMap || tree_.verb == Verb::kSplit) &&
        !tree_.targets.empty())
      LintUnusedHoles(holes_, frame_.holes.variables.size(), context_.diagnostics);
    return std::move(rule_);
  }

 private:
  void Report(Diagnostic diagnostic) { context_.diagnostics->push_back(std::move(diagnostic)); }

  BindPlace Where() {
    BindPlace place;
    place.variables = &holes_.variables;
    place.groups = &groups_;
    place.used = &holes_.used;
    place.quiet = holes_.broken;
    return place;
  }

  void Sources() {
    PatternOptions options;
    options.outer = frame_.holes.variables.size();
    options.whole_match =
        std::any_of(tree_.targets.begin(), tree_.targets.end(),
                    [](const ast::Target& target) { return MentionsWholeMatch(target); }) ||
        (tree_.guard && MentionsWholeMatch(*tree_.guard));
    if (options.whole_match && tree_.verb == Verb::kMerge)
      Report(Error("no-group", "a merge joins several keys, and has no one match `\\0`")
                 .At(tree_.targets[0].span));
    std::vector<PatternText> texts;
    std::vector<std::vector<int>> member_groups;
    for (const ast::Pattern& source : tree_.sources) {
      PatternText text = frame_.pattern;
      std::vector<int> groups;
      context_.patterns->Append(source, options, &text, &holes_, &groups);
      texts.push_back(std::move(text));
      member_groups.push_back(std::move(groups));
      // `\1` in the target of a list: the group of the first member that has it.
      for (size_t i = 0; i < member_groups.back().size(); ++i) {
        if (i >= groups_.size()) groups_.push_back(-1);
        if (groups_[i] < 0) groups_[i] = member_groups.back()[i];
      }
    }
    for (size_t i = 0; i < texts.size(); ++i)
      rule_.sources.push_back(context_.patterns->Finish(texts[i], tree_.sources[i].span, holes_));
  }

  // `split P -> {e}.w by e`: the hole that counts the pieces.
  void SplitHoles() {
    if (tree_.verb != Verb::kSplit) return;
    for (const ast::By& by : tree_.by) {
      if (holes_.Find(by.hole) >= 0) continue;  // CompileBy reports it
      CheckHoleName(*context_.names, by.hole, by.span, context_.diagnostics);
      Variable variable;
      variable.name = by.hole;
      variable.kind = Variable::Kind::kInt;
      variable.span = by.span;
      holes_.Add(std::move(variable));
    }
    for (KeyPattern& source : rule_.sources) source.groups.resize(holes_.variables.size(), -1);
  }

  void Targets() {
    rule_.has_target = !tree_.targets.empty();
    for (const ast::Target& target : tree_.targets) {
      KeyTarget own = context_.binder->BindTarget(target, Where());
      KeyTarget whole;
      whole.span = own.span;
      whole.parts = frame_.target;
      std::move(own.parts.begin(), own.parts.end(), std::back_inserter(whole.parts));
      const bool empty = std::all_of(whole.parts.begin(), whole.parts.end(), [](const auto& part) {
        return !part.code && part.text.empty();
      });
      if (empty)
        Report(Error("empty-key", "the target is an empty key")
                   .At(target.span)
                   .Help("`drop` takes a key away; a key has at least one character"));
      rule_.targets.push_back(std::move(whole));
    }
    if (tree_.same_as) rule_.same_as = context_.binder->BindTarget(*tree_.same_as, Where());
  }

  void Guard() {
    rule_.guard = frame_.guard;
    if (!tree_.guard) return;
    BindPlace place = Where();
    place.tensor = true;
    place.keys = true;
    rule_.guard = And(std::move(rule_.guard), context_.binder->BindCondition(*tree_.guard, place));
  }

  void CheckVerb() {
    const bool keeps = tree_.verb == Verb::kKeep;
    const bool bare_map = tree_.verb == Verb::kMap && tree_.targets.empty();
    if (bare_map && tree_.ops.empty()) {
      Report(Error("map-without-target", "this `map` changes neither the name nor the tensor")
                 .At(rule_.span)
                 .Help("give it a target: `-> name`")
                 .Help("or write `keep`, which claims a key unchanged"));
    } else if ((keeps || bare_map) && frame_.renames) {
      Report(
          Error("keep-in-renaming-scope", std::string("`") + (keeps ? "keep" : "map") +
                                              "` without a target stands in a scope that renames")
              .At(rule_.span, "keeps the whole name")
              .Also(frame_.renames_span, "the scope renames")
              .Help("to keep the name below the scope, write `map {r:any} -> {r}`")
              .Help("to keep the whole name, move the rule out of the scope, before it"));
    }
  }

  const CompileContext& context_;
  const ast::Rule& tree_;
  const ScopeFrame& frame_;
  Holes holes_;
  std::vector<int> groups_;
  Rule rule_;
};

}  // namespace

void LintUnusedHoles(const Holes& holes, size_t from, Diagnostics* diagnostics) {
  for (size_t i = from; i < holes.variables.size(); ++i) {
    const Variable& variable = holes.variables[i];
    if (holes.used[i] || variable.name == "_" || variable.name == "\\0") continue;
    if (variable.kind == Variable::Kind::kGroup) {
      diagnostics->push_back(
          Warning("unused-group", "the group `" + variable.name + "` is not used in the target")
              .At(variable.span)
              .Help("write `(?:...)` for a group that only groups"));
    } else {
      diagnostics->push_back(
          Warning("unused-hole", "the hole `" + variable.name + "` is not used in the target")
              .At(variable.span)
              .Help("call it `_` if it is not needed"));
    }
  }
}

void RuleCompiler::CompileRule(const ast::Rule& rule, Span span, const ScopeFrame& frame,
                               std::vector<Rule>* rules) {
  rules->push_back(OneRule(context_, rule, span, frame).Compile());
}

void RuleCompiler::CompileScope(const ast::Scope& scope, Span span, ScopeFrame frame,
                                std::vector<Rule>* rules) {
  PatternOptions options;
  options.outer = frame.holes.variables.size();
  options.whole_match = scope.target && MentionsWholeMatch(*scope.target);
  std::vector<int> groups;
  std::vector<KeyTarget::Part> same;
  context_.patterns->Append(scope.pattern, options, &frame.pattern, &frame.holes, &groups, &same);
  frame.maybe = frame.maybe || scope.maybe;
  frame.put_back.resize(frame.holes.variables.size(), !scope.target);
  BindPlace place;
  place.variables = &frame.holes.variables;
  place.groups = &groups;
  place.quiet = frame.holes.broken;
  if (scope.target) {
    KeyTarget target = context_.binder->BindTarget(*scope.target, place);
    std::move(target.parts.begin(), target.parts.end(), std::back_inserter(frame.target));
    frame.renames = true;
    frame.renames_span = scope.target->span;
  } else {
    if (scope.pattern.is_regex)
      context_.diagnostics->push_back(
          Error("regex-scope", "a scope with a regex needs a target")
              .At(scope.pattern.span)
              .Help("write what goes in front of the targets: `in /.../ -> name. {`"));
    std::move(same.begin(), same.end(), std::back_inserter(frame.target));
  }
  if (scope.guard) {
    place.tensor = true;
    place.keys = true;
    frame.guard = And(std::move(frame.guard), context_.binder->BindCondition(*scope.guard, place));
  }
  if (scope.body.empty() && context_.lints)
    context_.diagnostics->push_back(Warning("empty-scope", "a scope without rules").At(span));
  for (const ast::Statement& statement : scope.body) Compile(statement, frame, rules);
}

void RuleCompiler::Compile(const ast::Statement& statement, const ScopeFrame& frame,
                           std::vector<Rule>* rules) {
  if (const auto* rule = std::get_if<ast::Rule>(&statement.node))
    return CompileRule(*rule, statement.span, frame, rules);
  if (const auto* scope = std::get_if<ast::Scope>(&statement.node))
    return CompileScope(*scope, FirstLine(statement.span), frame, rules);
}

}  // namespace rekey
