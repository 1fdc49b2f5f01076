// The operations of a rule on its tensors: `| reshape(2, -1) | cat(1)`.
//
// Operations run left to right. In a merge each reducing operation joins one level, innermost
// first, and those before it work on each piece; in a split each expanding operation opens one
// level, outermost first. Arguments are evaluated for the tensor that the operation receives. Only
// types are computed: nothing is read.
//
//   Result<TensorId> t = ApplyEach(&graph, rule.ops, 0, rule.ops.size(), tensor, env);
#ifndef REKEY_ENGINE_APPLY_OPS_H_
#define REKEY_ENGINE_APPLY_OPS_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "engine/graph.h"
#include "engine/program.h"
#include "engine/status.h"

namespace rekey {

// The arguments of `call` for a tensor of that type, in parameter order.
Result<OpArgs> EvaluateArgs(const OpCall& call, const TensorType& type, Env env);

// One-to-one operations ops[begin..end) on one tensor.
Result<TensorId> ApplyEach(TensorGraph* graph, const std::vector<OpCall>& ops, size_t begin,
                           size_t end, TensorId tensor, const Env& env);

// What is merged: a tensor at a leaf, else the pieces in order, all of one depth.
struct PieceTree {
  TensorId tensor = 0;
  std::string_view key;  // of a leaf
  std::vector<PieceTree> pieces;
};

// Called for each `same`: its tensors must be equal.
using SameFunction = std::function<void(std::vector<TensorId> tensors,
                                        std::vector<std::string_view> keys, Span where)>;

// Reduces the tree with `ops`. Errors: as many reducing operations as levels are needed.
Result<TensorId> Reduce(TensorGraph* graph, const std::vector<OpCall>& ops, const PieceTree& tree,
                        const Env& env, const SameFunction& same);

// How many pieces an expanding operation yields on a tensor when no range or list says so.
Result<uint32_t> PiecesOf(const OpCall& call, const TensorType& type, const Env& env);

// Expands `tensor`, one level for each entry of `counts` (0: the number comes from the shape). The
// leaves are PieceTree leaves without keys.
Result<PieceTree> Expand(TensorGraph* graph, const std::vector<OpCall>& ops, TensorId tensor,
                         const std::vector<uint32_t>& counts, const Env& env);

}  // namespace rekey

#endif  // REKEY_ENGINE_APPLY_OPS_H_
