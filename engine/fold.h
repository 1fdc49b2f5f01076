// Fewer boxes for the same bytes: what a person would have drawn.
//
// Joins made of many slices, or of pieces of one tensor, leave boxes side by side that one larger
// box describes. Folding finds them in two ways, until nothing changes: boxes alike that repeat at
// equal distances in source and target become one with a digit more; two neighbours that continue
// each other along a digit become one. Without it the number of pieces grows with the model.
//
//   boxes at index 0, 8, 16 from bits 0, 64, 128   // one box with a digit (3, step 8, stride 64)
#ifndef REKEY_ENGINE_FOLD_H_
#define REKEY_ENGINE_FOLD_H_

#include <vector>

#include "engine/affine.h"

namespace rekey {

// The boxes have one axis, and their digits are normal (Normalize). The result is sorted by start.
void FoldBoxes(std::vector<Box>* boxes);

}  // namespace rekey

#endif  // REKEY_ENGINE_FOLD_H_
