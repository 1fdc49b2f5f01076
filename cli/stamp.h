// What `run --stamp` notes in the metadata of the output: by which rules it was made.
#ifndef REKEY_CLI_STAMP_H_
#define REKEY_CLI_STAMP_H_

#include <string>
#include <utility>
#include <vector>

#include "cli/job.h"

namespace rekey::cli {

// rekey.rules           the rule file's name without its folder, "pack:NAME", "-e" or "-"
// rekey.rules_version   of a pack its version, else the number of the `rekey` line (1 without one)
// rekey.rules_sha256    of the rule file's bytes, as sha256sum gives it
// rekey.included        "NAME SHA-256" of each included file, one a line; only if there are any
//
// Nothing in it depends on the machine or the time, so that equal runs give equal files.
std::vector<std::pair<std::string, std::string>> StampOf(const Job& job);

}  // namespace rekey::cli

#endif  // REKEY_CLI_STAMP_H_
