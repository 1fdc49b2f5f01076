// Where a run's output goes: temporary files beside it, until all of it is moved into place.
//
// Open makes every check that can be made before a byte is written. Create makes the files, at
// their full size. Commit brings them to the disk and gives them their names: a single file by one
// rename, a folder as a whole. Until then nothing is seen of them, and a Destination that is
// dropped removes what it made. It knows no tensors.
//
//   Result<Destination> out = Destination::Open(placed, catalog, force);
//   Status made = out->Create();
//   ... write to out->fd(0) ...
//   Status done = out->Commit();
#ifndef REKEY_ENGINE_DESTINATION_H_
#define REKEY_ENGINE_DESTINATION_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "engine/catalog.h"
#include "engine/plan.h"
#include "engine/status.h"
#include "engine/temporaries.h"

namespace rekey {

class Destination {
 public:
  // Errors: OUT exists (without `force`), is an input, is of another kind (a folder for a file) or
  // holds files that no run writes; a folder that is absent or cannot be written; too little space.
  // `placed` must outlive the destination.
  static Result<Destination> Open(const Placed& placed, const Catalog& catalog, bool force);

  Destination(Destination&&) = default;

  Status Create();

  // Open for reading and writing, one for each of placed.files.
  int fd(size_t file) const { return files_[file].fd.get(); }

  // Lets the disk begin with a range that is finished, so that Commit has little to wait for.
  void StartWriting(size_t file, uint64_t offset, uint64_t bytes) const;

  // The existing folder that everything is made in: for unnamed scratch files.
  const std::string& folder() const { return parent_; }

  Status Commit();

 private:
  class Fd {
   public:
    explicit Fd(int fd = -1) : fd_(fd) {}
    Fd(Fd&& other) noexcept;
    Fd& operator=(Fd&& other) noexcept;
    ~Fd();
    int get() const { return fd_; }

   private:
    int fd_;
  };
  struct File {
    std::string path;  // final
    Temporary temporary;
    Fd fd;
  };

  Destination(const Placed& placed, bool force);
  Status CheckInputs(const Catalog& catalog) const;
  Status CheckFile(const std::string& path) const;
  Status CheckFolder() const;
  Status CheckParent() const;
  Status CheckSpace() const;
  // Where the file with this final path is made.
  std::string PlaceFor(const std::string& path) const;
  Status MakeFolders();
  Status MakeFile(const std::string& path, uint64_t size);
  Status SyncFiles();
  Status CommitFolder();
  Status CommitFiles();

  const Placed* placed_;
  bool force_;
  std::string out_;     // final path of the folder, or of the only file
  std::string parent_;  // its folder
  std::vector<Temporary> folders_;
  std::vector<File> files_;  // as in placed_->files; the index last
};

}  // namespace rekey

#endif  // REKEY_ENGINE_DESTINATION_H_
