// Proof that tensors which a rule says are equal hold the same bytes: `drop P same as K`, `| same`.
//
// Compared as a stream before anything is written; a tensor whose bytes do not lie as they are in a
// file is first made in an unnamed scratch file. Equal means bit for bit: -0.0 is not 0.0.
//
//   Status equal = CheckMustEqual(plan, scratch_folder);
#ifndef REKEY_ENGINE_MUST_EQUAL_H_
#define REKEY_ENGINE_MUST_EQUAL_H_

#include <string>

#include "engine/plan.h"
#include "engine/status.h"

namespace rekey {

// Error `differs`: names both keys and the first index at which they differ.
Status CheckMustEqual(const Plan& plan, const std::string& scratch_folder);

}  // namespace rekey

#endif  // REKEY_ENGINE_MUST_EQUAL_H_
