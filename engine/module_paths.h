// torch's `_metadata` after a rename: which module of the input is which module of the output.
//
// A state_dict of torch carries a small dict for each module path (`bn1`: {'version': 2}). Rules
// rename keys, not modules, so the paths are read off the keys below them: if `module.bn1.weight`
// became `bn1.weight`, then `module.bn1` is `bn1` and `module` is ''. A module whose keys are gone,
// or went to different modules, has no entry.
#ifndef REKEY_ENGINE_MODULE_PATHS_H_
#define REKEY_ENGINE_MODULE_PATHS_H_

#include <string_view>
#include <utility>
#include <vector>

#include "engine/catalog.h"

namespace rekey {

// `renames`: source key and output key of every tensor that is made of one source. Modules without
// tensors go where the nearest module around them goes. Order is kept; of two modules that become
// one the first is taken.
std::vector<ModuleMetadata> FollowRenames(
    const Catalog& catalog,
    const std::vector<std::pair<std::string_view, std::string_view>>& renames);

}  // namespace rekey

#endif  // REKEY_ENGINE_MODULE_PATHS_H_
