#include "engine/compile.h"

#include <string>
#include <utility>

#include "engine/bind.h"
#include "engine/include.h"
#include "engine/names.h"
#include "engine/output_compile.h"
#include "engine/params.h"
#include "engine/pass_compile.h"
#include "engine/pattern_text.h"
#include "engine/rule_compile.h"

namespace rekey {
namespace {

class Build {
 public:
  Build(const CompileOptions& options, Compiled* compiled)
      : options_(options),
        diagnostics_(&compiled->diagnostics),
        binder_(&names_, MetaSource{options.catalog, false}, diagnostics_),
        patterns_(&names_, diagnostics_) {
    context_.names = &names_;
    context_.binder = &binder_;
    context_.patterns = &patterns_;
    context_.diagnostics = diagnostics_;
    context_.lints = !options.testing;
  }

  Program Run(const Spliced& whole) {
    program_.files = whole.files;
    program_.strict = options_.strict;
    DeclareAll(whole, options_, MetaSource{options_.catalog, false}, &names_, &program_.params,
               diagnostics_);
    PassCompiler passes(context_, &program_);
    for (const Spliced::Item& item : whole.items) {
      const ast::Statement& statement = *item.statement;
      if (passes.Add(statement)) {
        if (first_output_) ReportLate(statement.span);
      } else {
        Add(statement);
      }
    }
    passes.Finish(program_.strict && !options_.testing, strict_span_);
    UseNamesOfInputs(whole);
    if (context_.lints) LintUnusedNames();
    return std::move(program_);
  }

 private:
  void Add(const ast::Statement& statement) {
    const Span span = statement.span;
    const auto& node = statement.node;
    OutputCompiler outputs(context_);
    if (std::holds_alternative<ast::Strict>(node)) {
      program_.strict = true;
      strict_span_ = span;
    } else if (const auto* fill = std::get_if<ast::Fill>(&node)) {
      program_.outputs.push_back(outputs.Compile(*fill, Output(span)));
    } else if (const auto* copy = std::get_if<ast::Copy>(&node)) {
      program_.outputs.push_back(outputs.Compile(*copy, Output(span)));
    } else if (const auto* tie = std::get_if<ast::Tie>(&node)) {
      program_.outputs.push_back(outputs.Compile(*tie, Output(span)));
    } else if (const auto* expect = std::get_if<ast::Expect>(&node)) {
      program_.expects.push_back(outputs.Compile(*expect, span));
    } else if (const auto* sink = std::get_if<ast::SinkLine>(&node)) {
      AddSink(*sink, span);
    } else if (const auto* test = std::get_if<ast::Test>(&node)) {
      program_.tests.push_back(test);
    }
  }

  Span Output(Span span) {
    if (!first_output_) first_output_ = span;
    return span;
  }

  void ReportLate(Span span) {
    diagnostics_->push_back(Error("pass-order", "this stands after a statement on the whole output")
                                .At(span)
                                .Also(first_output_, "works on what comes out of the last pass")
                                .Help("move `fill`, `copy` and `tie` behind the last pass"));
  }

  void AddSink(const ast::SinkLine& tree, Span span) {
    PathRule sink;
    sink.span = span;
    Holes holes;
    std::vector<int> groups;
    PatternText text;
    patterns_.Append(tree.pattern, PatternOptions(), &text, &holes, &groups);
    sink.pattern = patterns_.Finish(text, tree.pattern.span, holes);
    BindPlace place;
    place.variables = &holes.variables;
    place.groups = &groups;
    sink.target = binder_.BindTarget(tree.target, place);
    sink.variables = holes.variables;
    program_.sinks.push_back(std::move(sink));
  }

  void UseNames(const ast::Expr& expr) {
    if (expr.kind == ast::Expr::Kind::kName || expr.kind == ast::Expr::Kind::kCall)
      names_.Use(expr.text);
    for (const ast::Expr& arg : expr.args) UseNames(arg);
  }

  // `source` lines are compiled elsewhere; what they use is not unused.
  void UseNamesOfInputs(const Spliced& whole) {
    for (const Spliced::Item& item : whole.items) {
      const auto* source = std::get_if<ast::SourceLine>(&item.statement->node);
      if (source == nullptr) continue;
      for (const ast::Target::Part& part : source->target.parts)
        if (part.expr) UseNames(*part.expr);
      for (const ast::Pattern::Part& part : source->pattern.parts)
        if (part.hole && part.hole->kinds.size() == 1) names_.Use(part.hole->kinds[0]);
      if (source->guard) UseNames(*source->guard);
    }
  }

  void LintUnusedNames() {
    constexpr const char* kWords[] = {"param", "let", "table"};
    for (const Declared& name : names_.all()) {
      if (name.used || name.included) continue;
      const std::string word = kWords[static_cast<int>(name.kind)];
      diagnostics_->push_back(
          Warning("unused-" + word, "the " + word + " `" + name.name + "` is never used")
              .At(name.span));
    }
  }

  const CompileOptions& options_;
  Diagnostics* diagnostics_;
  Names names_;
  Binder binder_;
  PatternCompiler patterns_;
  CompileContext context_;
  Program program_;
  Span strict_span_;
  Span first_output_;
};

}  // namespace

Compiled Compile(std::shared_ptr<const ast::File> file, const CompileOptions& options) {
  Compiled compiled;
  const Spliced whole = Splice(std::move(file), &compiled.diagnostics);
  compiled.files = whole.files;
  Program program = Build(options, &compiled).Run(whole);
  if (!HasErrors(compiled.diagnostics)) {
    compiled.program = std::move(program);
    return compiled;
  }
  // What an error cut off looks unused.
  std::erase_if(compiled.diagnostics, [](const Diagnostic& diagnostic) {
    return diagnostic.severity == Severity::kWarning && diagnostic.name.starts_with("unused-");
  });
  return compiled;
}

}  // namespace rekey
