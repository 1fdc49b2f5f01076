// From the words of a command line to a plan: the steps that check, plan, run and explain share.
//
//   rules text -> tree -> inputs (select, source) -> catalog -> program -> plan
//
// Each step that fails ends the job; what has been said so far is in `diagnostics`.
//
//   Job job(settings);
//   if (!job.Plan(settings.words[0])) return job.Report();
#ifndef REKEY_CLI_JOB_H_
#define REKEY_CLI_JOB_H_

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/settings.h"
#include "engine/catalog.h"
#include "engine/compile.h"
#include "engine/plan.h"

namespace rekey::cli {

class Job {
 public:
  // Takes RULES out of the words: `words` is what is left.
  explicit Job(const Settings& settings);

  // Each does the steps before it as well; false when there is an error in `diagnostics`.
  bool Parse();
  bool CompileAlone();                 // without a checkpoint
  bool Open(const std::string& path);  // and compiles with the checkpoint's meta
  bool Plan(const std::string& path);

  // Prints the diagnostics on stderr; with --json nothing, unless there is an error: then the
  // object of a run that failed. The exit status: kNo if only `expect` statements failed or nothing
  // was remapped, kFailed if there is another error.
  int Report() const;

  std::vector<std::string> words;
  std::string rules_name;  // as messages name the rules
  std::shared_ptr<const ast::File> file;
  std::vector<std::shared_ptr<const ast::File>> files;  // all that diagnostics point into
  std::shared_ptr<const Source> source;
  std::optional<Catalog> catalog;
  std::optional<Program> program;
  std::optional<rekey::Plan> plan;
  Diagnostics diagnostics;

 private:
  bool Take(Diagnostics more);  // adds them, less the allowed; false if one is an error
  bool Fail(Diagnostic error);
  bool Prepare();  // the options of the compiler
  bool CompileRules();

  const Settings& settings_;
  std::string rules_;  // RULES, or "" with -e
  CompileOptions options_;
};

// -p and --params as the compiler takes them.
Result<std::vector<std::pair<std::string, std::string>>> ParamsOf(const Settings& settings);

// The reading options of --select.
ReadOptions ReadOptionsOf(const Settings& settings);

// The lines of -e as rules.
LoadedRules LoadLines(const Settings& settings);

}  // namespace rekey::cli

#endif  // REKEY_CLI_JOB_H_
