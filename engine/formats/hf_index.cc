#include "engine/formats/hf_index.h"

#include <rapidjson/error/en.h>
#include <rapidjson/reader.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <map>
#include <numeric>
#include <utility>

#include "engine/folder.h"
#include "engine/json.h"

namespace rekey {
namespace {

using rapidjson::SizeType;

constexpr uint64_t kMaxIndexBytes = uint64_t{1} << 30;

// Gives each pair of the outer object's "weight_map" to `take` and skips all else.
class IndexParser : public rapidjson::BaseReaderHandler<rapidjson::UTF8<>, IndexParser> {
 public:
  using Take = std::function<void(std::string_view key, std::string_view file)>;
  explicit IndexParser(Take take) : take_(std::move(take)) {}

  bool Default() {  // any scalar but a text
    return depth_ > 0 && !expects_map_ && !InMap();
  }
  bool String(const char* text, SizeType size, bool) {
    if (!InMap()) return Default();
    const std::string_view file(text, size);
    if (!IsUtf8(key_) || !IsUtf8(file)) return false;
    take_(key_, file);
    return true;
  }
  bool Key(const char* text, SizeType size, bool) {
    const std::string_view key(text, size);
    if (InMap()) key_ = key;
    if (depth_ == 1 && key == "weight_map") {
      if (seen_map_) return false;
      seen_map_ = expects_map_ = true;
    }
    return true;
  }
  bool StartObject() {
    if (expects_map_) {
      expects_map_ = false;
      in_map_ = true;
    } else if (InMap()) {
      return false;
    }
    return ++depth_ <= kMaxDepth;
  }
  bool EndObject(SizeType) {
    if (--depth_ == 1) in_map_ = false;
    return true;
  }
  bool StartArray() { return Default() && ++depth_ <= kMaxDepth; }
  bool EndArray(SizeType) {
    --depth_;
    return true;
  }

  bool seen_map() const { return seen_map_; }

 private:
  static constexpr int kMaxDepth = 64;
  bool InMap() const { return in_map_ && depth_ == 2; }

  Take take_;
  std::string_view key_;
  int depth_ = 0;
  bool seen_map_ = false;
  bool expects_map_ = false;  // between the key "weight_map" and its {
  bool in_map_ = false;
};

constexpr const char* kDamaged = "the index is damaged or made by hand: download it again";

std::string Quoted(std::string_view text) { return "`" + std::string(text) + "`"; }

std::string Keys(size_t count) { return std::to_string(count) + (count == 1 ? " key" : " keys"); }

}  // namespace

bool IsJsonText(const InputFile& file) {
  const Result<std::string> head = file.ReadText(0, std::min<uint64_t>(file.size(), 64));
  if (!head.ok()) return false;
  const size_t first = head->find_first_not_of(" \t\r\n");
  return first != std::string::npos && (*head)[first] == '{';
}

Result<HfIndex> HfIndex::Read(const InputFile& file) {
  HfIndex index;
  index.path_ = file.info().path;
  const std::string thing = Quoted(index.path_);
  if (file.size() > kMaxIndexBytes) {
    return Error("bad-index", thing + " is larger than " + std::to_string(kMaxIndexBytes) +
                                  " bytes, more than an index takes")
        .Help(kDamaged);
  }
  Result<std::string> json = file.ReadText(0, file.size());
  if (!json.ok()) return std::move(json).error();

  std::map<std::string, uint32_t, std::less<>> numbers;
  IndexParser parser([&](std::string_view key, std::string_view shard) {
    auto it = numbers.find(shard);
    if (it == numbers.end()) {
      it = numbers.emplace(shard, static_cast<uint32_t>(numbers.size())).first;
    }
    index.keys_.push_back(
        {index.text_->Add(key), it->second, false, std::hash<std::string_view>()(key)});
  });
  rapidjson::InsituStringStream stream(json->data());
  rapidjson::Reader reader;
  const rapidjson::ParseResult parsed =
      reader.Parse<rapidjson::kParseInsituFlag | rapidjson::kParseIterativeFlag>(stream, parser);
  const bool stopped = parsed.Code() == rapidjson::kParseErrorTermination;
  if (!parser.seen_map() && (!parsed.IsError() || stopped)) {
    return Error("not-a-checkpoint", thing + " is JSON text without a weight_map, no index")
        .Help("name the checkpoint, its index (*.index.json) or its folder");
  }
  if (stopped) {
    return Error("bad-index", "the weight_map of " + thing +
                                  " is not one object of keys and file names, at byte " +
                                  std::to_string(parsed.Offset()))
        .Help(kDamaged);
  }
  if (parsed.IsError() || stream.Tell() != json->size()) {
    const size_t at = parsed.IsError() ? parsed.Offset() : stream.Tell();
    return Error("bad-index", thing + " is not JSON, at byte " + std::to_string(at))
        .Note(std::string("the JSON parser says: ") +
              (parsed.IsError() ? rapidjson::GetParseError_En(parsed.Code()) : "a NUL byte"))
        .Help(kDamaged);
  }
  index.files_.resize(numbers.size());
  for (const auto& [name, number] : numbers) index.files_[number] = name;
  Status arranged = index.Arrange();
  if (!arranged.ok()) return std::move(arranged).error();
  return index;
}

// Sorts files and keys, and refuses what must not be in them.
Status HfIndex::Arrange() {
  if (keys_.empty()) {
    return Error("bad-index", "the weight_map of " + Quoted(path_) + " is empty").Help(kDamaged);
  }
  std::vector<uint32_t> order(files_.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(),
            [&](uint32_t a, uint32_t b) { return NaturalLess(files_[a], files_[b]); });
  std::vector<uint32_t> place(files_.size());
  std::vector<std::string> sorted;
  for (uint32_t old : order) {
    place[old] = static_cast<uint32_t>(sorted.size());
    sorted.push_back(std::move(files_[old]));
  }
  files_ = std::move(sorted);
  for (Key& key : keys_) key.file = place[key.file];
  for (const std::string& name : files_) {
    if (const std::optional<std::string> wrong = LeavesFolder(name)) {
      return Error("bad-path", Quoted(path_) + " names the shard " + Quoted(name) + ": " + *wrong)
          .Help("do not use this index: it was damaged or made to read other files");
    }
  }
  std::sort(keys_.begin(), keys_.end(), [](const Key& a, const Key& b) {
    return std::tie(a.hash, a.name) < std::tie(b.hash, b.name);
  });
  for (size_t i = 1; i < keys_.size(); ++i) {
    if (keys_[i - 1].name == keys_[i].name) {
      return Error("duplicate-key", "the key " + Quoted(keys_[i].name) +
                                        " stands twice in the weight_map of " + Quoted(path_))
          .Help(kDamaged);
    }
  }
  return {};
}

HfIndex::Key* HfIndex::Find(std::string_view name) {
  const Key wanted{name, 0, false, std::hash<std::string_view>()(name)};
  const auto it =
      std::lower_bound(keys_.begin(), keys_.end(), wanted, [](const Key& a, const Key& b) {
        return std::tie(a.hash, a.name) < std::tie(b.hash, b.name);
      });
  return it != keys_.end() && it->name == name ? &*it : nullptr;
}

Status HfIndex::CheckPresent(const std::string& folder) const {
  std::vector<std::string> absent;
  for (const std::string& name : files_) {
    std::error_code code;
    if (!std::filesystem::exists(JoinPath(folder, name), code)) absent.push_back(name);
  }
  if (absent.empty()) return {};
  const size_t first = std::find(files_.begin(), files_.end(), absent[0]) - files_.begin();
  const auto keys =
      std::count_if(keys_.begin(), keys_.end(), [&](const Key& key) { return key.file == first; });
  Diagnostic error = Error(
      "absent-shard", "the shard " + Quoted(absent[0]) + " that " + Quoted(path_) +
                          " names is not there; it should hold " + Keys(static_cast<size_t>(keys)));
  if (absent.size() > 1) {
    std::string list;
    for (size_t i = 1; i < std::min<size_t>(absent.size(), 6); ++i) {
      list += (i > 1 ? ", " : "") + Quoted(absent[i]);
    }
    error.Note(std::to_string(absent.size()) + " of " + std::to_string(files_.size()) +
               " shards are not there; the others: " + list + (absent.size() > 6 ? ", ..." : ""));
  }
  return error.Help("download or copy the rest of the checkpoint into the folder " +
                    Quoted(folder));
}

void HfIndex::Settle(uint32_t file, Catalog& shard) {
  std::vector<std::string_view> elsewhere, unnamed;
  std::vector<bool> remove(shard.entries.size());
  std::vector<uint32_t> aliases;
  for (uint32_t i = 0; i < shard.entries.size(); ++i) {
    const std::string_view name = shard.entries[i].key;
    Key* key = Find(name);
    if (key == nullptr) {
      if (aliases.empty()) aliases = Aliases(shard);
      if (aliases[i] == i) unnamed.push_back(name);
    } else if (key->file == file) {
      key->found = true;
    } else {
      elsewhere.push_back(name);
      remove[i] = true;
    }
  }
  const std::string shard_name = "the shard " + Quoted(files_[file]) + " holds ";
  if (!unnamed.empty()) {
    shard.warnings.push_back(Warning(
        "unlisted-key", shard_name + Keys(unnamed.size()) + " that " + Quoted(path_) +
                            " does not name, such as " + Quoted(unnamed[0]) + "; taken as well"));
  }
  if (elsewhere.empty()) return;
  shard.warnings.push_back(
      Warning("unlisted-key", shard_name + Keys(elsewhere.size()) + " that " + Quoted(path_) +
                                  " finds in another shard, such as " + Quoted(elsewhere[0]) +
                                  "; taken from there"));
  size_t kept = 0;
  for (size_t i = 0; i < shard.entries.size(); ++i) {
    if (remove[i]) continue;
    if (kept != i) shard.entries[kept] = std::move(shard.entries[i]);
    ++kept;
  }
  shard.entries.resize(kept);
}

Status HfIndex::CheckComplete() const {
  const Key* first = nullptr;
  size_t count = 0;
  for (const Key& key : keys_) {
    if (key.found) continue;
    ++count;
    if (first == nullptr || key.name < first->name) first = &key;
  }
  if (first == nullptr) return {};
  Diagnostic error = Error("absent-key", Quoted(path_) + " finds the key " + Quoted(first->name) +
                                             " in the shard " + Quoted(files_[first->file]) +
                                             ", which does not hold it");
  if (count > 1) error.Note(Keys(count) + " are missing in this way");
  return error.Help("the index and the shards are not of one checkpoint: download them together");
}

}  // namespace rekey
