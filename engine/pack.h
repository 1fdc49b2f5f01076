// Rule packs: versioned folders of rules, rules/<family>/<major>/ with pack.toml.
//
// pack.toml (read with toml++) holds: name, version (integer), file (the rule file), what (one
// line: what it is for), [params] name = "what it means", tested (list of texts: what it was
// tested against).
//
//   Result<Pack> pack = FindPack("common/unwrap", 1);   // pack:common/unwrap@1
//
// Packs are looked for in $REKEY_RULES (a colon-separated list of folders), then the `rules` folder
// of the source tree that the program was built from or of the installation.
#ifndef REKEY_ENGINE_PACK_H_
#define REKEY_ENGINE_PACK_H_

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/status.h"

namespace rekey {

struct Pack {
  std::string name;  // "common/unwrap": the folder below `rules` without the version
  int version = 0;
  std::string file;  // path of the rule file
  std::string what;
  std::vector<std::pair<std::string, std::string>> params;
  std::vector<std::string> tested;
};

// Without a version the newest. Errors: no such pack (the nearest names), no such version (those
// there are), a broken pack.toml.
Result<Pack> FindPack(std::string_view name, std::optional<int> version);

// All packs, sorted by name and version; broken ones are reported in `diagnostics`.
std::vector<Pack> AllPacks(Diagnostics* diagnostics);

// "NAME@VERSION" or "NAME", the text after "pack:".
Result<Pack> FindPackByReference(std::string_view reference);

}  // namespace rekey

#endif  // REKEY_ENGINE_PACK_H_
