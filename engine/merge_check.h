// The structure of merge and split: what `by` may join, and how many operations must join or cut.
//
// With a list of sources and `by`, the list is the inner level: the first joining operation joins
// the list, the next ones the `by` holes from the last to the first. Counts are fixed, so that a
// rule reads one way only.
//
//   merge [a.{e:int}.w1, a.{e:int}.w3] -> a by e | cat(0) | stack(0)     // two levels, two joins
#ifndef REKEY_ENGINE_MERGE_CHECK_H_
#define REKEY_ENGINE_MERGE_CHECK_H_

#include <vector>

#include "engine/rule_compile.h"

namespace rekey {

// `outer`: the number of variables that belong to scopes. Errors are reported.
std::vector<Join> CompileBy(const ast::Rule& tree, const Holes& holes, size_t outer,
                            const BindPlace& place, const CompileContext& context);

// Whatever can be said of the operations, sources and targets of a rule without any key.
void CheckStructure(const ast::Rule& tree, const Rule& rule, const ScopeFrame& frame,
                    const Holes& holes, Diagnostics* diagnostics);

}  // namespace rekey

#endif  // REKEY_ENGINE_MERGE_CHECK_H_
