// Which keys a merge joins: groups of equal holes, each ordered by `by` and then by the list.
//
// `merge [A, B] -> T by e`: the keys that fit A and those that fit B are brought together where the
// holes they share are equal; inside a group the values of e must run from 0 without a gap, or over
// the range that is written. A group that lacks a member is left to later rules, unless that can
// only be a mistake. Names only: nothing here knows a shape.
//
//   MergeResult r = GroupMembers(rule, members, env);
//   r.groups[0].tree     // [[experts.0.w1, experts.0.w3], [experts.1.w1, experts.1.w3]]
#ifndef REKEY_ENGINE_MERGE_GROUPS_H_
#define REKEY_ENGINE_MERGE_GROUPS_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/apply_ops.h"
#include "engine/program.h"
#include "grammar/diagnostic.h"

namespace rekey {

// A key that fits a source of the rule.
struct Membership {
  uint32_t item = 0;    // the caller's number of the key
  uint32_t source = 0;  // into Rule::sources
  std::string_view key;
  TensorId tensor = 0;
  std::vector<std::string_view> variables;  // as KeyPattern::Match gives them
};

struct MergeGroup {
  std::string target;
  std::vector<std::string_view> variables;  // of the rule; joined holes have no meaning
  PieceTree tree;
  std::vector<uint32_t> items;  // ascending
};

struct MergeResult {
  std::vector<MergeGroup> groups;  // in the order of their first keys
  // Keys whose groups lack something, with what they lack: left to later rules.
  std::vector<std::pair<uint32_t, std::string>> incomplete;
  // Gaps, numbers out of range, 2 beside 02, one key in two groups, expressions that fail.
  Diagnostics errors;
};

// `members` in the order of their keys. `env` holds what is not a variable (has).
MergeResult GroupMembers(const Rule& rule, const std::vector<Membership>& members, const Env& env);

}  // namespace rekey

#endif  // REKEY_ENGINE_MERGE_GROUPS_H_
