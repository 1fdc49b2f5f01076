#include "engine/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>
#include <vector>

#include "grammar/suggest.h"

namespace rekey {
namespace {

std::string Quoted(const std::string& text) { return "`" + text + "`"; }

// The missing file's nearest neighbours in its folder, as a way out.
Diagnostic MissingFile(const std::string& path) {
  Diagnostic error = Error("missing-file", "there is no file " + Quoted(path));
  const std::filesystem::path wanted(path);
  const std::filesystem::path folder =
      wanted.has_parent_path() ? wanted.parent_path() : std::filesystem::path(".");
  std::error_code code;
  if (!std::filesystem::is_directory(folder, code)) {
    return error.Note("its folder " + Quoted(folder.string()) + " does not exist either")
        .Help("check the path");
  }
  std::vector<std::string> names;
  std::filesystem::directory_iterator it(folder, code);
  for (; !code && it != std::filesystem::directory_iterator(); it.increment(code)) {
    names.push_back(it->path().filename().string());
  }
  std::sort(names.begin(), names.end());
  const std::vector<std::string_view> candidates(names.begin(), names.end());
  const std::string name = wanted.filename().string();
  for (std::string_view near : Nearest(name, candidates)) {
    error.Help("did you mean " + Quoted((wanted.parent_path() / near).string()) + "?");
  }
  if (error.helps.empty()) error.Help("check the path: no name in its folder is like it");
  return error;
}

Diagnostic CannotOpen(const std::string& path, int code) {
  if (code == ENOENT || code == ENOTDIR) return MissingFile(path);
  Diagnostic error =
      Error("unreadable-file", "cannot open " + Quoted(path) + ": " + std::strerror(code));
  if (code == EACCES) error.Help("check the permissions of the file and of its folders");
  return error;
}

Diagnostic Changed(const std::string& path) {
  return Error("file-changed",
               Quoted(path) + " has changed since its header was read, so its bytes may be others")
      .Help("run again when nothing else writes to it");
}

}  // namespace

Result<InputFile> InputFile::Open(const std::string& path, const std::string& name) {
  // O_NONBLOCK: opening a pipe must not wait for somebody to write into it.
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return CannotOpen(path, errno);
  InputFile file;
  file.fd_ = fd;
  struct stat status;
  if (fstat(fd, &status) != 0) return CannotOpen(path, errno);
  if (S_ISDIR(status.st_mode)) {
    return Error("not-a-file", Quoted(path) + " is a folder, not a file").Help("name a file in it");
  }
  if (!S_ISREG(status.st_mode)) {
    return Error("not-a-file", Quoted(path) + " is not a regular file")
        .Note("a checkpoint is read at many places, so it cannot come through a pipe or a device")
        .Help("write it to a file first");
  }
  file.info_.path = path;
  file.info_.name = name.empty() ? std::filesystem::path(path).filename().string() : name;
  file.info_.size = static_cast<uint64_t>(status.st_size);
  file.info_.device = status.st_dev;
  file.info_.inode = status.st_ino;
  file.info_.mtime_ns =
      int64_t{status.st_mtim.tv_sec} * 1'000'000'000 + int64_t{status.st_mtim.tv_nsec};
  return file;
}

Result<InputFile> InputFile::Reopen(const FileInfo& info) {
  Result<InputFile> file = Open(info.path, info.name);
  if (!file.ok()) return file;
  const FileInfo& now = file->info();
  if (now.size != info.size || now.device != info.device || now.inode != info.inode ||
      now.mtime_ns != info.mtime_ns) {
    return Changed(info.path);
  }
  return file;
}

InputFile::InputFile(InputFile&& other) noexcept
    : info_(std::move(other.info_)), fd_(std::exchange(other.fd_, -1)) {}

InputFile& InputFile::operator=(InputFile&& other) noexcept {
  if (this == &other) return *this;
  if (fd_ >= 0) close(fd_);
  info_ = std::move(other.info_);
  fd_ = std::exchange(other.fd_, -1);
  return *this;
}

InputFile::~InputFile() {
  if (fd_ >= 0) close(fd_);
}

Status InputFile::ReadAt(uint64_t offset, void* buffer, size_t bytes) const {
  if (offset > info_.size || bytes > info_.size - offset) {
    return Error("truncated-file", Quoted(info_.path) + " is cut short: " + std::to_string(bytes) +
                                       " bytes at offset " + std::to_string(offset) +
                                       " are needed, it has " + std::to_string(info_.size) +
                                       " in all")
        .Help("download or copy it again");
  }
  char* out = static_cast<char*>(buffer);
  while (bytes > 0) {
    const ssize_t got = pread(fd_, out, bytes, static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) {
      return Error("unreadable-file",
                   "cannot read " + Quoted(info_.path) + ": " + std::strerror(errno))
          .Help("the disk or the network that it lies on may have failed: try again, or copy it");
    }
    if (got == 0) return Changed(info_.path);  // it was longer when it was opened
    out += got;
    offset += static_cast<uint64_t>(got);
    bytes -= static_cast<size_t>(got);
  }
  return {};
}

Result<std::string> InputFile::ReadText(uint64_t offset, uint64_t bytes) const {
  std::string text;
  if (offset <= info_.size && bytes <= info_.size - offset) text.resize(bytes);
  Status read = ReadAt(offset, text.data(), bytes);
  if (!read.ok()) return std::move(read).error();
  return text;
}

}  // namespace rekey
