// strip and rename: what edits do to the text of one key.
//
// Edits cut at segment ends only. A place in a key is a segment end if it is the start or the end
// of the key, or if `.` or `/` stands on one of its sides; so `mlp_module.` survives
// `strip "module."`, and `weight_gate` survives `rename weight_g -> original0`. No edit leaves an
// empty key: one that would is not made. An Editor is built once a pass; it claims nothing and
// knows nothing of other keys.
//
//   Editor editor(pass.edits);                              // strip "module."
//   std::string scratch;
//   Result<std::string_view> key = editor.Apply(0, "module.fc.w", &scratch);  // "fc.w"
#ifndef REKEY_ENGINE_EDIT_H_
#define REKEY_ENGINE_EDIT_H_

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/program.h"
#include "engine/status.h"

namespace rekey {

class Editor {
 public:
  // The edits must outlive the editor.
  explicit Editor(const std::vector<Edit>& edits);
  ~Editor();

  size_t size() const { return edits_.size(); }
  const Edit& edit(size_t i) const { return *edits_[i]; }

  // The key after edit `i` alone. The result is `key` itself or a part of it where that is
  // possible (strip, strip all, strip suffix: nothing is allocated), else it lies in `scratch`,
  // which must not hold `key`. Errors: those of a rename's target.
  Result<std::string_view> Apply(size_t i, std::string_view key, std::string* scratch) const;

 private:
  class RunFinder;  // finds the runs of a rename
  std::vector<const Edit*> edits_;
  std::vector<std::unique_ptr<RunFinder>> finders_;  // of renames that are not literal
};

// True if a segment between dots is empty: a leading, trailing or doubled `.`.
bool HasEmptySegment(std::string_view key);

}  // namespace rekey

#endif  // REKEY_ENGINE_EDIT_H_
