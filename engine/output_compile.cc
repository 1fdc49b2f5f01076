#include "engine/output_compile.h"

#include <algorithm>
#include <array>
#include <utility>

#include "engine/op_call.h"
#include "engine/static_type.h"
#include "grammar/suggest.h"

namespace rekey {
namespace {

// What `fill` can make; the least number of arguments, the most, the form.
struct FillValue {
  const char* name;
  size_t least, most;
  const char* form;
};
constexpr std::array<FillValue, 5> kFillValues = {{
    {"zeros", 0, 64, "zeros(n0, n1)"},
    {"ones", 0, 64, "ones(n0, n1)"},
    {"full", 1, 65, "full(value, n0, n1)"},
    {"arange", 1, 1, "arange(n)"},
    {"tril", 1, 1, "tril(n)"},
}};

BindPlace PlaceOf(const Holes& holes, const std::vector<int>& groups) {
  BindPlace place;
  place.variables = &holes.variables;
  place.groups = &groups;
  place.quiet = holes.broken;
  place.help = "say what it runs over: `for i in 0..n`";
  return place;
}

// The span of the rule up to its end of line, for places without a better one.
KeyPattern WholePattern(const ast::Pattern& pattern, Holes* holes, std::vector<int>* groups,
                        bool whole_match, PatternCompiler* patterns) {
  PatternText text;
  PatternOptions options;
  options.whole_match = whole_match;
  patterns->Append(pattern, options, &text, holes, groups);
  return patterns->Finish(text, pattern.span, *holes);
}

}  // namespace

DType OutputCompiler::CompileDType(const std::string& word, Span span) {
  if (const auto dtype = DTypeByName(word)) return *dtype;
  Diagnostic error = Error("unknown-dtype", "unknown dtype `" + word + "`").At(span);
  for (const std::string_view near : Nearest(word, DTypeNames(), 1))
    error.Help("did you mean `" + std::string(near) + "`?");
  if (const auto torch = DTypeByTorchName(word))
    error.helps = {"it is called `" + std::string(Name(*torch)) + "` here"};
  context_.diagnostics->push_back(std::move(error));
  return DType::kF32;
}

Loop OutputCompiler::CompileLoop(const ast::For& tree, Holes* holes, std::vector<int>* groups) {
  Loop loop;
  if (tree.pattern) {
    loop.pattern = WholePattern(*tree.pattern, holes, groups, false, context_.patterns);
  } else {
    CheckHoleName(*context_.names, tree.name, tree.span, context_.diagnostics);
    Variable variable;
    variable.name = tree.name;
    variable.kind = Variable::Kind::kInt;
    variable.span = tree.span;
    holes->Add(std::move(variable));
    loop.begin = context_.binder->BindInt(tree.range->begin, BindPlace());
    loop.end = context_.binder->BindInt(tree.range->end, BindPlace());
  }
  loop.variables = holes->variables;
  return loop;
}

void OutputCompiler::CompileFillValue(const ast::Fill& tree, const BindPlace& place, Fill* fill) {
  if (tree.value.kind != ast::Expr::Kind::kCall) {
    fill->value_args.push_back(context_.binder->Bind(tree.value, place));
    return;
  }
  const auto form = std::find_if(kFillValues.begin(), kFillValues.end(),
                                 [&](const auto& value) { return tree.value.text == value.name; });
  if (form == kFillValues.end()) {
    Diagnostic error = Error("fill-value", "`" + tree.value.text + "` is no value to fill with");
    error.At(tree.value.span);
    std::vector<std::string_view> names;
    for (const FillValue& value : kFillValues) names.push_back(value.name);
    for (const std::string_view near : Nearest(tree.value.text, names, 1))
      error.Help("did you mean `" + std::string(near) + "`?");
    context_.diagnostics->push_back(std::move(
        error.Help("values are zeros, ones, full, arange, tril, a number, or a list of numbers")));
    return;
  }
  const size_t count = tree.value.args.size();
  if (count < form->least || count > form->most)
    context_.diagnostics->push_back(
        Error("argument-count",
              "`" + tree.value.text + "` is given " + std::to_string(count) + " arguments")
            .At(tree.value.span)
            .Help(std::string("write `") + form->form + "`"));
  for (size_t i = 0; i < count; ++i) {
    const bool number = i == 0 && tree.value.text == "full";
    fill->value_args.push_back(number ? context_.binder->Bind(tree.value.args[i], place)
                                      : context_.binder->BindInt(tree.value.args[i], place));
  }
}

Fill OutputCompiler::Compile(const ast::Fill& tree, Span span) {
  Fill fill;
  fill.maybe = tree.maybe;
  fill.span = span;
  Holes holes;
  std::vector<int> groups;
  if (tree.loop) fill.loop = CompileLoop(*tree.loop, &holes, &groups);
  BindPlace place = PlaceOf(holes, groups);
  fill.target = context_.binder->BindTarget(tree.target, place);
  place.outputs = true;
  fill.value = tree.value;
  CompileFillValue(tree, place, &fill);
  fill.dtype = CompileDType(tree.dtype, tree.dtype_span);
  for (const ast::Op& op : tree.ops) {
    std::optional<OpCall> call = CompileOp(op, place, context_.binder, context_.diagnostics);
    if (!call) continue;
    if (call->op->arity != OpArity::kOneToOne)
      context_.diagnostics->push_back(
          Error("joining-operation", "`" + op.name + "` does not make one tensor of one")
              .At(op.span));
    fill.ops.push_back(std::move(*call));
  }
  return fill;
}

Copy OutputCompiler::Compile(const ast::Copy& tree, Span span) {
  Copy copy;
  copy.maybe = tree.maybe;
  copy.span = span;
  Holes holes;
  std::vector<int> groups;
  copy.source = WholePattern(tree.pattern, &holes, &groups, false, context_.patterns);
  holes.used.assign(holes.variables.size(), false);
  BindPlace place = PlaceOf(holes, groups);
  place.used = &holes.used;
  place.help = "";
  copy.target = context_.binder->BindTarget(tree.target, place);
  copy.variables = holes.variables;
  if (context_.lints) LintUnusedHoles(holes, 0, context_.diagnostics);
  return copy;
}

Tie OutputCompiler::Compile(const ast::Tie& tree, Span span) {
  Tie tie;
  tie.maybe = tree.maybe;
  tie.span = span;
  BindPlace place;
  place.help = "a tie names two keys; it has no holes";
  tie.name = context_.binder->BindTarget(tree.name, place);
  tie.of = context_.binder->BindTarget(tree.of, place);
  return tie;
}

Expect OutputCompiler::Compile(const ast::Expect& tree, Span span) {
  Expect expect;
  expect.kind = tree.kind;
  expect.span = span;
  expect.message = tree.message;
  Holes holes;
  std::vector<int> groups;
  if (tree.loop) expect.loop = CompileLoop(*tree.loop, &holes, &groups);
  if (tree.pattern)
    expect.pattern = WholePattern(*tree.pattern, &holes, &groups, false, context_.patterns);
  const BindPlace place = PlaceOf(holes, groups);
  if (tree.count) expect.count = context_.binder->BindInt(*tree.count, BindPlace());
  if (tree.target) expect.target = context_.binder->BindTarget(*tree.target, place);
  if (tree.type) {
    expect.dtype = CompileDType(tree.type->dtype, tree.type->span);
    if (tree.type->dims) {
      expect.dims.emplace();
      for (const ast::Expr& dim : *tree.type->dims)
        expect.dims->push_back(context_.binder->BindInt(dim, place));
    }
  }
  if (tree.value) expect.value = context_.binder->Bind(*tree.value, place);
  expect.variables = holes.variables;
  return expect;
}

}  // namespace rekey
