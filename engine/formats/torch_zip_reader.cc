#include "engine/formats/torch_zip_reader.h"

#include <algorithm>
#include <optional>
#include <string>
#include <unordered_set>
#include <utility>

#include "engine/formats/pickle_machine.h"
#include "engine/formats/torch_catalog.h"
#include "engine/formats/torch_tensors.h"
#include "engine/formats/torchscript_code.h"
#include "engine/formats/zip_directory.h"

namespace rekey {
namespace {

constexpr uint64_t kMaxPickle = uint64_t{4} << 30;
constexpr uint64_t kMaxCode = uint64_t{16} << 20;
constexpr uint64_t kMaxSmall = 64;

std::string Quote(std::string_view text) { return "`" + std::string(text) + "`"; }

// "archive/" of "archive/data.pkl"; empty if the name has no folder.
std::string_view FolderOf(std::string_view name) { return name.substr(0, name.find('/') + 1); }

std::string_view RootOf(const ZipDirectory& zip) {
  return zip.records().empty() ? std::string_view() : FolderOf(zip.records()[0].name);
}

// A name whose length stands at `length_at` in the record at the front of `bytes`; empty if it is
// cut off.
std::string_view NameIn(std::string_view bytes, size_t length_at, size_t name_at) {
  if (bytes.size() < name_at) return {};
  const size_t length =
      static_cast<uint8_t>(bytes[length_at]) | static_cast<uint8_t>(bytes[length_at + 1]) << 8;
  return bytes.substr(name_at, length);
}

// True of a zip with a data.pkl in the folder of its first record. If its directory is lost, its
// first record tells, so that the reader says what is wrong.
bool Sniff(const InputFile& file) {
  if (!LooksLikeZip(file)) return false;
  if (const std::optional<std::string> directory = RawZipDirectory(file)) {
    const std::string_view root = FolderOf(NameIn(*directory, 28, 46));
    return !root.empty() && directory->find(std::string(root) + "data.pkl") != std::string::npos;
  }
  const Result<std::string> head = file.ReadText(0, std::min<uint64_t>(file.size(), 512));
  if (!head.ok()) return false;
  const std::string_view name = NameIn(*head, 26, 30);
  return name.ends_with("/data.pkl") || name.find("/data/") != std::string_view::npos;
}

Status CheckOneRoot(const InputFile& file, const ZipDirectory& zip, std::string_view root) {
  for (const ZipRecord& record : zip.records()) {
    if (record.name.starts_with(root)) continue;
    return Error("second-root", Quote(file.info().path) + " has records in two folders: " +
                                    Quote(zip.records()[0].name) + " and " + Quote(record.name))
        .Note("torch's own files have one, and torch refuses others")
        .Help("if several checkpoints are packed in it, unpack them first");
  }
  return {};
}

class Reader {
 public:
  Reader(InputFile file, ZipDirectory zip)
      : file_(std::move(file)), zip_(std::move(zip)), root_(RootOf(zip_)) {}

  Result<Catalog> Read(const ReadOptions& options) {
    Status one_root = CheckOneRoot(file_, zip_, root_);
    if (!one_root.ok()) return std::move(one_root).error();
    Status order = ReadByteOrder();
    if (!order.ok()) return std::move(order).error();
    const bool is_script = Find("constants.pkl") != nullptr;
    Catalog catalog;
    catalog.format = is_script ? "torchscript" : kTorchZip.name;
    catalog.files.push_back(file_.info());
    const Result<ObjectId> root = ReadPickle(*catalog.objects);
    if (!root.ok()) return root.error();
    ScriptClasses classes;
    if (is_script) {
      Status read = ReadClasses(*catalog.objects, classes);
      if (!read.ok()) return std::move(read).error();
    }
    TorchFile torch = {.root = *root,
                       .tensors = FindTorchTensors(*catalog.objects),
                       .locate = [this](const std::string& key) { return Locate(key); },
                       .script = is_script ? &classes : nullptr};
    return MakeTorchCatalog(std::move(catalog), std::move(torch), options);
  }

 private:
  const ZipRecord* Find(std::string_view name) const {
    return zip_.Find(std::string(root_) + std::string(name));
  }

  Status ReadByteOrder() {
    const ZipRecord* record = Find("byteorder");
    if (record == nullptr) return {};
    const Result<std::string> order = ReadZipRecord(file_, *record, kMaxSmall);
    if (!order.ok()) return order.error();
    big_endian_ = *order == "big";
    if (big_endian_ || *order == "little") return {};
    return Error("byte-order", Quote(file_.info().path) +
                                   ": its record `byteorder` is neither `little` nor `big`");
  }

  Result<ObjectId> ReadPickle(ObjectGraph& graph) {
    const ZipRecord* record = Find("data.pkl");
    if (record == nullptr) {
      return Error("not-a-checkpoint", Quote(file_.info().path) +
                                           " is a zip archive without a record `" +
                                           std::string(root_) + "data.pkl`");
    }
    const Result<std::string> bytes = ReadZipRecord(file_, *record, kMaxPickle);
    if (!bytes.ok()) return bytes.error();
    PickleInput input(*bytes);
    const Result<Pickle> pickle =
        LoadPickle(input, Quote(file_.info().path) + ", record `data.pkl`", graph);
    if (!pickle.ok()) return pickle.error();
    return pickle->root;
  }

  // The code of the classes that the pickle names.
  Status ReadClasses(const ObjectGraph& graph, ScriptClasses& classes) {
    std::unordered_set<std::string> read;
    for (size_t i = 0; i < graph.size(); ++i) {
      const Object& object = graph[static_cast<ObjectId>(i)];
      if (object.kind != Object::Kind::kGlobal || !object.text.starts_with("__torch__.")) continue;
      std::string path = ScriptCodePath(object.text);
      const ZipRecord* record = Find(path);
      if (record == nullptr || !read.insert(std::move(path)).second) continue;
      const Result<std::string> code = ReadZipRecord(file_, *record, kMaxCode);
      if (!code.ok()) return code.error();
      AddScriptClasses(*code, object.text.substr(0, object.text.rfind('.')), classes);
    }
    return {};
  }

  Result<Storage> Locate(const std::string& key) {
    const ZipRecord* record = Find("data/" + key);
    if (record == nullptr) {
      return Error("no-record",
                   "lies in storage `" + key + "`, but the file has no record `data/" + key + "`");
    }
    const Result<uint64_t> at = FindZipData(file_, *record);
    if (!at.ok()) return Error("bad-zip", "cannot be found: " + at.error().message);
    if (record->method != 0 && record->method != 8) {
      return Error("zip-method", "is compressed by zip method " + std::to_string(record->method) +
                                     ", only deflate (8) is read");
    }
    return Storage{
        .packing = record->method == 8 ? Storage::Packing::kDeflate : Storage::Packing::kPlain,
        .has_crc = record->crc32 != 0,
        .big_endian = big_endian_,
        .crc32 = record->crc32,
        .offset = *at,
        .stored_bytes = record->stored_bytes,
        .bytes = record->bytes};
  }

  const InputFile file_;
  const ZipDirectory zip_;
  const std::string_view root_;
  bool big_endian_ = false;
};

Result<Catalog> Read(InputFile file, const ReadOptions& options) {
  Result<ZipDirectory> zip = ReadZipDirectory(file);
  if (!zip.ok()) return std::move(zip).error();
  return Reader(std::move(file), std::move(*zip)).Read(options);
}

}  // namespace

const Format kTorchZip = {"torch zip", "torch.save since 1.6, and TorchScript archives", Sniff,
                          Read};

}  // namespace rekey
