// --params FILE.toml: values of params, one a line, as `layers = 24`.
#ifndef REKEY_CLI_PARAMS_FILE_H_
#define REKEY_CLI_PARAMS_FILE_H_

#include <string>
#include <utility>
#include <vector>

#include "engine/status.h"

namespace rekey::cli {

// Names and values, values as the rule language writes them. Errors: no such file, not TOML, a
// value that is no integer, float, text, truth or list of these.
Result<std::vector<std::pair<std::string, std::string>>> ReadParamsFile(const std::string& path);

}  // namespace rekey::cli

#endif  // REKEY_CLI_PARAMS_FILE_H_
