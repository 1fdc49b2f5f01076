#include "cli/job.h"

#include <algorithm>

#include "cli/json_text.h"
#include "cli/params_file.h"
#include "cli/report.h"
#include "engine/checkpoint.h"
#include "engine/lints.h"
#include "grammar/printable.h"
#include "grammar/suggest.h"

namespace rekey::cli {
namespace {

Diagnostic UnknownLint(const std::string& name) {
  Diagnostic error = Error("unknown-lint", "there is no warning `" + Printable(name) + "`");
  std::vector<std::string_view> names;
  for (const Lint& lint : kLints) names.push_back(lint.name);
  for (std::string_view near : Nearest(name, names)) {
    error.Help("did you mean `--allow " + std::string(near) + "`?");
  }
  return error.Help("`rekey help lints` lists them");
}

}  // namespace

ReadOptions ReadOptionsOf(const Settings& settings) {
  ReadOptions options;
  if (settings.select == "all") {
    options.select_all = true;
  } else if (!settings.select.empty()) {
    options.select = settings.select;
  }
  return options;
}

LoadedRules LoadLines(const Settings& settings) {
  std::string text;
  for (const std::string& line : settings.lines) text += line + "\n";
  return LoadRulesText("-e", text);
}

Result<std::vector<std::pair<std::string, std::string>>> ParamsOf(const Settings& settings) {
  std::vector<std::pair<std::string, std::string>> params;
  if (!settings.params_file.empty()) {
    auto from_file = ReadParamsFile(settings.params_file);
    if (!from_file.ok()) return from_file.error();
    params = std::move(*from_file);
  }
  for (const std::string& word : settings.params) {
    const size_t equals = word.find('=');
    if (equals == std::string::npos || equals == 0) {
      return Error("bad-param", "-p " + Printable(word) + " is not NAME=VALUE")
          .Help("write it as `-p layers=24`");
    }
    params.emplace_back(word.substr(0, equals), word.substr(equals + 1));
  }
  return params;
}

Job::Job(const Settings& settings) : words(settings.words), settings_(settings) {
  if (settings.lines.empty() && !words.empty()) {
    rules_ = words.front();
    words.erase(words.begin());
  }
  rules_name = settings.lines.empty() ? rules_ : "-e";
}

bool Job::Take(Diagnostics more) {
  more = WithoutAllowed(std::move(more), settings_.allow);
  const bool failed = HasErrors(more);
  for (Diagnostic& diagnostic : more) {
    // CompileInputs and Compile may both say it.
    const bool said = std::any_of(diagnostics.begin(), diagnostics.end(), [&](const auto& known) {
      return known.message == diagnostic.message &&
             known.primary.span.source == diagnostic.primary.span.source &&
             known.primary.span.begin == diagnostic.primary.span.begin;
    });
    if (!said) diagnostics.push_back(std::move(diagnostic));
  }
  return !failed;
}

bool Job::Fail(Diagnostic error) {
  diagnostics.push_back(std::move(error));
  return false;
}

bool Job::Prepare() {
  for (const std::string& name : settings_.allow) {
    if (!IsLint(name)) return Fail(UnknownLint(name));
  }
  auto params = ParamsOf(settings_);
  if (!params.ok()) return Fail(params.error());
  options_.params = std::move(*params);
  options_.strict = settings_.strict;
  return true;
}

bool Job::Parse() {
  if (!Prepare()) return false;
  LoadedRules loaded = settings_.lines.empty() ? LoadRules(rules_) : LoadLines(settings_);
  file = loaded.file;
  source = loaded.source;
  return Take(std::move(loaded.diagnostics)) && file != nullptr;
}

bool Job::CompileRules() {
  Compiled compiled = Compile(file, options_);
  program = std::move(compiled.program);
  for (auto& part : compiled.files) files.push_back(std::move(part));
  return Take(std::move(compiled.diagnostics)) && program.has_value();
}

bool Job::CompileAlone() { return Parse() && CompileRules(); }

bool Job::Open(const std::string& path) {
  if (!Parse()) return false;
  CompiledInputs inputs = CompileInputs(file, options_);
  for (auto& part : inputs.files) files.push_back(std::move(part));
  if (!Take(std::move(inputs.diagnostics)) || !inputs.spec) return false;
  if (!settings_.select.empty()) inputs.spec->read = ReadOptionsOf(settings_);
  Result<Catalog> opened = OpenCheckpoint(path, *inputs.spec);
  if (!opened.ok()) return Fail(std::move(opened).error());
  catalog = std::move(*opened);
  Take(catalog->warnings);
  options_.catalog = &*catalog;
  return CompileRules();
}

bool Job::Plan(const std::string& path) {
  if (!Open(path)) return false;
  plan.emplace(MakePlan(*program, *catalog, {.allow = settings_.allow}));
  return Take(plan->diagnostics);
}

int Job::Report() const {
  Diagnostics errors, others;
  for (const Diagnostic& diagnostic : diagnostics) {
    (diagnostic.severity == Severity::kError ? errors : others).push_back(diagnostic);
  }
  if (!settings_.json) {
    if (!settings_.quiet) PrintAll(settings_, others);
    PrintAll(settings_, errors);
  } else if (!errors.empty()) {
    PrintFailure(errors, others);
  }
  if (errors.empty()) return plan && TouchesNothing(*plan, *program) ? kNo : kYes;
  const bool only_checks = std::all_of(
      errors.begin(), errors.end(), [](const Diagnostic& error) { return error.name == "expect"; });
  return only_checks ? kNo : kFailed;
}

}  // namespace rekey::cli
