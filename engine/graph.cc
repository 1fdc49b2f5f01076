#include "engine/graph.h"

#include <unordered_set>
#include <utility>

#include "engine/ops/ops.h"

namespace rekey {

std::string ToString(const TensorType& type) {
  return std::string(Name(type.dtype)) + ToString(type.shape);
}

TensorType TensorGraph::type(TensorId id) const {
  if (!IsSource(id)) return node(id).type;
  return {source(id).dtype, source(id).shape};
}

Result<std::vector<TensorId>> TensorGraph::Apply(const OpInfo& op, OpArgs args,
                                                 std::vector<TensorId> inputs, Span where,
                                                 uint32_t results) {
  const size_t wanted = static_cast<size_t>(op.inputs);
  if (inputs.empty() || (wanted != 0 && inputs.size() != wanted)) {
    return Error("wrong-inputs", "`" + std::string(op.name) + "` works on " +
                                     (wanted == 0 ? "one tensor or more"
                                                  : std::to_string(wanted) +
                                                        (wanted == 1 ? " tensor" : " tensors")) +
                                     ", not " + std::to_string(inputs.size()))
        .At(where);
  }
  // An operation without arguments may be written bare, with an empty list.
  if (args.empty()) args.resize(op.params.size(), ValueList{});
  std::vector<TensorType> types;
  types.reserve(inputs.size());
  for (TensorId input : inputs) types.push_back(type(input));
  Result<std::vector<TensorType>> inferred = op.infer(args, types, results);
  if (!inferred.ok()) return std::move(inferred).error().At(where);
  std::vector<TensorId> ids;
  ids.reserve(inferred->size());
  for (TensorType& result : *inferred) {
    TensorNode node;
    node.op = &op;
    node.args = args;
    node.inputs = inputs;
    node.result = static_cast<uint32_t>(ids.size());
    node.results = static_cast<uint32_t>(inferred->size());
    node.type = std::move(result);
    node.where = where;
    ids.push_back(static_cast<TensorId>(catalog_->entries.size() + nodes_.size()));
    nodes_.push_back(std::move(node));
  }
  return ids;
}

TensorId TensorGraph::AddConstant(TensorType type, std::string bytes, bool repeat, Span where) {
  TensorNode node;
  node.type = std::move(type);
  node.bytes = std::make_shared<const std::string>(std::move(bytes));
  node.repeat = repeat;
  node.where = where;
  nodes_.push_back(std::move(node));
  return static_cast<TensorId>(catalog_->entries.size() + nodes_.size() - 1);
}

std::vector<uint32_t> TensorGraph::SourcesOf(TensorId id) const {
  std::vector<uint32_t> sources;
  std::unordered_set<TensorId> seen;
  std::vector<TensorId> open = {id};  // the next one last
  while (!open.empty()) {
    const TensorId next = open.back();
    open.pop_back();
    if (!seen.insert(next).second) continue;
    if (IsSource(next)) {
      sources.push_back(next);
      continue;
    }
    const std::vector<TensorId>& inputs = node(next).inputs;
    open.insert(open.end(), inputs.rbegin(), inputs.rend());
  }
  return sources;
}

}  // namespace rekey
