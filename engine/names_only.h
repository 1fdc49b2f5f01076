// A program reduced to what it does to the name of one key, for the arrow lines of test blocks.
//
// Operations are left out, each member of a merge becomes a map to the merge's target, a split
// becomes a map to one of its targets, guards on shapes and types hold. It is not a plan: no tensor
// has a type.
//
//   NamesOnly names = ReduceToNames(program, 0);      // the first target of every split
//   Rewrite(names.program, catalog_of_one_key, ...)
#ifndef REKEY_ENGINE_NAMES_ONLY_H_
#define REKEY_ENGINE_NAMES_ONLY_H_

#include <cstddef>
#include <vector>

#include "engine/program.h"

namespace rekey {

struct NamesOnly {
  Program program;
  std::vector<std::vector<int>> rules;  // by pass and rule of `program`: the rule it was made of
  // How many different reductions there are: the targets of the largest split.
  size_t choices = 1;
};

NamesOnly ReduceToNames(const Program& program, size_t choice);

}  // namespace rekey

#endif  // REKEY_ENGINE_NAMES_ONLY_H_
