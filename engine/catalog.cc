#include "engine/catalog.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "engine/json.h"

namespace rekey {
namespace {

constexpr size_t kFirstBlock = 4096;
constexpr size_t kLargestBlock = size_t{1} << 20;

template <typename T>
int Compare(const T& a, const T& b) {
  return a < b ? -1 : (b < a ? 1 : 0);
}

int CompareDims(const Dims& a, const Dims& b) {
  if (int order = Compare(a.size(), b.size())) return order;
  for (size_t i = 0; i < a.size(); ++i) {
    if (int order = Compare(a[i], b[i])) return order;
  }
  return 0;
}

// 0 if the two entries are the same elements of the same bytes.
int CompareContents(const Entry& a, const Entry& b) {
  if (int order = Compare(a.storage, b.storage)) return order;
  if (int order = Compare(a.start, b.start)) return order;
  if (int order = Compare(a.dtype, b.dtype)) return order;
  if (int order = Compare(a.conj, b.conj)) return order;
  if (int order = Compare(a.neg, b.neg)) return order;
  if (int order = CompareDims(a.shape, b.shape)) return order;
  return CompareDims(a.strides, b.strides);
}

std::string Print(const Scalar& scalar) {
  if (const bool* truth = std::get_if<bool>(&scalar)) return *truth ? "true" : "false";
  if (const int64_t* number = std::get_if<int64_t>(&scalar)) return std::to_string(*number);
  if (const double* number = std::get_if<double>(&scalar)) return std::to_string(*number);
  return '"' + std::get<std::string>(scalar) + '"';
}

bool SameScalar(const Scalar& a, const Scalar& b) {
  const double* x = std::get_if<double>(&a);
  const double* y = std::get_if<double>(&b);
  return a == b || (x && y && std::isnan(*x) && std::isnan(*y));
}

// What `path` leads to below one root.
Result<std::optional<Scalar>> FindBelow(const Catalog& catalog, const MetaRoot& root,
                                        std::string_view path) {
  if (!root.prefix.empty()) {
    if (!path.starts_with(root.prefix)) return std::optional<Scalar>();
    path.remove_prefix(root.prefix.size());
    if (!path.starts_with('.')) return std::optional<Scalar>();
    path.remove_prefix(1);
  }
  ObjectGraph read_now;
  const ObjectGraph* graph = catalog.objects.get();
  ObjectId object = root.object;
  if (!root.json_path.empty()) {
    Result<ObjectId> parsed = ReadJsonFile(root.json_path, read_now);
    if (!parsed.ok()) return std::move(parsed).error();
    object = *parsed;
    graph = &read_now;
  }
  if (object == kNoObject) return std::optional<Scalar>();
  const ObjectId found = graph->Find(object, path);
  if (found == kNoObject) return std::optional<Scalar>();
  return graph->ToScalar(found);
}

std::string FileOf(const Catalog& catalog, const MetaRoot& root) {
  if (!root.json_path.empty()) return root.json_path;
  return root.file < catalog.files.size() ? catalog.files[root.file].path : std::string();
}

}  // namespace

char* TextArena::Reserve(size_t bytes) {
  if (bytes > capacity_ - used_) {
    const size_t grown = std::clamp(2 * capacity_, kFirstBlock, kLargestBlock);
    capacity_ = std::max(bytes, grown);
    blocks_.push_back(std::make_unique_for_overwrite<char[]>(capacity_));
    used_ = 0;
  }
  char* at = blocks_.back().get() + used_;
  used_ += bytes;
  return at;
}

std::string_view TextArena::Add(std::string_view text) { return Add(text, {}); }

std::string_view TextArena::Add(std::string_view a, std::string_view b) {
  const size_t bytes = a.size() + b.size();
  if (bytes == 0) return {};
  char* at = Reserve(bytes);
  std::copy(a.begin(), a.end(), at);
  std::copy(b.begin(), b.end(), at + a.size());
  return {at, bytes};
}

// Sorts by hash and compares texts only where hashes meet: a million long keys that begin alike
// would take a second to sort by text, and a hash table can be flooded.
std::optional<std::pair<uint32_t, uint32_t>> FindDuplicateKey(const std::vector<Entry>& entries) {
  std::vector<std::pair<size_t, uint32_t>> hashes(entries.size());
  for (uint32_t i = 0; i < entries.size(); ++i) {
    hashes[i] = {std::hash<std::string_view>()(entries[i].key), i};
  }
  std::sort(hashes.begin(), hashes.end());
  std::optional<std::pair<uint32_t, uint32_t>> first;
  for (size_t begin = 0; begin < hashes.size();) {
    size_t end = begin + 1;
    while (end < hashes.size() && hashes[end].first == hashes[begin].first) ++end;
    if (end - begin > 1) {
      std::sort(hashes.begin() + begin, hashes.begin() + end, [&](const auto& a, const auto& b) {
        const int order = entries[a.second].key.compare(entries[b.second].key);
        return order != 0 ? order < 0 : a.second < b.second;
      });
      for (size_t i = begin + 1; i < end; ++i) {
        const auto [earlier, later] = std::pair(hashes[i - 1].second, hashes[i].second);
        if (entries[earlier].key != entries[later].key) continue;
        if (!first || later < first->second) first = {earlier, later};
      }
    }
    begin = end;
  }
  return first;
}

uint64_t DataBytes(const Entry& entry) {
  return static_cast<uint64_t>(NumBytes(entry.dtype, entry.shape).value_or(0));
}

bool IsPlainCopy(const Catalog& catalog, const Entry& entry) {
  if (entry.no_bytes || entry.conj || entry.neg) return false;
  const Storage& storage = catalog.storages[entry.storage];
  if (storage.packing != Storage::Packing::kPlain) return false;
  if (storage.big_endian && BitsOf(entry.dtype) > 8) return false;
  return IsContiguous(entry.shape, entry.strides);
}

std::vector<uint32_t> Aliases(const Catalog& catalog) {
  const std::vector<Entry>& entries = catalog.entries;
  std::vector<uint32_t> first(entries.size());
  std::iota(first.begin(), first.end(), 0);
  std::vector<uint32_t> order;
  order.reserve(entries.size());
  for (uint32_t i = 0; i < entries.size(); ++i) {
    if (!entries[i].no_bytes && DataBytes(entries[i]) > 0) order.push_back(i);
  }
  std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    const int contents = CompareContents(entries[a], entries[b]);
    return contents != 0 ? contents < 0 : a < b;
  });
  for (size_t i = 1; i < order.size(); ++i) {
    if (CompareContents(entries[order[i - 1]], entries[order[i]]) == 0) {
      first[order[i]] = first[order[i - 1]];
    }
  }
  return first;
}

Result<std::optional<Scalar>> FindMeta(const Catalog& catalog, std::string_view path) {
  std::optional<Scalar> value;
  const MetaRoot* giver = nullptr;
  for (const MetaRoot& root : catalog.meta) {
    Result<std::optional<Scalar>> found = FindBelow(catalog, root, path);
    if (!found.ok()) return found;
    if (!found->has_value()) continue;
    if (!value) {
      value = std::move(**found);
      giver = &root;
    } else if (!SameScalar(*value, **found)) {
      return Error("meta-differs", "meta(\"" + std::string(path) + "\") differs between files: " +
                                       Print(*value) + " in `" + FileOf(catalog, *giver) + "`, " +
                                       Print(**found) + " in `" + FileOf(catalog, root) + "`")
          .Help("give the value yourself: `-p name=value` for the param that reads it");
    }
  }
  return value;
}

}  // namespace rekey
