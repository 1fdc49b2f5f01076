// What the language has and this release does not run yet.
//
// Such constructs are parsed, printed and compiled like all others, so that their mistakes are
// found; a program that holds them is refused here, and only here.
#ifndef REKEY_ENGINE_REFUSE_H_
#define REKEY_ENGINE_REFUSE_H_

#include "engine/program.h"
#include "grammar/diagnostic.h"

namespace rekey {

// One error for each: merge, split, operations, fill.
Diagnostics RefuseUnsupported(const Program& program);

}  // namespace rekey

#endif  // REKEY_ENGINE_REFUSE_H_
