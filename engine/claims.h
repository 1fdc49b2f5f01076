// Who claims what in one pass: `map keep drop merge split` and `else` on its edited keys.
//
// Every key goes to the first rule whose pattern fits and whose guard holds. Merges wait until all
// of their keys are known, then claim complete groups and hand the others on, so that the outcome
// does not depend on the order of the keys.
//
//   Claims claims(&journey, 0, keys);
//   std::vector<LiveKey> out = claims.Run();
//   claims.fits()                           // for lints: what each rule saw
#ifndef REKEY_ENGINE_CLAIMS_H_
#define REKEY_ENGINE_CLAIMS_H_

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/captures.h"
#include "engine/key_index.h"
#include "engine/live_keys.h"
#include "engine/merge_groups.h"
#include "engine/rule_set.h"

namespace rekey {

// What a rule saw of the keys, for the lints on rules that claim nothing.
struct RuleFit {
  uint64_t fits = 0;         // keys that its pattern fits
  uint64_t guard_false = 0;  // of them, those at whose turn the guard did not hold
  uint64_t taken = 0;        // of them, those that an earlier rule claimed
  std::string_view taken_key;
  int taker = -1;  // the rule that claimed the first of these
  uint64_t incomplete = 0;
  std::string incomplete_why;  // of the first: "`a.weight`: the group lacks `a.scale`"
};

class Claims {
 public:
  // `keys` must outlive the object.
  Claims(Journey* journey, int pass, const std::vector<LiveKey>& keys);

  std::vector<LiveKey> Run();

  const std::vector<RuleFit>& fits() const { return fits_; }
  const std::vector<uint32_t>& refused() const { return refused_; }  // by `else error`

 private:
  struct Waiting {
    uint32_t item;
    std::vector<int> ids;
    size_t at;  // the candidate that is waited for
  };
  enum class Guard { kHolds, kFails, kBroken };

  RuleRef Ref(int rule) const { return {pass_number_, rule}; }
  const Rule& RuleOf(int id) const { return pass_.rules[static_cast<size_t>(rule_of_[id])]; }
  const Captures& PatternOf(int id) const { return captures_[static_cast<size_t>(id)]; }
  std::optional<uint32_t> Find(std::string_view key);

  void Decide(uint32_t item, const std::vector<int>& ids, size_t from);
  Guard CheckGuard(uint32_t item, int id, std::vector<std::string_view>* variables);
  void NoteTaken(uint32_t item, const std::vector<int>& ids, size_t winner);

  void Claim(uint32_t item, int id);
  void Drop(uint32_t item, int rule, const Env& env);
  void Map(uint32_t item, int rule, const Env& env);
  void Split(uint32_t item, int rule, std::vector<std::string_view> variables);
  void SplitTargets(uint32_t item, int rule, size_t level, const PieceTree& tree,
                    std::vector<std::string_view>* variables, const std::vector<int64_t>& begins);
  void Else(uint32_t item);

  void Merge(int rule);
  void MakeMerged(int rule, MergeGroup group);

  void Put(uint32_t item, std::string_view key, TensorId tensor, int rule);
  void Example(int rule, const std::vector<uint32_t>& sources, std::string_view target,
               TensorId tensor);
  void Tell(Event::Kind kind, uint32_t item, Span where, std::string after, std::string note);
  std::string_view Keep(std::string_view text, uint32_t item);  // where it stays

  Journey* journey_;
  int pass_number_;
  const Pass& pass_;
  const std::vector<LiveKey>& keys_;
  std::vector<const KeyPattern*> patterns_;  // of all sources of all rules
  std::vector<int> rule_of_;                 // by pattern
  std::vector<uint32_t> source_of_;          // by pattern: which source of its rule
  std::vector<Captures> captures_;           // by pattern
  RuleSet set_;
  std::optional<KeyIndex> index_;  // of keys_, made when first asked
  std::function<bool(std::string_view)> has_;
  std::vector<std::vector<Waiting>> waiting_;  // by rule
  std::vector<RuleFit> fits_;
  std::vector<uint32_t> refused_;
  std::vector<std::string_view> variables_;  // scratch
  std::vector<LiveKey> out_;
  std::string text_;  // scratch
};

}  // namespace rekey

#endif  // REKEY_ENGINE_CLAIMS_H_
