// Reads Hugging Face's index of a sharded checkpoint: which file holds which key.
//
//   {"metadata": {"total_size": 1234},
//    "weight_map": {"a.weight": "model-00001-of-00002.safetensors", ...}}
//
// The index is as untrusted as any file: names that lead out of its folder are refused. It does not
// open the shards (checkpoint.cc does) and is not a Format: it holds no tensors. Writing one is
// formats/shards.h.
#ifndef REKEY_ENGINE_FORMATS_HF_INDEX_H_
#define REKEY_ENGINE_FORMATS_HF_INDEX_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/catalog.h"
#include "engine/file.h"
#include "engine/status.h"

namespace rekey {

class HfIndex {
 public:
  // Errors: not JSON, no weight_map, a key twice, a shard's name that leaves the folder.
  static Result<HfIndex> Read(const InputFile& file);

  // The shards' names, in natural order.
  const std::vector<std::string>& files() const { return files_; }

  // An error that names every shard of `files()` that is not in `folder`.
  Status CheckPresent(const std::string& folder) const;

  // Takes a shard's entries in: removes those that the index finds in another shard (a warning),
  // keeps those that it does not name (a warning, unless they share the bytes of one it names).
  void Settle(uint32_t file, Catalog& shard);

  // After every shard: an error if the index finds a key in a shard that lacks it.
  Status CheckComplete() const;

 private:
  struct Key {
    std::string_view name;
    uint32_t file = 0;  // into files_
    bool found = false;
    size_t hash = 0;
  };
  Key* Find(std::string_view name);
  Status Arrange();

  std::string path_;
  std::vector<std::string> files_;
  std::vector<Key> keys_;  // by hash, then name
  std::shared_ptr<TextArena> text_ = std::make_shared<TextArena>();
};

// True if the file begins as JSON text does, as an index and no checkpoint does.
bool IsJsonText(const InputFile& file);

}  // namespace rekey

#endif  // REKEY_ENGINE_FORMATS_HF_INDEX_H_
