// One pass over the keys: edits, the first rule that fits claims, else, affixes.
//
// Nothing depends on the order of the keys but the order of what comes out: every output stands
// where its first source stood. A merge claims only complete groups; keys it leaves go on to later
// rules. Errors are collected in the journey; what a failed pass puts out has no meaning.
//
//   std::vector<LiveKey> keys = RunPass(&journey, 0, std::move(keys));
#ifndef REKEY_ENGINE_RULE_PASS_H_
#define REKEY_ENGINE_RULE_PASS_H_

#include <vector>

#include "engine/live_keys.h"

namespace rekey {

std::vector<LiveKey> RunPass(Journey* journey, int pass, std::vector<LiveKey> keys);

}  // namespace rekey

#endif  // REKEY_ENGINE_RULE_PASS_H_
