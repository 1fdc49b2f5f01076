// `rekey test RULES...`: the test blocks of rule files.
#include <algorithm>
#include <iostream>

#include "cli/job.h"
#include "cli/json_text.h"
#include "cli/report.h"
#include "cli/rule_lines.h"
#include "cli/verbs.h"
#include "engine/selftest.h"
#include "grammar/printable.h"

namespace rekey::cli {
namespace {

struct FileReport {
  std::string name;
  LoadedRules rules;
  TestReport report;
};

std::string FirstLine(std::string_view text) {
  return std::string(text.substr(0, text.find_first_of("\r\n")));
}

void PrintFile(const Settings& settings, const FileReport& file) {
  PrintAll(settings, file.rules.diagnostics);
  PrintAll(settings, file.report.diagnostics);
  size_t passed = 0;
  for (const TestCase& test : file.report.tests) {
    passed += test.passed();
    if (test.passed() && !settings.verbose) continue;
    std::cout << (test.passed() ? "pass " : "FAIL ") << Printable(file.name) << ":"
              << test.span.source->Locate(test.span.begin).line << " \"" << Printable(test.name)
              << "\"\n"
              << std::flush;
    PrintAll(settings, test.diagnostics);
  }
  if (settings.coverage) {
    for (const Span& span : file.report.uncovered) {
      std::cout << "no test reaches " << Printable(file.name) << ":"
                << span.source->Locate(span.begin).line << "  " << Printable(FirstLine(span.Text()))
                << "\n";
    }
  }
  if (!settings.quiet && !HasErrors(file.rules.diagnostics) &&
      !HasErrors(file.report.diagnostics)) {
    std::cout << Printable(file.name) << ": " << passed << " of "
              << Plural(file.report.tests.size(), "test") << " passed\n";
  }
}

void PrintJson(const std::vector<FileReport>& files) {
  JsonText json;
  json.StartObject();
  json.Key("files");
  json.StartArray();
  for (const FileReport& file : files) {
    json.StartObject();
    json.Field("file", file.name);
    json.Key("tests");
    json.StartArray();
    for (const TestCase& test : file.report.tests) {
      json.StartObject();
      json.Field("name", test.name);
      json.Field("line", uint64_t{test.span.source->Locate(test.span.begin).line});
      json.Key("passed"), json.Truth(test.passed());
      json.Messages("messages", test.diagnostics);
      json.EndObject();
    }
    json.EndArray();
    json.Key("uncovered");
    json.StartArray();
    for (const Span& span : file.report.uncovered) WritePlace(span, &json);
    json.EndArray();
    Diagnostics messages = file.rules.diagnostics;
    messages.insert(messages.end(), file.report.diagnostics.begin(), file.report.diagnostics.end());
    json.Messages("messages", messages);
    json.EndObject();
  }
  json.EndArray();
  json.EndObject();
  json.Print();
}

int StatusOf(const Settings& settings, const FileReport& file) {
  if (HasErrors(file.rules.diagnostics) || HasErrors(file.report.diagnostics)) return kFailed;
  if (!file.report.passed()) return kNo;
  return settings.coverage && !file.report.uncovered.empty() ? kNo : kYes;
}

}  // namespace

int RunTest(const Settings& settings) {
  auto params = ParamsOf(settings);
  if (!params.ok()) return Fail(settings, params.error());
  std::vector<std::string> names = settings.words;
  if (!settings.lines.empty()) names.insert(names.begin(), "-e");
  std::vector<FileReport> files;
  int status = kYes;
  for (const std::string& name : names) {
    const bool lines = !settings.lines.empty() && &name == &names.front();
    FileReport file{.name = name};
    file.rules = lines ? LoadLines(settings) : LoadRules(name);
    if (file.rules.file != nullptr && !HasErrors(file.rules.diagnostics)) {
      file.report = RunTests(file.rules.file, {.params = *params});
    }
    status = std::max(status, StatusOf(settings, file));
    if (!settings.json) PrintFile(settings, file);
    files.push_back(std::move(file));
  }
  if (settings.json) PrintJson(files);
  return status;
}

}  // namespace rekey::cli
