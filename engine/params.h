// The declarations of a rule file - param, let, table, require - evaluated in file order.
//
// A param's value comes from `with` (tests), else `-p`, else its own expression, which may be
// meta("..."). One without any stays missing: Code that asks for it when it is evaluated. A let
// over a missing param is missing too.
//
//   DeclareAll(whole, options, MetaSource{options.catalog, false}, &names, &params, &diagnostics);
#ifndef REKEY_ENGINE_PARAMS_H_
#define REKEY_ENGINE_PARAMS_H_

#include <vector>

#include "engine/bind.h"
#include "engine/compile.h"
#include "engine/include.h"
#include "engine/names.h"

namespace rekey {

void DeclareAll(const Spliced& whole, const CompileOptions& options, MetaSource meta, Names* names,
                std::vector<ParamInfo>* params, Diagnostics* diagnostics);

}  // namespace rekey

#endif  // REKEY_ENGINE_PARAMS_H_
