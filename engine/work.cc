#include "engine/work.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <new>
#include <utility>

namespace rekey {
namespace {

constexpr size_t kOpenFiles = 64;
constexpr size_t kInflateBuffer = 256 * 1024;
constexpr size_t kPage = 4096;

std::string Quoted(const std::string& text) { return "`" + text + "`"; }

// An unnamed file in `folder`, gone when it is closed.
Result<int> OpenUnnamed(const std::string& folder) {
  const std::string where = folder.empty() ? "." : folder;
#ifdef O_TMPFILE
  const int fd = open(where.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (fd >= 0) return fd;
#endif
  // File systems without unnamed files: a named one, unlinked at once.
  std::string name = where + "/.rekey-XXXXXX";
  const int named = mkostemp(name.data(), O_CLOEXEC);
  if (named < 0) {
    return Error("scratch-file",
                 "cannot make a scratch file in " + Quoted(where) + ": " + std::strerror(errno))
        .Note("compressed tensors are unpacked beside the output")
        .Help("check that the folder can be written to");
  }
  unlink(name.c_str());
  return named;
}

Diagnostic Broken(const FileInfo& file, const Storage& storage, const std::string& why) {
  return Error("broken-compression", "the compressed bytes at offset " +
                                         std::to_string(storage.offset) + " of " +
                                         Quoted(file.path) + " " + why)
      .Help("download or copy it again");
}

// zlib's state, ended with the object.
class Inflater {
 public:
  Inflater() { ready_ = inflateInit2(&stream_, -MAX_WBITS) == Z_OK; }
  ~Inflater() {
    if (ready_) inflateEnd(&stream_);
  }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;
  bool ready() const { return ready_; }
  z_stream* stream() { return &stream_; }

 private:
  z_stream stream_ = {};
  bool ready_ = false;
};

}  // namespace

Result<const InputFile*> Worker::File(uint32_t file) {
  const auto found = std::find_if(open_.begin(), open_.end(),
                                  [&](const auto& open) { return open.first == file; });
  if (found != open_.end()) {
    open_.splice(open_.begin(), open_, found);
    return &open_.front().second;
  }
  Result<InputFile> opened = InputFile::Reopen(catalog_->files[file]);
  if (!opened.ok()) return std::move(opened).error();
  if (open_.size() >= kOpenFiles) open_.pop_back();
  open_.emplace_front(file, *std::move(opened));
  return &open_.front().second;
}

Status Worker::Read(uint32_t storage, uint64_t offset, void* buffer, size_t bytes) {
  const Storage& from = catalog_->storages[storage];
  if (offset > from.bytes || bytes > from.bytes - offset) {
    return Error("truncated-file", "a tensor of " + Quoted(catalog_->files[from.file].path) +
                                       " reaches past the end of its storage of " +
                                       std::to_string(from.bytes) + " bytes");
  }
  if (from.packing == Storage::Packing::kPlain) {
    Result<const InputFile*> file = File(from.file);
    if (!file.ok()) return std::move(file).error();
    return (*file)->ReadAt(from.offset + offset, buffer, bytes);
  }
  auto inflated = inflated_.find(storage);
  if (inflated == inflated_.end()) {
    Result<ScratchFile> scratch = Inflate(from);
    if (!scratch.ok()) return std::move(scratch).error();
    inflated = inflated_.emplace(storage, *std::move(scratch)).first;
  }
  return inflated->second.ReadAt(offset, buffer, bytes);
}

Result<ScratchFile> Worker::Inflate(const Storage& storage) {
  const FileInfo& info = catalog_->files[storage.file];
  Result<const InputFile*> file = File(storage.file);
  if (!file.ok()) return std::move(file).error();
  Result<ScratchFile> scratch = ScratchFile::Make(scratch_folder);
  if (!scratch.ok()) return scratch;
  std::vector<uint8_t> packed(kInflateBuffer), plain(kInflateBuffer);
  Inflater inflater;
  if (!inflater.ready()) return Broken(info, storage, "cannot be unpacked: out of memory");
  z_stream* stream = inflater.stream();
  uint64_t taken = 0, made = 0;
  int state = Z_OK;
  while (state != Z_STREAM_END) {
    if (stream->avail_in == 0 && taken < storage.stored_bytes) {
      const size_t some = std::min<uint64_t>(packed.size(), storage.stored_bytes - taken);
      Status read = (*file)->ReadAt(storage.offset + taken, packed.data(), some);
      if (!read.ok()) return std::move(read).error();
      taken += some;
      stream->next_in = packed.data();
      stream->avail_in = static_cast<uInt>(some);
    }
    stream->next_out = plain.data();
    stream->avail_out = static_cast<uInt>(plain.size());
    state = inflate(stream, Z_NO_FLUSH);
    // Z_BUF_ERROR: all was taken, and no more comes of it.
    if (state == Z_BUF_ERROR) return Broken(info, storage, "end before the data does");
    if (state != Z_OK && state != Z_STREAM_END) {
      return Broken(info, storage, "are damaged: they do not inflate");
    }
    const size_t got = plain.size() - stream->avail_out;
    if (got > storage.bytes - made) {
      return Broken(info, storage,
                    "inflate to more than the " + std::to_string(storage.bytes) +
                        " that the file's "
                        "directory states");
    }
    Status written = WriteAt(scratch->fd(), made, plain.data(), got);
    if (!written.ok()) return std::move(written).error();
    made += got;
  }
  if (made != storage.bytes) {
    return Broken(info, storage,
                  "inflate to " + std::to_string(made) +
                      " bytes, and the file's "
                      "directory states " +
                      std::to_string(storage.bytes));
  }
  return scratch;
}

void Worker::Free::operator()(uint8_t* p) const { std::free(p); }

uint8_t* Worker::Scratch(size_t slot, size_t bytes) {
  if (slot >= scratch_.size()) scratch_.resize(slot + 1);
  Slot& held = scratch_[slot];
  if (held.bytes < bytes || held.data == nullptr) {
    const size_t rounded = (std::max(bytes, size_t{1}) + kPage - 1) / kPage * kPage;
    held.data.reset();
    auto* fresh = static_cast<uint8_t*>(std::aligned_alloc(kPage, rounded));
    if (fresh == nullptr) throw std::bad_alloc();
    held.data.reset(fresh);
    held.bytes = rounded;
  }
  return held.data.get();
}

Result<ScratchFile> ScratchFile::Make(const std::string& folder) {
  Result<int> fd = OpenUnnamed(folder);
  if (!fd.ok()) return std::move(fd).error();
  return ScratchFile(*fd);
}

ScratchFile::ScratchFile(ScratchFile&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}

ScratchFile& ScratchFile::operator=(ScratchFile&& other) noexcept {
  std::swap(fd_, other.fd_);
  return *this;
}

ScratchFile::~ScratchFile() {
  if (fd_ >= 0) close(fd_);
}

Status ScratchFile::ReadAt(uint64_t offset, void* buffer, size_t bytes) const {
  auto* out = static_cast<uint8_t*>(buffer);
  while (bytes > 0) {
    const ssize_t got = pread(fd_, out, bytes, static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) {
      return Error("scratch-file", std::string("cannot read a scratch file: ") +
                                       (got < 0 ? std::strerror(errno) : "it is cut short"));
    }
    out += got;
    offset += static_cast<uint64_t>(got);
    bytes -= static_cast<size_t>(got);
  }
  return {};
}

Diagnostic WriteError(int code) {
  Diagnostic error = Error("write-failed", std::string("cannot write: ") + std::strerror(code));
  if (code == ENOSPC || code == EDQUOT) {
    error.name = "no-space";
    error.Help("free some space, or write to another disk");
  } else if (code == EFBIG) {
    error.Help("the file system or `ulimit -f` sets a limit on the size of files: write shards");
  } else {
    error.Help("the disk or the network that it lies on may have failed: try again");
  }
  return error;
}

Status WriteAt(int fd, uint64_t offset, const void* bytes, size_t size) {
  const auto* from = static_cast<const uint8_t*>(bytes);
  while (size > 0) {
    const ssize_t put = pwrite(fd, from, size, static_cast<off_t>(offset));
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return WriteError(errno);
    from += put;
    offset += static_cast<uint64_t>(put);
    size -= static_cast<size_t>(put);
  }
  return {};
}

}  // namespace rekey
