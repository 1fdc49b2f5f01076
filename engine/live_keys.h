// The keys that are on their way through the passes, and what has been said about them.
//
// A pass takes a list of LiveKeys and puts out another. A Journey is what all passes share: the
// result under construction, the account of touched and dropped keys, and `explain`'s watch. It
// decides nothing: which rule takes a key is claim.h's business.
#ifndef REKEY_ENGINE_LIVE_KEYS_H_
#define REKEY_ENGINE_LIVE_KEYS_H_

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/rewrite.h"

namespace rekey {

struct LiveKey {
  std::string_view key;  // as it stands now
  TensorId tensor = 0;
  RuleRef by;            // the last rule that claimed it
  int edit = -1;         // the last edit of this pass that changed it
  bool claimed = false;  // by a rule of any pass
  uint32_t place = 0;    // among the pass's input: its own, or its first source's
};

// A key that a pass dropped; whether its sources are lost is known at the end.
struct DropRecord {
  TensorId tensor;
  std::string_view at_key;
  RuleRef by;
};

class Journey {
 public:
  Journey(const Program& program, const Catalog& catalog, const RewriteOptions& options,
          const std::vector<bool>* watched);

  const Program& program;
  const RewriteOptions& options;
  Rewritten out;
  std::vector<DropRecord> drops;

  void Touch(TensorId tensor);
  bool IsTouched(uint32_t entry) const { return touched_[entry]; }

  // For messages: "`module.fc.w`", "`a.0` and 3 more keys".
  std::string SourceName(TensorId tensor) const;
  // The catalog's key, or the key as it stands when the tensor has several sources.
  std::string_view SourceKey(const LiveKey& key) const;

  bool IsWatched(TensorId tensor) const;
  void Record(Event event);

  // Adds an error; of errors with the same name at the same place only the first is kept, with a
  // count of the others.
  void AddError(Diagnostic error);
  void Add(Diagnostic diagnostic) { out.diagnostics.push_back(std::move(diagnostic)); }
  // Writes the counts of AddError into the notes.
  void FinishErrors();

 private:
  using Place = std::pair<std::string, std::pair<const Source*, uint32_t>>;
  std::map<Place, std::pair<size_t, size_t>> errors_;  // index into diagnostics, repetitions
  std::vector<bool> touched_;
  const std::vector<bool>* watched_;  // by entry; null: nothing is watched
};

std::string Quoted(std::string_view text);  // "`text`"
std::string CountKeys(uint64_t count);      // "1 key", "12 keys"

}  // namespace rekey

#endif  // REKEY_ENGINE_LIVE_KEYS_H_
