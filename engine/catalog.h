// What a checkpoint holds: its tensors' keys, types, shapes and where their bytes lie.
//
// A Catalog is made from headers alone (formats/format.h) and is all that the compiler, the
// rewriter and the planner ever see of a checkpoint. It is not the weights: no byte of a tensor is
// read for it.
//
//   Entry e = catalog.entries[0];
//   e.key, e.dtype, e.shape                   // "fc.weight", f32, [10, 64]
//   Storage s = catalog.storages[e.storage];  // file 0, bytes [704, 704 + 2560)
//
// Several entries may lie in one storage: tied weights are two entries that agree in storage,
// start, shape, strides and dtype; views differ in start, shape or strides.
#ifndef REKEY_ENGINE_CATALOG_H_
#define REKEY_ENGINE_CATALOG_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/dtype.h"
#include "engine/object.h"
#include "engine/shape.h"
#include "engine/status.h"
#include "grammar/diagnostic.h"

namespace rekey {

// Owns text in large blocks, so that a million keys cost one allocation per megabyte.
class TextArena {
 public:
  std::string_view Add(std::string_view text);
  // `a` followed by `b`, as one text.
  std::string_view Add(std::string_view a, std::string_view b);

 private:
  char* Reserve(size_t bytes);
  std::vector<std::unique_ptr<char[]>> blocks_;
  size_t used_ = 0;      // bytes of the last block
  size_t capacity_ = 0;  // of the last block
};

// A file of the checkpoint, as it was when its header was read. Readers that come back for the
// bytes refuse a file whose size, time or identity has changed since.
struct FileInfo {
  std::string path;  // as the user reaches it
  std::string name;  // relative to the folder given, for messages and `source` patterns
  uint64_t size = 0;
  uint64_t device = 0;
  uint64_t inode = 0;
  int64_t mtime_ns = 0;
};

// A run of bytes in a file that tensors are cut from.
struct Storage {
  enum class Packing : uint8_t { kPlain, kDeflate };
  uint32_t file = 0;
  Packing packing = Packing::kPlain;
  bool has_crc = false;  // `crc32` is that of the plain bytes, as the container states it
  bool big_endian = false;
  uint32_t crc32 = 0;
  uint64_t offset = 0;        // of the first stored byte in the file
  uint64_t stored_bytes = 0;  // bytes in the file; equals `bytes` when plain
  uint64_t bytes = 0;         // plain bytes
};

struct Entry {
  std::string_view key;
  DType dtype = DType::kF32;
  bool conj = false;      // torch's lazy conjugate: negate the imaginary parts on reading
  bool neg = false;       // torch's lazy negation
  bool no_bytes = false;  // a meta tensor: shape without contents
  uint32_t storage = 0;   // into Catalog::storages; meaningless when no_bytes
  uint64_t start = 0;     // of element 0, in bytes from the start of the storage
  Shape shape;
  Strides strides;  // in elements; row-major for all formats but torch's

  // Readers have proven: every element lies inside the storage.
};

// torch's `_metadata` of a state_dict: module path ('' for the root) to a small dict, as
// {'version': 2}. Kept so that BatchNorm and others load their version.
struct ModuleMetadata {
  std::string module;
  ObjectId value = kNoObject;  // in Catalog::objects
};

// Scalars that rules reach with meta("path"): the checkpoint's own object tree (prefix ""),
// config.json beside it (prefix "config"), safetensors __metadata__ (prefix "").
struct MetaRoot {
  std::string prefix;  // "" or the JSON file's name without ".json"
  ObjectId object = kNoObject;
  uint32_t file = 0;      // whose tree it is; for JSON files beside the weights any of the folder
  std::string json_path;  // of a JSON file beside the weights: FindMeta reads it when asked
};

struct Catalog {
  std::string format;  // "safetensors", "torch zip", "torch legacy", "torchscript", ...
  std::string
      envelope;  // path of the state_dict that was taken: "" is the root, "model_state_dict"
  std::vector<FileInfo> files;
  std::vector<Storage> storages;
  std::vector<Entry> entries;                                 // in file order
  std::vector<std::pair<std::string, std::string>> metadata;  // safetensors __metadata__
  std::vector<ModuleMetadata> module_metadata;                // torch _metadata
  std::shared_ptr<ObjectGraph> objects = std::make_shared<ObjectGraph>();
  std::vector<MetaRoot> meta;
  // Every callable that a pickle named in a call that readers do not model, "module.name", sorted
  // and unique: what the file wanted to run.
  std::vector<std::string> callables;
  Diagnostics warnings;  // a wrong CRC in a directory, entries skipped, files left out
  std::shared_ptr<TextArena> text = std::make_shared<TextArena>();
};

// The first entry, in file order, whose key an earlier one has too: {earlier, later}.
std::optional<std::pair<uint32_t, uint32_t>> FindDuplicateKey(const std::vector<Entry>& entries);

// Bytes that the tensor holds when contiguous.
uint64_t DataBytes(const Entry& entry);

// True if the entry's bytes lie one after another in row-major order, so that they can be copied.
bool IsPlainCopy(const Catalog& catalog, const Entry& entry);

// For each entry the index of the first entry with the same bytes (same storage, start, dtype,
// shape, strides and flags), or its own index. Entries of no elements are never aliases.
std::vector<uint32_t> Aliases(const Catalog& catalog);

// meta("path"): the scalar, or nothing when no root has the path. An error when two files carry
// different values there, naming both, and when a JSON file that the path leads to is broken.
Result<std::optional<Scalar>> FindMeta(const Catalog& catalog, std::string_view path);

}  // namespace rekey

#endif  // REKEY_ENGINE_CATALOG_H_
