// Which of many patterns match a key: all of them in one pass over the key.
//
// Patterns with holes go into one anchored RE2::Set, literal ones into a hash table, so that two
// hundred rules cost little more than one. It finds who matches; captures are KeyPattern::Match,
// for the winner only, and who wins is the caller's business: lowest number first. Should the set
// run out of memory, the patterns are tried one by one: slower, never "no match".
//
//   RuleSet set({&pattern_a, &pattern_b});
//   std::vector<int> ids;
//   set.Match("layers.0.weight", &ids);    // {1}
#ifndef REKEY_ENGINE_RULE_SET_H_
#define REKEY_ENGINE_RULE_SET_H_

#include <re2/set.h>

#include <cstdint>
#include <memory>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "engine/pattern.h"

namespace rekey {

class RuleSet {
 public:
  // What the set's automata may take. It is a bound, not a cost: the usual set needs a few MB.
  static constexpr int64_t kMemory = int64_t{64} << 20;

  // The patterns must outlive the set; their numbers are their places in the list.
  explicit RuleSet(const std::vector<const KeyPattern*>& patterns, int64_t memory = kMemory);

  // The numbers of all patterns that match the whole key, ascending.
  void Match(std::string_view key, std::vector<int>* ids) const;

 private:
  void MatchOneByOne(std::string_view key, std::vector<int>* ids) const;

  std::vector<const KeyPattern*> patterns_;
  std::unordered_map<std::string_view, std::vector<int>> literals_;
  std::vector<int> open_;               // numbers of the patterns in the set, in its order
  std::unique_ptr<re2::RE2::Set> set_;  // null: it would not fit, or there is none to try
};

}  // namespace rekey

#endif  // REKEY_ENGINE_RULE_SET_H_
