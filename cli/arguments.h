// The command line to Settings, by the tables of verbs.h. CLI11 does the splitting; it is included
// in arguments.cc alone, because it takes seconds to compile.
#ifndef REKEY_CLI_ARGUMENTS_H_
#define REKEY_CLI_ARGUMENTS_H_

#include "cli/settings.h"
#include "cli/verbs.h"
#include "engine/status.h"

namespace rekey::cli {

struct Arguments {
  Settings settings;
  bool help = false;  // --help or -h stood among them
};

// Where the verb stands: the first word that is no option and no option's value; argc without one.
int VerbPosition(int argc, char** argv);

// All arguments but the verb, at `verb_position`. Errors: an unknown option (with the nearest), a
// missing value, a value that is none of the choices, too few or too many words.
Result<Arguments> ParseArguments(const VerbInfo& verb, int verb_position, int argc, char** argv);

}  // namespace rekey::cli

#endif  // REKEY_CLI_ARGUMENTS_H_
