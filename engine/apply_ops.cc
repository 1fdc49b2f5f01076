#include "engine/apply_ops.h"

#include <limits>
#include <string>
#include <utility>

namespace rekey {
namespace {

// Positions of the operations of that arity.
std::vector<size_t> FindOps(const std::vector<OpCall>& ops, OpArity arity) {
  std::vector<size_t> found;
  for (size_t i = 0; i < ops.size(); ++i)
    if (ops[i].op->arity == arity) found.push_back(i);
  return found;
}

Result<TensorId> ApplyOne(TensorGraph* graph, const OpCall& call, std::vector<TensorId> inputs,
                          const Env& env) {
  Result<OpArgs> args = EvaluateArgs(call, graph->type(inputs[0]), env);
  if (!args.ok()) return std::move(args).error();
  Result<std::vector<TensorId>> made =
      graph->Apply(*call.op, *std::move(args), std::move(inputs), call.span);
  if (!made.ok()) return std::move(made).error();
  return (*made)[0];
}

std::string_view FirstKey(const PieceTree& tree) {
  const PieceTree* leaf = &tree;
  while (!leaf->pieces.empty()) leaf = &leaf->pieces[0];
  return leaf->key;
}

class Reducer {
 public:
  Reducer(TensorGraph* graph, const std::vector<OpCall>& ops, const Env& env,
          const SameFunction& same)
      : graph_(graph),
        ops_(ops),
        env_(env),
        same_(same),
        reducing_(FindOps(ops, OpArity::kManyToOne)) {}

  // `level` counts from the outermost, which the last reducing operation joins.
  Result<TensorId> Run(const PieceTree& tree, size_t level) {
    if (level == reducing_.size()) return Segment(level, tree.tensor);
    std::vector<TensorId> tensors;
    std::vector<std::string_view> keys;
    for (const PieceTree& piece : tree.pieces) {
      Result<TensorId> tensor = Run(piece, level + 1);
      if (!tensor.ok()) return tensor;
      tensors.push_back(*tensor);
      keys.push_back(FirstKey(piece));
    }
    const OpCall& call = ops_[reducing_[reducing_.size() - 1 - level]];
    Result<TensorId> joined = ApplyOne(graph_, call, tensors, env_);
    if (!joined.ok()) {
      Diagnostic error = std::move(joined).error();
      std::string list;
      for (size_t i = 0; i < tensors.size() && i < 4; ++i)
        list +=
            (i ? ", `" : "`") + std::string(keys[i]) + "` " + ToString(graph_->type(tensors[i]));
      if (tensors.size() > 4) list += " and " + std::to_string(tensors.size() - 4) + " more";
      return error.Note("joined here: " + list);
    }
    if (std::string_view(call.op->name) == "same" && tensors.size() > 1)
      same_(std::move(tensors), std::move(keys), call.span);
    return Segment(level, *joined);
  }

 private:
  // The one-to-one operations that follow the joining of `level`.
  Result<TensorId> Segment(size_t level, TensorId tensor) {
    const size_t count = reducing_.size();
    const size_t begin = level == count ? 0 : reducing_[count - 1 - level] + 1;
    const size_t end = level == 0 ? ops_.size() : reducing_[count - level];
    return ApplyEach(graph_, ops_, begin, end, tensor, env_);
  }

  TensorGraph* graph_;
  const std::vector<OpCall>& ops_;
  const Env& env_;
  const SameFunction& same_;
  std::vector<size_t> reducing_;
};

size_t Depth(const PieceTree& tree) {
  size_t depth = 0;
  for (const PieceTree* t = &tree; !t->pieces.empty(); t = &t->pieces[0]) ++depth;
  return depth;
}

}  // namespace

Result<OpArgs> EvaluateArgs(const OpCall& call, const TensorType& type, Env env) {
  env.tensor = &type;
  std::vector<Value> values;
  for (const Code& code : call.args) {
    Result<Value> value = code.Evaluate(env);
    if (!value.ok()) return std::move(value).error();
    values.push_back(*std::move(value));
  }
  Result<OpArgs> args = BindArgs(*call.op, call.matched, values);
  if (!args.ok() && !args.error().primary.span) return std::move(args).error().At(call.span);
  return args;
}

Result<TensorId> ApplyEach(TensorGraph* graph, const std::vector<OpCall>& ops, size_t begin,
                           size_t end, TensorId tensor, const Env& env) {
  for (size_t i = begin; i < end; ++i) {
    Result<TensorId> next = ApplyOne(graph, ops[i], {tensor}, env);
    if (!next.ok()) return next;
    tensor = *next;
  }
  return tensor;
}

Result<TensorId> Reduce(TensorGraph* graph, const std::vector<OpCall>& ops, const PieceTree& tree,
                        const Env& env, const SameFunction& same) {
  const size_t levels = Depth(tree), reducing = FindOps(ops, OpArity::kManyToOne).size();
  if (levels != reducing)
    return Error("reducing-operations", "this merge joins " + std::to_string(levels) +
                                            " levels and has " + std::to_string(reducing) +
                                            " operations that join")
        .At(ops.empty() ? Span() : ops.back().span)
        .Help("one for the list, then one for each `by`: `| cat(0) | stack(0)`");
  return Reducer(graph, ops, env, same).Run(tree, 0);
}

Result<uint32_t> PiecesOf(const OpCall& call, const TensorType& type, const Env& env) {
  Result<OpArgs> args = EvaluateArgs(call, type, env);
  if (!args.ok()) return std::move(args).error();
  const std::string_view name = call.op->name;
  uint64_t count = 0;
  if (name == "sections") {
    if (const ValueList* sizes = (*args)[1].list()) count = sizes->size();
  } else if (name == "unstack") {
    int64_t d = (*args)[0].integer() ? *(*args)[0].integer() : 0;
    const int64_t rank = static_cast<int64_t>(type.shape.size());
    if (d < 0) d += rank;
    if (d < 0 || d >= rank)
      return Error("op-dimension", "`unstack` asks for dimension " + std::to_string(d) +
                                       " of a tensor " + ToString(type))
          .At(call.span);
    count = static_cast<uint64_t>(type.shape[static_cast<size_t>(d)]);
  } else {
    return Error("split-count", "the number of pieces of `" + std::string(name) +
                                    "` does not follow from the shape")
        .At(call.span)
        .Help("write a range: `by e in 0..n`");
  }
  if (count == 0 || count > std::numeric_limits<uint32_t>::max())
    return Error("split-count", ToString(type) + " gives " + std::to_string(count) + " pieces here")
        .At(call.span);
  return static_cast<uint32_t>(count);
}

namespace {

Result<PieceTree> ExpandLevel(TensorGraph* graph, const std::vector<OpCall>& ops,
                              const std::vector<size_t>& expanding, size_t level, TensorId tensor,
                              const std::vector<uint32_t>& counts, const Env& env) {
  const size_t begin = level == 0 ? 0 : expanding[level - 1] + 1;
  const size_t end = level == expanding.size() ? ops.size() : expanding[level];
  Result<TensorId> ready = ApplyEach(graph, ops, begin, end, tensor, env);
  if (!ready.ok()) return std::move(ready).error();
  PieceTree tree;
  tree.tensor = *ready;
  if (level == expanding.size()) return tree;
  const OpCall& call = ops[expanding[level]];
  const TensorType type = graph->type(*ready);
  uint32_t count = counts[level];
  if (count == 0) {
    Result<uint32_t> pieces = PiecesOf(call, type, env);
    if (!pieces.ok()) return std::move(pieces).error();
    count = *pieces;
  }
  Result<OpArgs> args = EvaluateArgs(call, type, env);
  if (!args.ok()) return std::move(args).error();
  Result<std::vector<TensorId>> made =
      graph->Apply(*call.op, *std::move(args), {*ready}, call.span, count);
  if (!made.ok()) return std::move(made).error();
  for (const TensorId piece : *made) {
    Result<PieceTree> below = ExpandLevel(graph, ops, expanding, level + 1, piece, counts, env);
    if (!below.ok()) return below;
    tree.pieces.push_back(*std::move(below));
  }
  return tree;
}

}  // namespace

Result<PieceTree> Expand(TensorGraph* graph, const std::vector<OpCall>& ops, TensorId tensor,
                         const std::vector<uint32_t>& counts, const Env& env) {
  const std::vector<size_t> expanding = FindOps(ops, OpArity::kOneToMany);
  if (expanding.size() != counts.size())
    return Error("expanding-operations", "this split opens " + std::to_string(counts.size()) +
                                             " levels and has " + std::to_string(expanding.size()) +
                                             " operations that split")
        .At(ops.empty() ? Span() : ops.back().span)
        .Help("one for each `by`, then one for the list: `| unstack(0) | chunk(0)`");
  return ExpandLevel(graph, ops, expanding, 0, tensor, counts, env);
}

}  // namespace rekey
