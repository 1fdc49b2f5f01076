// Shards as Hugging Face names and indexes them: which tensor goes into which file.
//
//   std::vector<uint32_t> shard = AssignShards(tensors, 5'000'000'000);   // of each tensor
//   ShardName("model", ".safetensors", 0, 3)     // "model-00001-of-00003.safetensors"
//   IndexName("model", ".safetensors")           // "model.safetensors.index.json"
//
// Nothing here writes a file. Reading an index is formats/hf_index.h.
#ifndef REKEY_ENGINE_FORMATS_SHARDS_H_
#define REKEY_ENGINE_FORMATS_SHARDS_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/formats/format.h"
#include "engine/status.h"

namespace rekey {

// For each tensor the number of its shard, from 0 without gaps. In order: a shard is closed when
// the next tensor would take it past `max_bytes`, so a tensor larger than that has a shard of its
// own. Tensors that share bytes (OutputTensor::same_as, an index into `tensors`) stay in one shard.
std::vector<uint32_t> AssignShards(const std::vector<OutputTensor>& tensors, uint64_t max_bytes);

// The stem that loaders look for beside files of that extension: "pytorch_model" for ".bin",
// "model" for all others.
std::string_view ShardStem(std::string_view extension);

std::string ShardName(std::string_view stem, std::string_view extension, uint32_t shard,
                      uint32_t count);
std::string IndexName(std::string_view stem, std::string_view extension);

// The text of the index: each key and the number of its file in `files`. Only keys that the files
// really list: shared tensors of safetensors shards are not among them. `total_size` counts the
// bytes of all tensors. An error if a key is not UTF-8.
Result<std::string> IndexText(std::vector<std::pair<std::string_view, uint32_t>> keys,
                              const std::vector<std::string>& files, uint64_t total_size);

}  // namespace rekey

#endif  // REKEY_ENGINE_FORMATS_SHARDS_H_
