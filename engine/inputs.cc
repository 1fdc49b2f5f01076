// CompileInputs and CompileFilter of compile.h: what is needed before, or without, a program.
#include <memory>
#include <string>
#include <utility>

#include "engine/bind.h"
#include "engine/compile.h"
#include "engine/include.h"
#include "engine/names.h"
#include "engine/params.h"
#include "engine/pattern_text.h"
#include "grammar/parser.h"

namespace rekey {
namespace {

// The `source` lines and the files that their spans point into.
struct SourceLines {
  std::vector<PathRule> rules;
  std::vector<std::shared_ptr<const ast::File>> files;
};

PathRule CompileSource(const ast::SourceLine& tree, Span span, Binder* binder,
                       PatternCompiler* patterns) {
  PathRule rule;
  rule.span = span;
  Holes holes;
  std::vector<int> groups;
  PatternText text;
  patterns->Append(tree.pattern, PatternOptions(), &text, &holes, &groups);
  rule.pattern = patterns->Finish(text, tree.pattern.span, holes);
  BindPlace place;
  place.variables = &holes.variables;
  place.groups = &groups;
  rule.target = binder->BindTarget(tree.target, place);
  if (tree.guard) rule.guard = binder->BindCondition(*tree.guard, place);
  rule.variables = holes.variables;
  return rule;
}

using Meta = std::function<Result<std::optional<Scalar>>(std::string_view path)>;

// The first line whose pattern fits the name and whose guard holds: its prefix.
Result<std::optional<std::string>> PrefixOf(const SourceLines& lines, std::string_view name,
                                            const InputSpec::File& file) {
  const Meta meta = [&file](std::string_view path) -> Result<std::optional<Scalar>> {
    Result<const Catalog*> catalog = file();
    if (!catalog.ok()) return std::move(catalog).error();
    return FindMeta(**catalog, path);
  };
  std::vector<std::string_view> variables;
  for (const PathRule& rule : lines.rules) {
    if (!rule.pattern.Match(name, &variables)) continue;
    Env env;
    env.variables = &variables;
    env.meta = &meta;
    if (rule.guard) {
      Result<bool> holds = rule.guard->EvaluateBool(env);
      if (!holds.ok()) return std::move(holds).error();
      if (!*holds) continue;
    }
    std::string prefix;
    if (Status printed = rule.target.Print(env, &prefix); !printed.ok())
      return std::move(printed).error();
    return std::optional(std::move(prefix));
  }
  return std::optional<std::string>();
}

class InputsBuild {
 public:
  InputsBuild(const CompileOptions& options, CompiledInputs* compiled)
      : options_(options), compiled_(compiled) {}

  void Run(const Spliced& whole) {
    const MetaSource meta{nullptr, true};
    Names names;
    std::vector<ParamInfo> params;
    DeclareAll(whole, options_, meta, &names, &params, &compiled_->diagnostics);
    Binder binder(&names, meta, &compiled_->diagnostics);
    PatternCompiler patterns(&names, &compiled_->diagnostics);
    auto lines = std::make_shared<SourceLines>();
    lines->files = whole.files;
    InputSpec spec;
    for (const Spliced::Item& item : whole.items) {
      const Span span = item.statement->span;
      if (const auto* source = std::get_if<ast::SourceLine>(&item.statement->node))
        lines->rules.push_back(CompileSource(*source, span, &binder, &patterns));
      if (const auto* select = std::get_if<ast::Select>(&item.statement->node))
        AddSelect(*select, span, &spec);
    }
    compiled_->has_source = !lines->rules.empty();
    if (compiled_->has_source)
      spec.source = [lines](std::string_view name, const InputSpec::File& file) {
        return PrefixOf(*lines, name, file);
      };
    compiled_->spec = std::move(spec);
  }

 private:
  void AddSelect(const ast::Select& select, Span span, InputSpec* spec) {
    if (select_) {
      compiled_->diagnostics.push_back(Error("select-twice", "there are two `select`")
                                           .At(span, "the second")
                                           .Also(select_, "the first"));
      return;
    }
    select_ = span;
    spec->read.select_all = select.all;
    if (!select.all) spec->read.select = select.path;
  }

  const CompileOptions& options_;
  CompiledInputs* compiled_;
  Span select_;
};

}  // namespace

CompiledInputs CompileInputs(std::shared_ptr<const ast::File> file, const CompileOptions& options) {
  CompiledInputs compiled;
  const Spliced whole = Splice(std::move(file), &compiled.diagnostics);
  compiled.files = whole.files;
  InputsBuild(options, &compiled).Run(whole);
  // Warnings are given once, by Compile.
  std::erase_if(compiled.diagnostics, [](const Diagnostic& diagnostic) {
    return diagnostic.severity != Severity::kError;
  });
  if (HasErrors(compiled.diagnostics)) compiled.spec.reset();
  return compiled;
}

Result<KeyPattern> CompileFilter(const std::string& text) {
  const auto source = std::make_shared<Source>("--filter", text);
  ParsePatternResult parsed = ParsePattern(source);
  Diagnostics diagnostics = std::move(parsed.diagnostics);
  KeyPattern pattern;
  if (!HasErrors(diagnostics)) {
    Names names;
    PatternCompiler patterns(&names, &diagnostics);
    PatternText regex;
    Holes holes;
    std::vector<int> groups;
    patterns.Append(parsed.pattern, PatternOptions(), &regex, &holes, &groups);
    pattern = patterns.Finish(regex, Span(), holes);
  }
  for (Diagnostic& diagnostic : diagnostics) {
    if (diagnostic.severity != Severity::kError) continue;
    // The text goes away with this function: the message shows it instead of pointing at it.
    diagnostic.notes.insert(diagnostic.notes.begin(), "in the pattern `" + text + "`");
    diagnostic.primary = Label();
    diagnostic.labels.clear();
    return std::move(diagnostic);
  }
  return pattern;
}

}  // namespace rekey
