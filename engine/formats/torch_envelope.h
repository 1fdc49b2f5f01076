// Where in a torch file the state_dict is.
//
// Training programs put it beside optimizers, epochs and arguments: {"model_state_dict": …}. A
// named entry wins over tensors at the root; a root that is a module or holds tensors is the
// state_dict itself; else the one entry further down that is a dict of tensors. Two that fit are an
// error that names both: which one is meant is for the user to say, by `select`.
//
//   Result<Envelope> e = FindEnvelope(graph, root, tensors, {}, "model.pt");
//   e->path                            // "model_state_dict"
//   {.select = "nets.gen"}             // that entry
//   {.select_all = true}               // the root, with all that is below it
#ifndef REKEY_ENGINE_FORMATS_TORCH_ENVELOPE_H_
#define REKEY_ENGINE_FORMATS_TORCH_ENVELOPE_H_

#include <string>
#include <string_view>

#include "engine/formats/format.h"
#include "engine/formats/torch_tensors.h"
#include "engine/object.h"
#include "engine/status.h"

namespace rekey {

struct Envelope {
  ObjectId object = kNoObject;
  std::string path;     // "" for the root
  bool nested = false;  // a dict of dicts of tensors: keys are joined by '.'
  bool whole_tree = false;
};

// `file` is the file's name for messages. Errors: nothing of tensors, two candidates, a `select`
// that leads to nothing or to something without tensors, or that is not needed.
Result<Envelope> FindEnvelope(const ObjectGraph& graph, ObjectId root, const TorchTensors& tensors,
                              const ReadOptions& options, std::string_view file);

}  // namespace rekey

#endif  // REKEY_ENGINE_FORMATS_TORCH_ENVELOPE_H_
