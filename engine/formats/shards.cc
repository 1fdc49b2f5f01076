#include "engine/formats/shards.h"

#include <rapidjson/prettywriter.h>
#include <rapidjson/stringbuffer.h>

#include <algorithm>
#include <cstdio>

#include "engine/json.h"

namespace rekey {
namespace {

using IndexWriter = rapidjson::PrettyWriter<rapidjson::StringBuffer>;

void Put(IndexWriter& json, std::string_view text) {
  json.String(text.data(), static_cast<rapidjson::SizeType>(text.size()));
}

}  // namespace

std::vector<uint32_t> AssignShards(const std::vector<OutputTensor>& tensors, uint64_t max_bytes) {
  std::vector<uint32_t> shards(tensors.size());
  uint32_t shard = 0;
  uint64_t bytes = 0;
  bool is_empty = true;
  for (uint32_t i = 0; i < tensors.size(); ++i) {
    if (tensors[i].same_as != i) {
      shards[i] = shards[tensors[i].same_as];
      continue;
    }
    if (!is_empty && (bytes > max_bytes || tensors[i].bytes > max_bytes - bytes)) {
      ++shard;
      bytes = 0;
    }
    shards[i] = shard;
    bytes += tensors[i].bytes;
    is_empty = false;
  }
  return shards;
}

std::string_view ShardStem(std::string_view extension) {
  return extension == ".bin" ? "pytorch_model" : "model";
}

std::string ShardName(std::string_view stem, std::string_view extension, uint32_t shard,
                      uint32_t count) {
  char numbers[32];
  std::snprintf(numbers, sizeof numbers, "-%05u-of-%05u", shard + 1, count);
  return std::string(stem) + numbers + std::string(extension);
}

std::string IndexName(std::string_view stem, std::string_view extension) {
  return std::string(stem) + std::string(extension) + ".index.json";
}

Result<std::string> IndexText(std::vector<std::pair<std::string_view, uint32_t>> keys,
                              const std::vector<std::string>& files, uint64_t total_size) {
  std::sort(keys.begin(), keys.end());
  rapidjson::StringBuffer buffer;
  IndexWriter json(buffer);
  json.SetIndent(' ', 2);
  json.StartObject();
  Put(json, "metadata");
  json.StartObject();
  Put(json, "total_size");
  json.Uint64(total_size);
  json.EndObject();
  Put(json, "weight_map");
  json.StartObject();
  for (const auto& [key, file] : keys) {
    if (!IsUtf8(key) || !IsUtf8(files[file])) {
      return Error("not-utf8", "the key or the file of tensor `" + EscapeBytes(key) +
                                   "` is not UTF-8, and an index allows nothing else")
          .Help("rename it, or write one file without shards");
    }
    Put(json, key);
    Put(json, files[file]);
  }
  json.EndObject();
  json.EndObject();
  return std::string(buffer.GetString(), buffer.GetSize()) + "\n";
}

}  // namespace rekey
