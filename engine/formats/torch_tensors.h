// The tensors of a torch pickle: which calls in its object graph rebuild tensors, and from what.
//
// torch pickles a tensor as a call - torch._utils._rebuild_tensor_v2(storage, offset, size, stride,
// ...) - whose storage is a persistent id. FindTorchTensors reads those calls as data and turns
// the nodes of dense tensors into kTensor. It does not know where storages lie in the file, nor
// which tensors are weights (torch_state.h).
//
//   TorchTensors torch = FindTorchTensors(graph);
//   const TorchTensor& t = torch.tensors[graph[id].integer];    // graph[id].kind is kTensor
//   torch.storages[t.storage].key                               // "0": record `data/0`
//
// Facts from torch/_utils.py, torch/_tensor.py and torch/serialization.py, 1.0 to 2.13.
#ifndef REKEY_ENGINE_FORMATS_TORCH_TENSORS_H_
#define REKEY_ENGINE_FORMATS_TORCH_TENSORS_H_

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "engine/dtype.h"
#include "engine/object.h"
#include "engine/shape.h"

namespace rekey {

// A persistent id ("storage", class, key, location, numel[, view]).
struct TorchStorage {
  std::string key;
  DType dtype = DType::kU8;  // of the class; u8 for UntypedStorage
  uint64_t bytes = 0;        // numel x the width of the dtype
  uint64_t begin = 0;        // in bytes from the start of the record: views of old legacy streams
  uint64_t span = 0;         // bytes from `begin` that belong to it
};

struct TorchTensor {
  DType dtype = DType::kF32;
  bool conj = false;
  bool neg = false;
  bool no_bytes = false;  // on the meta device
  uint32_t storage = 0;   // into TorchTensors::storages; meaningless when no_bytes
  uint64_t start = 0;     // of element 0, in bytes from the start of the record
  Shape shape;
  Strides strides;
  // What is wrong with it, to be put after its name; empty if it is sound: then every element lies
  // inside the bytes that its storage declares.
  std::string fault;
};

struct TorchTensors {
  std::vector<TorchStorage> storages;
  std::vector<TorchTensor> tensors;
  // Calls that give tensors of another kind, with the words for it: "a sparse tensor". They hold
  // bytes that no entry of a catalog can describe.
  std::unordered_map<ObjectId, std::string> others;
  // Every callable that is called in the pickle and that no reader models, sorted and unique.
  // Instances of torch's own classes (NEWOBJ) are modelled: they are objects with attributes.
  std::vector<std::string> callables;
};

// One pass over all nodes, in the order in which the pickle made them. Besides tensors it resolves
// getattr(Class, "Inner"), the class sources of legacy streams ("module", class, file, source) and
// the OrderedDict(list of pairs) of Python 2.
TorchTensors FindTorchTensors(ObjectGraph& graph);

}  // namespace rekey

#endif  // REKEY_ENGINE_FORMATS_TORCH_TENSORS_H_
