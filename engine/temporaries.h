// Files and folders that must not outlive the run.
//
// A Temporary is registered before it is made and removed when it goes out of scope, unless it has
// been kept: renamed to its final name. RemoveTemporaries (execute.h) removes all that are
// registered, from a signal handler. It does not make the file or folder.
//
//   Temporary file(Temporary::Kind::kFile, ".model.pt.rekey-5f0c...");
//   ...                                    // make it, fill it, rename it
//   file.Keep();
#ifndef REKEY_ENGINE_TEMPORARIES_H_
#define REKEY_ENGINE_TEMPORARIES_H_

#include <string>

namespace rekey {

class Temporary {
 public:
  enum class Kind { kFile, kFolder };  // a folder is removed when it is empty

  Temporary(Kind kind, const std::string& path);
  Temporary(Temporary&& other) noexcept;
  Temporary& operator=(Temporary&&) = delete;
  ~Temporary();

  std::string path() const;
  void Keep();

 private:
  struct Node;
  friend void RemoveTemporaries();
  Node* node_;
};

// `.NAME.rekey-` and 16 random digits: a name for a temporary beside `path`.
std::string TemporaryName(const std::string& path);

}  // namespace rekey

#endif  // REKEY_ENGINE_TEMPORARIES_H_
