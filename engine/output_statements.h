// `copy`, `tie` and `fill`: what stands after the last pass and makes outputs of outputs.
//
// They run in file order on the outputs as they stand then. A copy or a fill never overwrites; a
// tie names an output that is there. Each error names the key and the statement.
#ifndef REKEY_ENGINE_OUTPUT_STATEMENTS_H_
#define REKEY_ENGINE_OUTPUT_STATEMENTS_H_

#include "engine/live_keys.h"

namespace rekey {

// Appends to journey->out.outputs.
void RunOutputStatements(Journey* journey);

}  // namespace rekey

#endif  // REKEY_ENGINE_OUTPUT_STATEMENTS_H_
