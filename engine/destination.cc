#include "engine/destination.h"

#include <fcntl.h>
#include <linux/fs.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <map>
#include <set>
#include <utility>

#include "engine/formats/format.h"
#include "engine/work.h"

namespace rekey {
namespace {

namespace fs = std::filesystem;

std::string Quoted(const std::string& text) { return "`" + text + "`"; }

std::string ParentOf(const std::string& path) {
  const fs::path parent = fs::path(path).parent_path();
  return parent.empty() ? "." : parent.string();
}

// Without slashes at the end, so that it has a name and a parent.
std::string Trimmed(std::string path) {
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  return path;
}

std::string Size(uint64_t bytes) {
  constexpr const char* kUnits[] = {"bytes", "kB", "MB", "GB", "TB", "PB"};
  double value = static_cast<double>(bytes);
  size_t unit = 0;
  while (value >= 1000 && unit + 1 < std::size(kUnits)) {
    value /= 1000;
    ++unit;
  }
  char text[64];
  std::snprintf(text, sizeof text, unit == 0 ? "%.0f %s" : "%.1f %s", value, kUnits[unit]);
  return text;
}

// An error of `path` by errno, as WriteError with the name.
Diagnostic Failed(const std::string& what, const std::string& path, int code) {
  Diagnostic error = WriteError(code);
  error.message = "cannot " + what + " " + Quoted(path) + ": " + std::strerror(code);
  if (code == EACCES || code == EPERM || code == EROFS) {
    error.name = "unwritable-folder";
    error.helps = {"choose another place for the output, or change the folder's permissions"};
  }
  return error;
}

bool Exists(const std::string& path, struct stat* status) {
  return lstat(path.c_str(), status) == 0;
}

Diagnostic OutputExists(const std::string& path) {
  return Error("output-exists", Quoted(path) + " exists already")
      .Help("name another output, or replace it: --force");
}

// A file that a run may have written.
bool IsOutputOfRun(const fs::path& path) {
  const std::string name = path.filename().string();
  if (name.ends_with(".index.json")) return true;
  for (const Writer& writer : Writers()) {
    for (const char* extension : writer.extensions) {
      if (name.ends_with(extension)) return true;
    }
  }
  return false;
}

bool SyncFolder(const std::string& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return false;
  const bool synced = fsync(fd) == 0 || errno == EINVAL;  // some file systems have no such thing
  close(fd);
  return synced;
}

// Renames without replacing, where the file system can say that in one step.
int RenameNew(const std::string& from, const std::string& to) {
  if (renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0) return 0;
  if (errno != EINVAL && errno != ENOSYS) return errno;
  struct stat status;
  if (Exists(to, &status)) return EEXIST;
  return rename(from.c_str(), to.c_str()) == 0 ? 0 : errno;
}

}  // namespace

Destination::Fd::Fd(Fd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}

Destination::Fd& Destination::Fd::operator=(Fd&& other) noexcept {
  std::swap(fd_, other.fd_);
  return *this;
}

Destination::Fd::~Fd() {
  if (fd_ >= 0) close(fd_);
}

Destination::Destination(const Placed& placed, bool force)
    : placed_(&placed), force_(force), out_(Trimmed(placed.out)) {
  if (placed.folder) {
    // Through symbolic links, and `.`: the folder itself is renamed.
    std::error_code code;
    const fs::path real = fs::weakly_canonical(out_, code);
    if (!code) out_ = Trimmed(real.string());
  }
  parent_ = ParentOf(out_);
}

Result<Destination> Destination::Open(const Placed& placed, const Catalog& catalog, bool force) {
  Destination out(placed, force);
  Status status = out.CheckInputs(catalog);
  if (status.ok() && placed.folder) status = out.CheckFolder();
  for (const PlacedFile& file : placed.files) {
    if (status.ok() && !placed.folder) status = out.CheckFile(file.path);
  }
  if (status.ok() && !placed.folder && !placed.index_path.empty()) {
    status = out.CheckFile(placed.index_path);
  }
  if (status.ok()) status = out.CheckParent();
  if (status.ok()) status = out.CheckSpace();
  if (!status.ok()) return std::move(status).error();
  return out;
}

// By identity, so that links of both kinds are seen through.
Status Destination::CheckInputs(const Catalog& catalog) const {
  std::map<std::pair<uint64_t, uint64_t>, std::string> inputs;
  for (const FileInfo& file : catalog.files) inputs[{file.device, file.inode}] = file.path;
  std::vector<std::string> outputs = {out_};
  for (const PlacedFile& file : placed_->files) outputs.push_back(file.path);
  if (!placed_->index_path.empty()) outputs.push_back(placed_->index_path);
  if (placed_->folder) {
    std::error_code code;
    for (fs::recursive_directory_iterator it(out_, code), end; !code && it != end;
         it.increment(code)) {
      outputs.push_back(it->path().string());
    }
  }
  for (const std::string& path : outputs) {
    struct stat status;
    if (stat(path.c_str(), &status) != 0) continue;
    const auto input = inputs.find({status.st_dev, status.st_ino});
    if (input == inputs.end()) continue;
    Diagnostic error = Error("output-is-input", Quoted(path) + " is one of the files that are read")
                           .Help("write to another name: inputs are never overwritten");
    if (input->second != path) error.Note("it is the same file as " + Quoted(input->second));
    return error;
  }
  return {};
}

Status Destination::CheckFile(const std::string& path) const {
  struct stat status;
  if (!Exists(path, &status)) return {};
  if (S_ISDIR(status.st_mode)) {
    return Error("output-is-folder", Quoted(path) + " is a folder, and the output is one file")
        .Help("name a file in it, or write shards into it: --max-shard-size");
  }
  if (!S_ISREG(status.st_mode) && !S_ISLNK(status.st_mode)) {
    return Error("output-is-no-file", Quoted(path) + " is a device or a pipe, not a file")
        .Help("a checkpoint is written at many places: name a file");
  }
  if (!force_) return OutputExists(path);
  return {};
}

Status Destination::CheckFolder() const {
  struct stat status;
  if (!Exists(out_, &status)) return {};
  if (!S_ISDIR(status.st_mode)) {
    return Error("output-is-file", Quoted(out_) + " is a file, and the output is a folder")
        .Help("name another output, or remove it");
  }
  std::error_code code;
  if (fs::is_empty(out_, code)) return {};
  if (!force_) return OutputExists(out_);
  // The folder is replaced as a whole: nothing else may be lost with it.
  for (fs::recursive_directory_iterator it(out_, code), end; !code && it != end;
       it.increment(code)) {
    if (it->is_directory(code) && !it->is_symlink(code)) continue;
    if (IsOutputOfRun(it->path())) continue;
    return Error("folder-holds-others", Quoted(out_) + " would be replaced as a whole, and " +
                                            Quoted(it->path().string()) + " is no checkpoint")
        .Help("write to a new folder, or move the other files away first");
  }
  if (code) return Failed("list", out_, code.value());
  return {};
}

Status Destination::CheckParent() const {
  std::set<std::string> parents = {parent_};
  if (!placed_->folder) {
    for (const PlacedFile& file : placed_->files) parents.insert(ParentOf(file.path));
  }
  for (const std::string& parent : parents) {
    struct stat status;
    if (stat(parent.c_str(), &status) != 0 || !S_ISDIR(status.st_mode)) {
      return Error("missing-folder", "there is no folder " + Quoted(parent) + " to write " +
                                         Quoted(fs::path(out_).filename().string()) + " into")
          .Help("make it first: mkdir -p " + parent);
    }
    if (access(parent.c_str(), W_OK | X_OK) != 0) return Failed("write into", parent, errno);
  }
  return {};
}

Status Destination::CheckSpace() const {
  struct statvfs disk;
  if (statvfs(parent_.c_str(), &disk) != 0) return {};  // it cannot say: writing will
  uint64_t needed = placed_->index_text.size();
  for (const PlacedFile& file : placed_->files) needed += file.layout.size;
  const uint64_t free = uint64_t{disk.f_bavail} * disk.f_frsize;
  if (disk.f_blocks == 0 || needed <= free) return {};
  return Error("no-space", Quoted(placed_->out) + " takes " + Size(needed) + " (" +
                               std::to_string(needed) + " bytes), its disk has " + Size(free) +
                               " (" + std::to_string(free) + " bytes) left")
      .Note("the output is written beside an existing one, which is replaced at the end")
      .Help("free some space, or write to another disk");
}

std::string Destination::PlaceFor(const std::string& path) const {
  if (!placed_->folder) return TemporaryName(path);
  const fs::path relative = fs::path(path).lexically_relative(Trimmed(placed_->out));
  return (fs::path(folders_[0].path()) / relative).string();
}

// The temporary folder, and those in it that the files need.
Status Destination::MakeFolders() {
  folders_.emplace_back(Temporary::Kind::kFolder, TemporaryName(out_));
  const std::string root = folders_[0].path();
  if (mkdir(root.c_str(), 0777) != 0) return Failed("make the folder", root, errno);
  std::set<std::string> made = {root};
  std::vector<std::string> paths;
  for (const PlacedFile& file : placed_->files) paths.push_back(PlaceFor(file.path));
  if (!placed_->index_path.empty()) paths.push_back(PlaceFor(placed_->index_path));
  for (const std::string& path : paths) {
    std::vector<std::string> missing;  // innermost first
    for (std::string parent = ParentOf(path); !made.contains(parent); parent = ParentOf(parent)) {
      if (parent.size() <= root.size()) {
        return Error("outside-folder", Quoted(path) + " does not lie in " + Quoted(root))
            .Help("name files of the output without `..`");
      }
      missing.push_back(parent);
    }
    for (; !missing.empty(); missing.pop_back()) {
      folders_.emplace_back(Temporary::Kind::kFolder, missing.back());
      if (mkdir(missing.back().c_str(), 0777) != 0) {
        return Failed("make the folder", missing.back(), errno);
      }
      made.insert(missing.back());
    }
  }
  return {};
}

Status Destination::MakeFile(const std::string& path, uint64_t size) {
  Temporary temporary(Temporary::Kind::kFile, PlaceFor(path));
  const std::string place = temporary.path();
  Fd fd(open(place.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
  if (fd.get() < 0) {
    const int code = errno;
    if (code == EEXIST) temporary.Keep();  // somebody else's
    return Failed("make", place, code);
  }
  const int file = fd.get();
  files_.push_back({path, std::move(temporary), std::move(fd)});
  if (size == 0) return {};
  if (fallocate(file, 0, 0, static_cast<off_t>(size)) == 0) return {};
  if (errno == EOPNOTSUPP || errno == ENOSYS || errno == EINVAL) {
    if (ftruncate(file, static_cast<off_t>(size)) == 0) return {};
  }
  Diagnostic error = Failed("make room for", path, errno);
  error.Note("it takes " + std::to_string(size) + " bytes");
  return error;
}

Status Destination::Create() {
  if (placed_->folder) {
    Status made = MakeFolders();
    if (!made.ok()) return made;
  }
  for (const PlacedFile& file : placed_->files) {
    Status made = MakeFile(file.path, file.layout.size);
    if (!made.ok()) return made;
  }
  if (placed_->index_path.empty()) return {};
  Status made = MakeFile(placed_->index_path, placed_->index_text.size());
  if (!made.ok()) return made;
  return WriteAt(files_.back().fd.get(), 0, placed_->index_text.data(), placed_->index_text.size());
}

void Destination::StartWriting(size_t file, uint64_t offset, uint64_t bytes) const {
  // Only a hint: Commit finds out whether it is written.
  (void)sync_file_range(fd(file), static_cast<off_t>(offset), static_cast<off_t>(bytes),
                        SYNC_FILE_RANGE_WRITE);
}

Status Destination::SyncFiles() {
  for (const File& file : files_) {
    if (fsync(file.fd.get()) != 0) return Failed("write", file.path, errno);
  }
  return {};
}

Status Destination::Commit() {
  Status synced = SyncFiles();
  if (!synced.ok()) return synced;
  return placed_->folder ? CommitFolder() : CommitFiles();
}

Status Destination::CommitFiles() {
  std::set<std::string> parents;
  for (File& file : files_) {
    const std::string from = file.temporary.path();
    const int code = force_ ? (rename(from.c_str(), file.path.c_str()) == 0 ? 0 : errno)
                            : RenameNew(from, file.path);
    if (code == EEXIST) return OutputExists(file.path);
    if (code != 0) return Failed("rename the finished file to", file.path, code);
    file.temporary.Keep();
    parents.insert(ParentOf(file.path));
  }
  for (const std::string& parent : parents) {
    if (!SyncFolder(parent)) return Failed("write the folder", parent, errno);
  }
  return {};
}

Status Destination::CommitFolder() {
  for (const Temporary& folder : folders_) {
    if (!SyncFolder(folder.path())) return Failed("write the folder", folder.path(), errno);
  }
  const std::string from = folders_[0].path();
  struct stat status;
  std::error_code ignored;
  const bool replaces = Exists(out_, &status) && !fs::is_empty(out_, ignored);
  if (replaces && !force_) return OutputExists(out_);
  bool exchanged = false;
  if (replaces) {
    exchanged = renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, out_.c_str(), RENAME_EXCHANGE) == 0;
    if (!exchanged && errno != EINVAL && errno != ENOSYS) return Failed("replace", out_, errno);
  }
  // In two steps where the file system cannot exchange.
  std::string old = from;
  if (replaces && !exchanged) {
    old = TemporaryName(out_);
    if (rename(out_.c_str(), old.c_str()) != 0) return Failed("replace", out_, errno);
  }
  if (!exchanged && rename(from.c_str(), out_.c_str()) != 0) {
    const int code = errno;
    if (replaces) (void)rename(old.c_str(), out_.c_str());
    return Failed("rename the finished folder to", out_, code);
  }
  for (Temporary& folder : folders_) folder.Keep();
  for (File& file : files_) file.temporary.Keep();
  if (!SyncFolder(parent_)) return Failed("write the folder", parent_, errno);
  if (replaces) fs::remove_all(old, ignored);
  return {};
}

}  // namespace rekey
