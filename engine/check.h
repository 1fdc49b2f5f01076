// `expect` statements against the outputs of a plan: keys, element types, shapes, how many.
//
// It looks at names and types alone. Values (`expect K = [1, 2]`) need weights: they are handed
// back for the caller to compare (selftest.h), or are an error where nobody will.
//
//   Diagnostics found = CheckExpects(program.expects, plan.rewritten, nullptr);
#ifndef REKEY_ENGINE_CHECK_H_
#define REKEY_ENGINE_CHECK_H_

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/program.h"
#include "engine/rewrite.h"

namespace rekey {

// One value to compare: output key, what the rule file says it holds.
struct ExpectedValue {
  uint32_t output = 0;  // index into Rewritten::outputs
  Value value;
  Span span;
};

// Errors, each at its `expect`: a key that is not put out (with the nearest ones), one that must
// not be, a wrong type, shape or number, expressions that fail. `expect error` is not looked at.
Diagnostics CheckExpects(const std::vector<Expect>& expects, const Rewritten& outputs,
                         std::vector<ExpectedValue>* values);

// Runs `body` once for each turn of the loop with the loop's variables set (once with none if there
// is no loop), until it returns false. `for PATTERN` runs over `keys`. Errors: bounds that cannot
// be computed, more than kMaxTurns turns.
constexpr int64_t kMaxTurns = 10'000'000;
Status ForEachTurn(const std::optional<Loop>& loop, const std::vector<std::string_view>& keys,
                   const std::function<bool(const Env&)>& body);

}  // namespace rekey

#endif  // REKEY_ENGINE_CHECK_H_
