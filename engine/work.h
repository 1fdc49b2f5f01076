// What a worker thread needs to make bytes: open inputs, reusable buffers, and where to write.
//
// Tasks of one run never overlap in the output, so any number of workers may run them in any order
// and the bytes are the same. Kernels take a Worker and keep no state of their own.
//
//   Worker worker(catalog);
//   for (const Tile& tile : TilesOf(lowered)) status = MoveTile(lowered, tile, {fd, 704}, &worker);
#ifndef REKEY_ENGINE_WORK_H_
#define REKEY_ENGINE_WORK_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "engine/catalog.h"
#include "engine/file.h"
#include "engine/graph.h"
#include "engine/lower.h"
#include "engine/status.h"

namespace rekey {

// Where a tensor's bytes go: byte 0 of the tensor is at `offset` of the open file.
struct OutputRange {
  int fd = -1;
  uint64_t offset = 0;
};

// An unnamed file that goes when it is closed.
class ScratchFile {
 public:
  // In `folder`; "" is the current one.
  static Result<ScratchFile> Make(const std::string& folder);
  ScratchFile(ScratchFile&& other) noexcept;
  ScratchFile& operator=(ScratchFile&& other) noexcept;
  ~ScratchFile();

  int fd() const { return fd_; }
  Status ReadAt(uint64_t offset, void* buffer, size_t bytes) const;

 private:
  explicit ScratchFile(int fd) : fd_(fd) {}
  int fd_ = -1;
};

class Worker {
 public:
  explicit Worker(const Catalog& catalog) : catalog_(&catalog) {}

  const Catalog& catalog() const { return *catalog_; }

  // The open input file; at most 64 stay open, the least used is closed. Refuses a file that has
  // changed since its header was read.
  Result<const InputFile*> File(uint32_t file);

  // Plain bytes [offset, offset + bytes) of a storage into `buffer`. Deflated storages are inflated
  // once to an unnamed file beside the output and read from there.
  Status Read(uint32_t storage, uint64_t offset, void* buffer, size_t bytes);

  // A page-aligned buffer of at least `bytes`, kept for the next task; slots are independent. When
  // memory runs out it throws std::bad_alloc, as `new` does.
  uint8_t* Scratch(size_t slot, size_t bytes);

  // Folder for unnamed scratch files (O_TMPFILE); that of the output.
  std::string scratch_folder;
  // Called with the bytes finished since the last call; may be empty. Returns false to stop.
  std::function<bool(uint64_t bytes)> progress;

 private:
  struct Free {
    void operator()(uint8_t* p) const;
  };
  struct Slot {
    std::unique_ptr<uint8_t[], Free> data;
    size_t bytes = 0;
  };
  Result<ScratchFile> Inflate(const Storage& storage);

  const Catalog* catalog_;
  std::list<std::pair<uint32_t, InputFile>> open_;  // most recently used first
  std::unordered_map<uint32_t, ScratchFile> inflated_;
  std::vector<Slot> scratch_;
};

// Writes all `bytes` at `offset`, whatever the kernel takes at a time; the error names the errno.
Status WriteAt(int fd, uint64_t offset, const void* bytes, size_t size);

// The error of a failed write, by its errno: `no-space` of a full disk, else `write-failed`.
Diagnostic WriteError(int code);

// --- Moving (kernels/tiles.cc, kernels/move.cc) -----------------------------------------------

// A stretch of a lowered tensor that one worker makes from start to end: target bytes
// [target, target + bytes), and the parts of pieces that fill it.
struct Tile {
  uint64_t target = 0;
  uint64_t bytes = 0;
  std::vector<Piece> parts;  // their targets are those of the tensor, as in the pieces
};

// Cuts a `move` into tiles of a few MB that cover it in order.
std::vector<Tile> TilesOf(const Lowered& tensor);

// Makes one tile: reads, rearranges, writes.
Status MoveTile(const Lowered& tensor, const Tile& tile, OutputRange out, Worker* worker);

}  // namespace rekey

#endif  // REKEY_ENGINE_WORK_H_
