// The tensors below one object of a torch pickle, under the keys that torch gives them.
//
// A dict gives its tensors under its keys; a module gives what torch's own `state_dict()` would:
// parameters, persistent buffers, then the children, each in its order. Which object to take is
// decided elsewhere (torch_envelope.h), as is where the bytes lie (torch_catalog.h).
//
//   Result<TorchState> state = WalkTorchState(graph, id, tensors, {.nested = false}, text);
//   state->items[0]      // {"fc.weight", 3}: tensors.tensors[3]
//
// Objects may share parts and contain themselves: the walk keeps no stack of calls, skips an object
// inside itself, and stops with an error when it has read much more than the pickle holds.
#ifndef REKEY_ENGINE_FORMATS_TORCH_STATE_H_
#define REKEY_ENGINE_FORMATS_TORCH_STATE_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/catalog.h"
#include "engine/formats/torch_tensors.h"
#include "engine/formats/torchscript_code.h"
#include "engine/object.h"
#include "engine/status.h"

namespace rekey {

struct WalkOptions {
  // Go into dicts and lists inside the object, joining keys by '.'.
  bool nested = false;
  // Go into attributes of objects that are no modules, too; what is no tensor is not mentioned.
  bool whole_tree = false;
  // The classes of a TorchScript archive, whose instances are then walked as modules.
  const ScriptClasses* script = nullptr;
};

struct TorchState {
  struct Item {
    std::string_view key;  // in the arena
    uint32_t tensor = 0;   // into TorchTensors::tensors
  };
  std::vector<Item> items;
  std::vector<ModuleMetadata> module_metadata;  // of a state_dict with `_metadata`
  // Keys of what was left out, each with the words for what it is.
  std::vector<std::string> not_tensors;    // "`step`"
  std::vector<std::string> other_tensors;  // "`w` (a sparse tensor)"
  std::vector<std::string> hidden;         // "`sub`": dicts or modules that hold tensors
};

// Errors: a key that is not UTF-8, objects nested deeper than kMaxDepth, sharing that would repeat
// without end. `file` is the file's name for messages.
Result<TorchState> WalkTorchState(const ObjectGraph& graph, ObjectId root,
                                  const TorchTensors& tensors, const WalkOptions& options,
                                  std::string_view file, TextArena& text);

// True if a tensor, dense or not, stands in the object: in dicts and lists at any depth, and in
// modules. Attributes of other objects do not count.
bool HoldsTensors(const ObjectGraph& graph, ObjectId root, const TorchTensors& tensors);

// True if one of the dict's own values is a tensor.
bool IsStateDict(const ObjectGraph& graph, ObjectId id, const TorchTensors& tensors);

}  // namespace rekey

#endif  // REKEY_ENGINE_FORMATS_TORCH_STATE_H_
