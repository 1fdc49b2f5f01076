// The compiler behind Compile (compile.h), in the two steps that tests take one by one.
//
// BuildProgram does all of it; Compile then refuses what this release does not run.
#ifndef REKEY_ENGINE_COMPILER_H_
#define REKEY_ENGINE_COMPILER_H_

#include <memory>
#include <string>

#include "engine/compile.h"

namespace rekey {

Compiled BuildProgram(std::shared_ptr<const ast::File> file, const CompileOptions& options);

}  // namespace rekey

#endif  // REKEY_ENGINE_COMPILER_H_
