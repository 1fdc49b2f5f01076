// Lints on use: rules and edits that did nothing on these keys.
//
// A rule that claims no key is nearly always a mistake: a typo, a hole that is too narrow, an
// earlier rule that takes its keys. Each says which, with near misses over the actual keys. `verb?`
// silences it, `strict` makes it an error.
#ifndef REKEY_ENGINE_USE_LINTS_H_
#define REKEY_ENGINE_USE_LINTS_H_

#include <vector>

#include "engine/claims.h"
#include "engine/live_keys.h"

namespace rekey {

// `keys` as the edits of the pass found them.
void LintEdits(Journey* journey, int pass, const std::vector<LiveKey>& keys);

// `keys` as the rules of the pass found them.
void LintRules(Journey* journey, int pass, const std::vector<LiveKey>& keys,
               const std::vector<RuleFit>& fits);

// The error of `else error` for the keys that no rule claimed.
void ReportRefused(Journey* journey, int pass, const std::vector<LiveKey>& keys,
                   const std::vector<uint32_t>& refused);

}  // namespace rekey

#endif  // REKEY_ENGINE_USE_LINTS_H_
