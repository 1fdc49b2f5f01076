#include <cstdlib>

#include "cli/verbs.h"

namespace rekey::cli {

const std::vector<OptionInfo>& Options() {
  static const std::vector<OptionInfo> kOptions = {
      {"expression", 'e', "LINE", "a line of rules in place of RULES; may be repeated",
       &Settings::lines},
      {"param", 'p', "NAME=VALUE", "the value of a param; may be repeated", &Settings::params},
      {"params", 0, "FILE.toml", "values of params from a TOML file", &Settings::params_file},
      {"select", 0, "PATH", "the entry of the checkpoint that is the state_dict ('all': all of it)",
       &Settings::select},
      {"strict", 0, "", "warnings of the rules are errors, every pass needs an else",
       &Settings::strict},
      {"allow", 0, "LINT", "do not report this warning; may be repeated", &Settings::allow},
      {"json", 0, "", "one JSON object on standard output", &Settings::json},
      {"quiet", 'q', "", "no summaries, no progress; errors only", &Settings::quiet},
      {"verbose", 'v', "", "a line for every rule", &Settings::verbose},
      {"color",
       0,
       "WHEN",
       "colour: auto, always or never (NO_COLOR is obeyed)",
       &Settings::color,
       {"auto", "always", "never"}},
      {"threads", 0, "N", "worker threads; the bytes written are the same for any number",
       &Settings::threads},
      {"output", 'o', "OUT", "the file or folder to write", &Settings::out},
      {"force", 'f', "", "replace OUT if it exists", &Settings::force},
      {"to",
       0,
       "FORMAT",
       "the format of OUT when its name does not say",
       &Settings::to,
       {"safetensors", "torch", "pt", "pth", "bin", "ckpt"}},
      {"dry-run", 'n', "", "say what would be written, write nothing", &Settings::dry_run},
      {"stamp", 0, "", "note the rule file's name, version and SHA-256 in the metadata",
       &Settings::stamp},
      {"ties",
       0,
       "HOW",
       "tied tensors: share (one copy) or copy (one each)",
       &Settings::ties,
       {"share", "copy"}},
      {"max-shard-size", 0, "SIZE", "write shards of at most this size, as 5GB or 500MiB",
       &Settings::max_shard_size},
      {"progress",
       0,
       "HOW",
       "progress: auto, never, or json (a line each second)",
       &Settings::progress,
       {"auto", "never", "json"}},
      {"tree", 0, "", "draw the segments of the keys as a tree", &Settings::tree},
      {"depth", 0, "N", "levels of the tree", &Settings::depth},
      {"pattern", 0, "", "fold numbers, one line a family of keys", &Settings::pattern},
      {"filter", 0, "PATTERN", "only the keys that fit a pattern of the rule language",
       &Settings::filter},
      {"envelope", 0, "", "the object tree around the state_dict, and what it wanted to call",
       &Settings::envelope},
      {"check", 0, "", "write nothing, only say which files would change", &Settings::check},
      {"coverage", 0, "", "name the rules that no test reaches", &Settings::coverage},
      {"version", 'V', "", "the version of rekey", &Settings::version},
      {"man", 0, "", "the manual page, as roff", &Settings::man},
  };
  return kOptions;
}

const std::vector<const char*>& CommonOptions() {
  static const std::vector<const char*> kCommon = {"json", "quiet", "color", "version"};
  return kCommon;
}

const OptionInfo& FindOption(std::string_view name) {
  for (const OptionInfo& option : Options()) {
    if (option.name == name) return option;
  }
  std::abort();  // a row of verbs.cc names an option that has no row
}

std::vector<const OptionInfo*> OptionsOf(const VerbInfo& verb) {
  std::vector<const OptionInfo*> options;
  for (const char* name : verb.options) options.push_back(&FindOption(name));
  for (const char* name : CommonOptions()) options.push_back(&FindOption(name));
  return options;
}

}  // namespace rekey::cli
