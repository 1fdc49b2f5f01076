// `| name(args)`: the operation looked up, its arguments matched and bound.
//
//   std::optional<OpCall> call = CompileOp(op, place, &context);   // an error is reported
#ifndef REKEY_ENGINE_OP_CALL_H_
#define REKEY_ENGINE_OP_CALL_H_

#include <optional>

#include "engine/bind.h"
#include "engine/program.h"
#include "grammar/ast.h"
#include "grammar/diagnostic.h"

namespace rekey {

// `place` is that of the rule; rank and dim(i) of the tensor are added here.
std::optional<OpCall> CompileOp(const ast::Op& op, BindPlace place, Binder* binder,
                                Diagnostics* diagnostics);

}  // namespace rekey

#endif  // REKEY_ENGINE_OP_CALL_H_
