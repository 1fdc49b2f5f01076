// An input file: bytes at offsets, checked.
//
// All reading of checkpoints goes through here. ReadAt never returns less than was asked: a short
// file is an error that names it. It does not map files (slower than reading, and the pages would
// count as ours) and keeps one descriptor open while it lives.
//
//   Result<InputFile> file = InputFile::Open("model.safetensors");
//   Result<std::string> head = file->ReadText(0, 8);
#ifndef REKEY_ENGINE_FILE_H_
#define REKEY_ENGINE_FILE_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "engine/catalog.h"
#include "engine/status.h"

namespace rekey {

class InputFile {
 public:
  // Errors: missing, a folder, unreadable, not a regular file. `name` is FileInfo::name.
  static Result<InputFile> Open(const std::string& path, const std::string& name = "");

  // Opens it again for its bytes; an error if it is no longer the file whose header was read.
  static Result<InputFile> Reopen(const FileInfo& info);

  InputFile(InputFile&& other) noexcept;
  InputFile& operator=(InputFile&& other) noexcept;
  ~InputFile();

  const FileInfo& info() const { return info_; }
  uint64_t size() const { return info_.size; }
  int fd() const { return fd_; }

  // Fills `bytes` bytes at `buffer` from `offset`; an error if they are not all inside the file.
  Status ReadAt(uint64_t offset, void* buffer, size_t bytes) const;

  // The same as a new text. Checks the range against the file before it allocates.
  Result<std::string> ReadText(uint64_t offset, uint64_t bytes) const;

 private:
  InputFile() = default;
  FileInfo info_;
  int fd_ = -1;
};

}  // namespace rekey

#endif  // REKEY_ENGINE_FILE_H_
