#include "engine/formats/torch_legacy_reader.h"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "engine/formats/pickle_machine.h"
#include "engine/formats/torch_catalog.h"
#include "engine/formats/torch_tensors.h"

namespace rekey {
namespace {

using Kind = Object::Kind;

constexpr std::string_view kMagic = "119547037146038801333356";  // 0x1950a86a20f9469cfc6c
constexpr int64_t kVersion = 1001;
constexpr uint64_t kMagicBytes = 64;  // more than its pickle takes in any protocol
constexpr uint64_t kCountBytes = 8;

std::string Quote(std::string_view text) { return "`" + std::string(text) + "`"; }

bool Sniff(const InputFile& file) {
  PickleInput input(file, 0, std::min(file.size(), kMagicBytes));
  ObjectGraph graph;
  const Result<Pickle> magic = LoadPickle(input, "magic", graph);
  return magic.ok() && graph[magic->root].kind == Kind::kBigInt &&
         graph[magic->root].text == kMagic;
}

class Reader {
 public:
  explicit Reader(InputFile file) : file_(std::move(file)), input_(file_, 0, file_.size()) {}

  Result<Catalog> Read(const ReadOptions& options) {
    Status head = ReadHead();
    if (!head.ok()) return std::move(head).error();
    Catalog catalog;
    catalog.format = kTorchLegacy.name;
    catalog.files.push_back(file_.info());
    const Result<Pickle> objects = Next("objects", *catalog.objects);
    if (!objects.ok()) return objects.error();
    TorchFile torch = {.root = objects->root,
                       .tensors = FindTorchTensors(*catalog.objects),
                       .locate = [this](const std::string& key) { return Locate(key); }};
    Status storages = ReadStorages(torch.tensors);
    if (!storages.ok()) return std::move(storages).error();
    return MakeTorchCatalog(std::move(catalog), std::move(torch), options);
  }

 private:
  Result<Pickle> Next(std::string_view what, ObjectGraph& graph) {
    return LoadPickle(input_, Quote(file_.info().path) + ", pickle of the " + std::string(what),
                      graph);
  }

  // The magic number, the version, the system.
  Status ReadHead() {
    ObjectGraph graph;
    const Result<Pickle> magic = Next("magic number", graph);
    if (!magic.ok()) return magic.error();
    const Result<Pickle> version = Next("version", graph);
    if (!version.ok()) return version.error();
    const Object& number = graph[version->root];
    if (number.kind != Kind::kInt || number.integer != kVersion) {
      return Error("torch-version", Quote(file_.info().path) +
                                        " is a torch stream of another version than 1001, the "
                                        "only one there is");
    }
    const Result<Pickle> system = Next("system", graph);
    if (!system.ok()) return system.error();
    return {};
  }

  Diagnostic Truncated(const std::string& what) const {
    return Error("truncated-file", Quote(file_.info().path) + " is cut short: " + what +
                                       ", the file has " + std::to_string(file_.size()))
        .Help("download or copy it again");
  }

  // How wide the elements of each storage are, by its key. Only the objects tell.
  Result<std::unordered_map<std::string_view, uint64_t>> Widths(const TorchTensors& tensors) const {
    std::unordered_map<std::string_view, uint64_t> widths;
    for (const TorchStorage& storage : tensors.storages) {
      const uint64_t width = static_cast<uint64_t>(BitsOf(storage.dtype)) / 8;
      const auto [at, is_new] = widths.emplace(storage.key, width);
      if (!is_new && at->second != width) {
        return Error("two-dtypes", Quote(file_.info().path) + ": storage `" + storage.key +
                                       "` is named with elements of " + std::to_string(at->second) +
                                       " and of " + std::to_string(width) +
                                       " bytes, so that its length in the file is not known")
            .Help("the file is damaged: download or copy it again");
      }
    }
    return widths;
  }

  // Walks over the storages from one count to the next.
  Status ReadStorages(const TorchTensors& tensors) {
    const auto widths = Widths(tensors);
    if (!widths.ok()) return widths.error();
    ObjectGraph graph;
    const Result<Pickle> keys = Next("storages' keys", graph);
    if (!keys.ok()) return keys.error();
    if (graph[keys->root].kind != Kind::kList) {
      return Error("bad-pickle", Quote(file_.info().path) + ": the storages' keys are no list");
    }
    uint64_t at = input_.position();
    for (const ObjectId id : graph[keys->root].items) {
      const std::string& key = graph[id].text;
      const auto width = widths->find(key);
      if (graph[id].kind != Kind::kText || width == widths->end()) {
        return Error("unknown-storage", Quote(file_.info().path) + ": storage `" + key +
                                            "` is used by no object, so that its length in the "
                                            "file is not known")
            .Help("the file is damaged: download or copy it again");
      }
      Status read = ReadStorage(key, width->second, at);
      if (!read.ok()) return read;
    }
    return {};
  }

  // One count and its elements at `at`, which moves behind them.
  Status ReadStorage(const std::string& key, uint64_t width, uint64_t& at) {
    if (file_.size() - at < kCountBytes) {
      return Truncated("storage `" + key + "` should begin at byte " + std::to_string(at));
    }
    unsigned char bytes[kCountBytes];
    Status read = file_.ReadAt(at, bytes, sizeof bytes);
    if (!read.ok()) return read;
    uint64_t count = 0;
    for (size_t i = kCountBytes; i-- > 0;) count = count << 8 | bytes[i];
    at += kCountBytes;
    uint64_t length = 0;
    if (__builtin_mul_overflow(count, width, &length) || length > file_.size() - at) {
      return Truncated("storage `" + key + "` of " + std::to_string(count) + " elements of " +
                       std::to_string(width) + " bytes begins at byte " + std::to_string(at));
    }
    const bool is_new =
        storages_.emplace(key, Storage{.offset = at, .stored_bytes = length, .bytes = length})
            .second;
    if (!is_new) {
      return Error("duplicate-record", Quote(file_.info().path) + ": storage `" + key +
                                           "` stands twice in the list of storages");
    }
    at += length;
    return {};
  }

  Result<Storage> Locate(const std::string& key) {
    const auto it = storages_.find(key);
    if (it != storages_.end()) return it->second;
    return Error("no-record", "lies in storage `" + key + "`, which the file does not have");
  }

  const InputFile file_;
  PickleInput input_;
  std::unordered_map<std::string, Storage> storages_;
};

Result<Catalog> Read(InputFile file, const ReadOptions& options) {
  return Reader(std::move(file)).Read(options);
}

}  // namespace

const Format kTorchLegacy = {"torch legacy", "the stream that torch.save wrote before 1.6", Sniff,
                             Read};

}  // namespace rekey
