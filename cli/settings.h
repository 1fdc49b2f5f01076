// What was typed: every option of every verb, as plain values.
//
// The option table (options.cc) fills it; verbs read it. It knows nothing of what the values mean.
#ifndef REKEY_CLI_SETTINGS_H_
#define REKEY_CLI_SETTINGS_H_

#include <string>
#include <vector>

namespace rekey::cli {

struct Settings {
  std::vector<std::string> words;  // positional arguments, in order

  std::vector<std::string> lines;   // -e
  std::vector<std::string> params;  // -p
  std::string params_file;          // --params
  std::string select;               // --select
  bool strict = false;
  std::vector<std::string> allow;

  bool json = false;
  bool quiet = false;
  bool verbose = false;
  std::string color = "auto";
  bool version = false;
  int threads = 2;

  std::string out;  // -o
  bool force = false;
  std::string to;
  bool dry_run = false;
  bool stamp = false;
  std::string ties = "share";
  std::string max_shard_size;
  std::string progress = "auto";

  bool tree = false;
  int depth = 0;
  bool pattern = false;
  std::string filter;
  bool envelope = false;

  bool check = false;
  bool coverage = false;
  bool man = false;
};

}  // namespace rekey::cli

#endif  // REKEY_CLI_SETTINGS_H_
