#include "engine/formats/safetensors_reader.h"

#include <algorithm>
#include <cctype>
#include <cstring>
#include <iterator>
#include <map>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "engine/formats/safetensors_header.h"
#include "engine/json.h"

namespace rekey {
namespace {

constexpr uint64_t kLengthBytes = 8;

std::string Tensor(const Entry& entry) { return "tensor `" + std::string(entry.key) + "`"; }

std::string InFile(const Catalog& catalog) { return " in `" + catalog.files[0].path + "`"; }

uint64_t LittleEndian64(const unsigned char* bytes) {
  uint64_t value = 0;
  for (int i = 7; i >= 0; --i) value = value << 8 | bytes[i];
  return value;
}

// A length and then the `{` of the header. Text that happens to have a brace there is not taken:
// eight printable characters would be a length beyond 2^56.
bool Sniff(const InputFile& file) {
  unsigned char head[kLengthBytes + 1];
  if (file.size() < sizeof head || !file.ReadAt(0, head, sizeof head).ok()) return false;
  const auto is_text = [](unsigned char c) { return std::isprint(c) || std::isspace(c); };
  return head[kLengthBytes] == '{' && !std::all_of(head, head + kLengthBytes, is_text);
}

Diagnostic Truncated(const InputFile& file, const std::string& asks) {
  return Error("truncated-file", "`" + file.info().path + "` is cut short: " + asks +
                                     ", the file has " + std::to_string(file.size()))
      .Help("download or copy it again");
}

// The shape, the dtype and the length of one tensor agree.
Status CheckSize(const Catalog& catalog, const Entry& entry) {
  const std::string thing = Tensor(entry) + InFile(catalog);
  const std::string what = std::string(Name(entry.dtype)) + ToString(entry.shape);
  const std::optional<int64_t> elements = NumElements(entry.shape);
  if (!elements) {
    return Error("shape-overflow",
                 thing + ": the sizes " + ToString(entry.shape) + " multiply past 2^63 - 1");
  }
  const std::optional<int64_t> bytes = NumBytes(entry.dtype, entry.shape);
  if (!bytes && BitsOf(entry.dtype) % 8 != 0 && *elements < (int64_t{1} << 59)) {
    return Error("odd-bits", thing + ": " + std::to_string(*elements) + " elements of " +
                                 std::to_string(BitsOf(entry.dtype)) +
                                 " bits do not fill whole bytes");
  }
  if (!bytes)
    return Error("shape-overflow", thing + ": " + what + " takes more than 2^63 - 1 bytes");
  const uint64_t given = catalog.storages[entry.storage].bytes;
  if (static_cast<uint64_t>(*bytes) != given) {
    return Error("size-mismatch", thing + ": " + what + " takes " + std::to_string(*bytes) +
                                      " bytes, but its data_offsets span " + std::to_string(given));
  }
  return {};
}

// The tensors tile the data: they begin at its first byte, touch, and do not overlap. Gives where
// the last one ends.
Result<uint64_t> CheckTiling(const Catalog& catalog) {
  const std::vector<Storage>& storages = catalog.storages;
  const auto earlier = [&](uint32_t a, uint32_t b) {
    const uint64_t end_a = storages[a].offset + storages[a].bytes;
    const uint64_t end_b = storages[b].offset + storages[b].bytes;
    return std::tie(storages[a].offset, end_a, a) < std::tie(storages[b].offset, end_b, b);
  };
  std::vector<uint32_t> order(storages.size());
  std::iota(order.begin(), order.end(), 0);
  if (!std::is_sorted(order.begin(), order.end(), earlier)) {
    std::sort(order.begin(), order.end(), earlier);
  }
  uint64_t end = 0;
  for (size_t i = 0; i < order.size(); ++i) {
    const Storage& storage = storages[order[i]];
    const Entry& entry = catalog.entries[order[i]];
    if (storage.offset > end) {
      const std::string before =
          i == 0 ? "the start of the data" : Tensor(catalog.entries[order[i - 1]]);
      return Error("data-hole", std::to_string(storage.offset - end) + " bytes between " + before +
                                    " and " + Tensor(entry) + InFile(catalog) +
                                    " belong to no tensor")
          .Note(
              "the format wants every byte to belong to one tensor: bytes between them could hide "
              "anything")
          .Help(kDamaged);
    }
    if (storage.offset < end) {
      return Error("data-overlap", Tensor(catalog.entries[order[i - 1]]) + " and " + Tensor(entry) +
                                       InFile(catalog) + " overlap: the first ends at byte " +
                                       std::to_string(end) + " of the data, the second begins at " +
                                       std::to_string(storage.offset))
          .Help(kDamaged);
    }
    end = storage.offset + storage.bytes;
  }
  return end;
}

Status CheckEnd(const InputFile& file, const Catalog& catalog, uint64_t data_start, uint64_t end) {
  const uint64_t has = file.size() - data_start;
  if (end > has) {
    return Truncated(file, "its header describes " + std::to_string(data_start + end) + " bytes");
  }
  if (end < has) {
    return Error("data-after-end", std::to_string(has - end) + " bytes after the last tensor" +
                                       InFile(catalog) + " belong to no tensor")
        .Note("the format wants the last tensor to end where the file ends")
        .Help(kDamaged);
  }
  return {};
}

// Notes of shared tensors, `dropped -> kept`, become entries on the kept tensor's storage.
void RestoreShared(Catalog& catalog) {
  // Index of the tensor of that name, if there is one. A map over the few texts of the metadata,
  // not over the many keys.
  std::map<std::string_view, std::optional<uint32_t>> named;
  for (const auto& [key, value] : catalog.metadata) {
    if (key == "format") continue;
    named[key];
    named[value];
  }
  if (named.empty()) return;
  for (uint32_t i = 0; i < catalog.entries.size(); ++i) {
    const auto it = named.find(catalog.entries[i].key);
    if (it != named.end()) it->second = i;
  }
  std::vector<std::pair<std::string, std::string>> rest;
  for (auto& [key, value] : catalog.metadata) {
    const bool shared = key != "format" && !named[key] && named[value];
    if (!shared) {
      rest.emplace_back(key, value);
      continue;
    }
    Entry entry = catalog.entries[*named[value]];
    entry.key = catalog.text->Add(key);
    catalog.entries.push_back(std::move(entry));
  }
  catalog.metadata = std::move(rest);
}

void AddMetaRoot(Catalog& catalog) {
  ObjectGraph& graph = *catalog.objects;
  Object dict{.kind = Object::Kind::kDict};
  for (const auto& [key, value] : catalog.metadata) {
    dict.items.push_back(graph.Add({.kind = Object::Kind::kText, .text = key}));
    dict.items.push_back(graph.Add({.kind = Object::Kind::kText, .text = value}));
  }
  catalog.meta.push_back({.object = graph.Add(std::move(dict))});
}

// torch.distributed.checkpoint's writer for safetensors (save_distributed=True) stores a rank's
// pieces of tensors under the tensors' own keys and where each begins as JSON in the metadata:
// DCP_SHARDING_INFO = {key: {"saved_offsets": [8, 0]}}. True if a piece begins elsewhere than at 0.
bool HoldsPieces(const Catalog& catalog) {
  for (const auto& [key, value] : catalog.metadata) {
    if (key != "DCP_SHARDING_INFO") continue;
    ObjectGraph graph;
    const Result<ObjectId> root = ParseJson(value, key, graph);
    if (!root.ok()) return false;
    for (size_t i = 0; i < graph.size(); ++i) {
      const Object& object = graph[static_cast<ObjectId>(i)];
      if (object.kind == Object::Kind::kInt && object.integer != 0) return true;
    }
  }
  return false;
}

Status CheckMetadataKeys(const Catalog& catalog) {
  std::vector<std::string_view> keys;
  for (const auto& [key, value] : catalog.metadata) keys.push_back(key);
  std::sort(keys.begin(), keys.end());
  const auto twice = std::adjacent_find(keys.begin(), keys.end());
  if (twice == keys.end()) return {};
  return Error("duplicate-key",
               "the metadata key `" + std::string(*twice) + "` stands twice" + InFile(catalog));
}

// All that the header claims; then storages count from the start of the file.
Status Prove(const InputFile& file, uint64_t data_start, Catalog& catalog) {
  if (const auto twice = FindDuplicateKey(catalog.entries)) {
    return Error("duplicate-key", "the key `" + std::string(catalog.entries[twice->second].key) +
                                      "` stands twice" + InFile(catalog))
        .Note("most loaders would silently take the last of the two")
        .Help(kDamaged);
  }
  Status metadata = CheckMetadataKeys(catalog);
  if (!metadata.ok()) return std::move(metadata).error().Help(kDamaged);
  for (const Entry& entry : catalog.entries) {
    Status size = CheckSize(catalog, entry);
    if (!size.ok()) return std::move(size).error().Help(kDamaged);
  }
  const Result<uint64_t> end = CheckTiling(catalog);
  if (!end.ok()) return end.error();
  Status ends = CheckEnd(file, catalog, data_start, *end);
  if (!ends.ok()) return ends;
  for (Storage& storage : catalog.storages) storage.offset += data_start;
  for (Entry& entry : catalog.entries) entry.strides = ContiguousStrides(entry.shape);
  return {};
}

Result<std::string> ReadHeader(const InputFile& file) {
  unsigned char head[kLengthBytes];
  Status read = file.ReadAt(0, head, sizeof head);
  if (!read.ok()) return std::move(read).error();
  const uint64_t length = LittleEndian64(head);
  if (length > kMaxSafetensorsHeader) {
    return Error("bad-header", "the header of `" + file.info().path + "` claims to have " +
                                   std::to_string(length) + " bytes, the format allows " +
                                   std::to_string(kMaxSafetensorsHeader))
        .Help(kDamaged);
  }
  if (length > file.size() - kLengthBytes) {
    return Truncated(file,
                     "its header alone takes " + std::to_string(kLengthBytes + length) + " bytes");
  }
  return file.ReadText(kLengthBytes, length);
}

Result<Catalog> Read(InputFile file, const ReadOptions& options) {
  if (options.select) {
    return Error("no-envelope", "`select " + *options.select + "`: `" + file.info().path +
                                    "` is a safetensors file, which holds tensors and nothing "
                                    "around them to select from")
        .Help("leave out `select`; to take the keys below a prefix write `keep` or `strip`");
  }
  Result<std::string> json = ReadHeader(file);
  if (!json.ok()) return std::move(json).error();
  Catalog catalog;
  catalog.format = kSafetensors.name;
  catalog.files.push_back(file.info());
  const uint64_t data_start = kLengthBytes + json->size();
  Status parsed = ParseSafetensorsHeader(*json, file.info().path, catalog);
  if (!parsed.ok()) return std::move(parsed).error();
  *json = std::string();  // its memory
  Status proven = Prove(file, data_start, catalog);
  if (!proven.ok()) return std::move(proven).error();
  AddMetaRoot(catalog);
  if (HoldsPieces(catalog)) {
    catalog.warnings.push_back(
        Warning("pieces", "`" + file.info().path +
                              "` holds pieces of tensors, as "
                              "torch.distributed.checkpoint writes them for one rank")
            .Help("join them first with torch's consolidate_safetensors_files"));
  }
  RestoreShared(catalog);
  return catalog;
}

}  // namespace

const Format kSafetensors = {"safetensors", "safetensors, also with shards and an index", Sniff,
                             Read};

}  // namespace rekey
