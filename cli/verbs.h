// The verbs and their options, in two tables: what `--help`, the man page, the completions and the
// parsing of the command line are all made from.
//
// To add a verb: a row in verbs.cc and a file VERB.cc with its Run function. To add an option: a
// member of Settings, a row in options.cc, its name in the rows of the verbs that take it.
#ifndef REKEY_CLI_VERBS_H_
#define REKEY_CLI_VERBS_H_

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "cli/settings.h"

namespace rekey::cli {

struct OptionInfo {
  const char* name;   // "output": --output
  char letter;        // 'o', or 0
  const char* value;  // what its value is called, "OUT"; "" for a flag
  const char* help;   // one line
  // Where the value goes. A vector takes the option repeatedly.
  std::variant<bool Settings::*, int Settings::*, std::string Settings::*,
               std::vector<std::string> Settings::*>
      member;
  std::vector<const char*> choices = {};  // the only values, when there are some
};

struct Example {
  const char* command;
  const char* what;
};

struct VerbInfo {
  const char* name;
  const char* arguments;  // "RULES IN"
  const char* summary;    // one line
  const char* text;       // a paragraph or two for --help and the man page
  size_t min_words;       // positional arguments; RULES is not counted, see takes_rules
  size_t max_words;
  bool takes_rules;                  // the first word is RULES unless -e is given
  std::vector<const char*> options;  // names, besides those common to all
  std::vector<Example> examples;
  int (*run)(const Settings& settings);
};

const std::vector<VerbInfo>& Verbs();
const std::vector<OptionInfo>& Options();
const std::vector<const char*>& CommonOptions();  // names that every verb takes

const VerbInfo* FindVerb(std::string_view name);
const OptionInfo& FindOption(std::string_view name);  // must exist

// The options of a verb, its own first, then the common ones.
std::vector<const OptionInfo*> OptionsOf(const VerbInfo& verb);

// One Run function a file.
int RunKeys(const Settings& settings);
int RunCheck(const Settings& settings);
int RunPlan(const Settings& settings);
int RunRun(const Settings& settings);
int RunExplain(const Settings& settings);
int RunTest(const Settings& settings);
int RunFmt(const Settings& settings);
int RunPacks(const Settings& settings);
int RunHelp(const Settings& settings);
int RunCompletions(const Settings& settings);

}  // namespace rekey::cli

#endif  // REKEY_CLI_VERBS_H_
