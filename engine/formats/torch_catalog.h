// From a torch pickle's object graph to a Catalog: what the zip, legacy and TorchScript readers
// share.
//
//   TorchFile torch = {.root = pickle.root, .locate = …};
//   Result<Catalog> catalog = MakeTorchCatalog(std::move(catalog), torch, options);
//
// The caller knows where storages lie, this knows which are wanted: `locate` is asked once for each
// storage that a taken tensor uses.
#ifndef REKEY_ENGINE_FORMATS_TORCH_CATALOG_H_
#define REKEY_ENGINE_FORMATS_TORCH_CATALOG_H_

#include <functional>
#include <string>

#include "engine/catalog.h"
#include "engine/formats/format.h"
#include "engine/formats/torch_tensors.h"
#include "engine/formats/torchscript_code.h"
#include "engine/status.h"

namespace rekey {

struct TorchFile {
  ObjectId root = kNoObject;  // in Catalog::objects
  TorchTensors tensors;
  // Where the storage of that key lies. The error says what is wrong, to be put after the names of
  // the tensor and of the file: "is in no record `data/7`".
  std::function<Result<Storage>(const std::string& key)> locate;
  // The classes of a TorchScript archive.
  const ScriptClasses* script = nullptr;
};

// Fills everything but `format` and `files`, which the catalog has already. Errors: no state_dict
// or several, a tensor that does not fit its storage, a key that stands twice; all name the key.
// Tensors that are no dense ones and entries that are no tensors are left out with a warning.
Result<Catalog> MakeTorchCatalog(Catalog catalog, TorchFile torch, const ReadOptions& options);

}  // namespace rekey

#endif  // REKEY_ENGINE_FORMATS_TORCH_CATALOG_H_
