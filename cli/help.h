// Help as text, all of it made from the tables that the program itself runs by (verbs.h, the
// operation table, the lints).
#ifndef REKEY_CLI_HELP_H_
#define REKEY_CLI_HELP_H_

#include <string>

#include "cli/verbs.h"

namespace rekey::cli {

std::string Overview();                    // `rekey --help`
std::string HelpOf(const VerbInfo& verb);  // `rekey VERB --help`
std::string ManualPage();                  // roff
std::string LanguageOnOneScreen();         // `rekey help language`
std::string OperationTable();              // `rekey help ops`
std::string LintTable();                   // `rekey help lints`

// The completion script for "bash", "zsh" or "fish"; empty for another word.
std::string CompletionScript(std::string_view shell);

}  // namespace rekey::cli

#endif  // REKEY_CLI_HELP_H_
