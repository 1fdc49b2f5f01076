#include "engine/merge_check.h"

#include <algorithm>
#include <string>
#include <utility>

#include "grammar/format.h"
#include "grammar/suggest.h"

namespace rekey {
namespace {

using ast::Verb;

std::string Quoted(std::string_view text) { return "`" + std::string(text) + "`"; }

std::string Count(size_t number, const char* noun) {
  return std::to_string(number) + " " + noun + (number == 1 ? "" : "s");
}

// --- by -----------------------------------------------------------------------------------------

Diagnostic UnknownJoinHole(const ast::By& by, const Holes& holes) {
  Diagnostic error = Error("unknown-name", "there is no hole " + Quoted(by.hole) + " to join");
  error.At(by.span);
  std::vector<std::string_view> names;
  for (const Variable& variable : holes.variables) names.push_back(variable.name);
  for (const std::string_view near : Nearest(by.hole, names, 1))
    error.Help("did you mean " + Quoted(near) + "?");
  return error.Help("`by` names a hole of the sources: `{" + by.hole + ":int}`");
}

Diagnostic UnorderedHole(const ast::By& by, const Variable& variable) {
  return Error("unordered-join", "the hole " + Quoted(by.hole) + " has no order to join by")
      .At(by.span)
      .Also(variable.span, variable.any ? "any text" : "a segment of any text")
      .Help("declare it `{" + by.hole + ":int}`, or list its words: `{" + by.hole + ":a|b}`");
}

bool IsOrdered(const Variable& variable, const std::vector<std::string>& words) {
  return variable.kind != Variable::Kind::kText || !words.empty();
}

}  // namespace

std::vector<Join> CompileBy(const ast::Rule& tree, const Holes& holes, size_t outer,
                            const BindPlace& place, const CompileContext& context) {
  std::vector<Join> joins;
  const auto report = [&context](Diagnostic error) {
    context.diagnostics->push_back(std::move(error));
  };
  for (const ast::By& by : tree.by) {
    const int number = holes.Find(by.hole);
    if (number < 0) {
      report(UnknownJoinHole(by, holes));
      continue;
    }
    const size_t index = static_cast<size_t>(number);
    const Variable& variable = holes.variables[index];
    const bool declared_here = variable.span.begin == by.span.begin;
    if (tree.verb == Verb::kSplit && (index < outer || !declared_here)) {
      report(Error("split-hole", "the hole " + Quoted(by.hole) + " of `by` is one of the source")
                 .At(by.span)
                 .Also(variable.span, "the source's")
                 .Help("`by` of a split names a new hole, which counts the pieces in the targets"));
      continue;
    }
    if (!IsOrdered(variable, holes.words[index])) report(UnorderedHole(by, variable));
    for (const Join& join : joins)
      if (join.variable == number)
        report(Error("join-twice", Quoted(by.hole) + " is joined twice")
                   .At(by.span)
                   .Also(join.span, "the first time"));
    Join join;
    join.variable = number;
    join.span = by.span;
    join.words = holes.words[index];
    if (by.range) {
      BindPlace range = place;
      range.variables = nullptr;
      range.groups = nullptr;
      range.help = "a range is made of params and numbers";
      join.begin = context.binder->BindInt(by.range->begin, range);
      join.end = context.binder->BindInt(by.range->end, range);
    }
    joins.push_back(std::move(join));
  }
  return joins;
}

namespace {

// --- Structure ----------------------------------------------------------------------------------

class StructureCheck {
 public:
  StructureCheck(const ast::Rule& tree, const Rule& rule, const ScopeFrame& frame,
                 const Holes& holes, Diagnostics* diagnostics)
      : tree_(tree), rule_(rule), frame_(frame), holes_(holes), diagnostics_(diagnostics) {}

  void Check() {
    switch (tree_.verb) {
      case Verb::kMap:
        return CheckMap();
      case Verb::kMerge:
        return CheckMerge();
      case Verb::kSplit:
        return CheckSplit();
      default:
        return;
    }
  }

 private:
  void Report(Diagnostic error) { diagnostics_->push_back(std::move(error)); }

  std::vector<const OpCall*> Calls(OpArity arity) const {
    std::vector<const OpCall*> calls;
    for (const OpCall& call : rule_.ops)
      if (call.op->arity == arity) calls.push_back(&call);
    return calls;
  }

  void Refuse(OpArity arity, const char* name, const char* what, const char* help) {
    for (const OpCall* call : Calls(arity))
      Report(Error(name, Quoted(call->op->name) + " " + what).At(call->span).Help(help));
  }

  void CheckMap() {
    Refuse(OpArity::kManyToOne, "joining-operation", "joins several tensors, and a map has one",
           "`merge` joins tensors");
    Refuse(OpArity::kOneToMany, "cutting-operation", "cuts a tensor, and a map has one target",
           "`split` cuts a tensor");
  }

  size_t Levels() const {
    const bool list = tree_.verb == Verb::kMerge ? tree_.source_list : tree_.target_list;
    return tree_.by.size() + (list ? 1 : 0);
  }

  // --- merge ---

  void CheckMerge() {
    Refuse(OpArity::kOneToMany, "cutting-operation", "cuts a tensor, and a merge has one target",
           "split it in a second pass, after `then`");
    if (tree_.source_list) CheckMembers();
    CheckJoinHoles();
    const std::vector<const OpCall*> joins = Calls(OpArity::kManyToOne);
    const size_t levels = std::max<size_t>(Levels(), 1);
    if (rule_.ops.size() != tree_.ops.size()) return;  // an unknown one was reported
    if (joins.size() != levels) {
      ReportCount(joins, levels, "joining");
      return;
    }
    if (Levels() == 0 && std::string_view(joins[0]->op->name) != "same")
      Report(Error("merge-without-by", "the keys to join have no order")
                 .At(rule_.line)
                 .Also(joins[0]->span, "takes them in order")
                 .Help("say which hole they differ in: `by t`")
                 .Help("or demand that all be equal: `| same`"));
    if (tree_.source_list) CheckListOperation(*joins[0]);
  }

  // Each member has all holes of the fullest one, or fewer.
  void CheckMembers() {
    const auto count = [](const KeyPattern& pattern) {
      return std::count_if(pattern.groups.begin(), pattern.groups.end(),
                           [](int group) { return group >= 0; });
    };
    const auto fullest =
        std::max_element(rule_.sources.begin(), rule_.sources.end(),
                         [&count](const auto& a, const auto& b) { return count(a) < count(b); });
    for (const KeyPattern& member : rule_.sources)
      for (size_t i = 0; i < member.groups.size(); ++i) {
        if (member.groups[i] < 0 || holes_.variables[i].name == "_") continue;
        if (i < fullest->groups.size() && fullest->groups[i] >= 0) continue;
        Report(Error("member-holes", "the members of the list have different holes")
                   .At(holes_.variables[i].span, "only here")
                   .Also(fullest->span, "not in this member")
                   .Note("members are joined where their holes are equal")
                   .Help("give all members the same holes, or fewer"));
        return;
      }
  }

  // A hole that `by` joins has no one value in the target.
  void CheckJoinHoles() {
    for (const Join& join : rule_.by) {
      const size_t index = static_cast<size_t>(join.variable);
      const std::string& name = holes_.variables[index].name;
      if (index < frame_.put_back.size() && frame_.put_back[index]) {
        Report(Error("join-hole-in-scope",
                     "the hole " + Quoted(name) + " is joined, and the scope would put it back")
                   .At(join.span)
                   .Also(holes_.variables[index].span, "in a scope without `->`")
                   .Help("give the scope a target without the hole: `in ... -> ... {`"));
      } else if (InTarget(rule_.targets, join.variable)) {
        Report(Error("join-hole-in-target",
                     "the hole " + Quoted(name) + " is joined, and has no one value in the target")
                   .At(rule_.targets.empty() ? join.span : rule_.targets[0].span)
                   .Also(join.span, "joined here")
                   .Help("leave it out of the target, or do not join it"));
      }
    }
  }

  static bool Mentions(const Code& code, int variable) {
    if (code.kind == Code::Kind::kVariable && code.index == variable) return true;
    return std::any_of(code.args.begin(), code.args.end(),
                       [variable](const Code& arg) { return Mentions(arg, variable); });
  }
  static bool InTarget(const KeyTarget& target, int variable) {
    return std::any_of(target.parts.begin(), target.parts.end(), [variable](const auto& part) {
      return part.code && Mentions(*part.code, variable);
    });
  }
  static bool InTarget(const std::vector<KeyTarget>& targets, int variable) {
    return std::any_of(targets.begin(), targets.end(),
                       [variable](const KeyTarget& target) { return InTarget(target, variable); });
  }

  void CheckListOperation(const OpCall& call) {
    const size_t members = tree_.sources.size();
    const int wanted = call.op->inputs;
    if (wanted == 0 || static_cast<size_t>(wanted) == members) return;
    Report(Error("member-count", Quoted(call.op->name) + " joins " +
                                     Count(static_cast<size_t>(wanted), "tensor") +
                                     ", and the list has " + std::to_string(members))
               .At(call.span)
               .Also(tree_.sources_span, "the list"));
  }

  // --- split ---

  void CheckSplit() {
    Refuse(OpArity::kManyToOne, "joining-operation", "joins tensors, and a split has one source",
           "`merge` them in a pass of their own, with `then` between");
    if (Levels() == 0) {
      Report(Error("split-targets", "a split has several targets")
                 .At(tree_.targets_span)
                 .Help("list them: `-> [a, b]`")
                 .Help("or count them: `-> a.{i} by i`"));
      return;
    }
    CheckSplitTargets();
    const std::vector<const OpCall*> cuts = Calls(OpArity::kOneToMany);
    if (rule_.ops.size() == tree_.ops.size() && cuts.size() != Levels())
      ReportCount(cuts, Levels(), "cutting");
  }

  void CheckSplitTargets() {
    for (const Join& join : rule_.by)
      for (const KeyTarget& target : rule_.targets)
        if (!InTarget(target, join.variable))
          Report(Error("split-hole", "the pieces would all be called the same")
                     .At(target.span,
                         "has no `{" + holes_.variables[static_cast<size_t>(join.variable)].name +
                             "}`")
                     .Also(join.span, "counts the pieces"));
    for (size_t i = 0; i < tree_.targets.size(); ++i)
      for (size_t j = 0; j < i; ++j)
        if (Format(tree_.targets[i]) == Format(tree_.targets[j]))
          Report(Error("same-target", "two pieces have one target")
                     .At(tree_.targets[i].span)
                     .Also(tree_.targets[j].span, "the other"));
  }

  // Too few or too many operations that join or cut: the form that is right is shown.
  void ReportCount(const std::vector<const OpCall*>& calls, size_t levels, const char* kind) {
    const bool merge = tree_.verb == Verb::kMerge;
    const bool list = merge ? tree_.source_list : tree_.target_list;
    Diagnostic error =
        Error("operation-count", std::string("a ") + (merge ? "merge" : "split") + " of " +
                                     Count(levels, "level") + " needs " +
                                     Count(levels, (std::string(kind) + " operation").c_str()) +
                                     ", and this has " + std::to_string(calls.size()));
    error.At(calls.size() > levels ? calls[levels]->span : rule_.line);
    if (merge && levels == 1 && Levels() == 0 && calls.empty())
      return Report(std::move(error.Help("the keys become one: `| same`, or `by t | cat(0)`")));
    if (list && !tree_.by.empty()) {
      error.Note(merge ? "with a list and `by`, the list is joined first, then the `by` hole"
                       : "with a list and `by`, the `by` hole is cut first, then the list");
      error.Help(merge ? "write two of them: `| cat(0) | stack(0)`"
                       : "write two of them: `| unstack(0) | chunk(0)`");
    } else {
      error.Help(levels == 1
                     ? std::string("write one of them: `") + (merge ? "| cat(0)`" : "| chunk(0)`")
                     : std::string("write one for each hole: `") +
                           (merge ? "| cat(0) | cat(0)`" : "| unstack(0) | unstack(0)`"));
    }
    Report(std::move(error));
  }

  const ast::Rule& tree_;
  const Rule& rule_;
  const ScopeFrame& frame_;
  const Holes& holes_;
  Diagnostics* diagnostics_;
};

}  // namespace

void CheckStructure(const ast::Rule& tree, const Rule& rule, const ScopeFrame& frame,
                    const Holes& holes, Diagnostics* diagnostics) {
  StructureCheck(tree, rule, frame, holes, diagnostics).Check();
}

}  // namespace rekey
