// Tensors as expressions over the checkpoint's tensors: what each output *is*, before anyone asks
// how its bytes are made.
//
// A TensorGraph is an append-only list of nodes. The first catalog.entries.size() ids are the
// checkpoint's own entries; others are operations on earlier ids, or constants that `fill` makes.
// Every node's dtype and shape are proven when it is added. It is a description: nothing is read.
//
//   TensorGraph graph(catalog);
//   TensorId w = 3;                                           // catalog.entries[3], f32[10, 64]
//   auto t = graph.Apply(*FindOp("transpose"), {}, {w}, span);   // ids of the results
//   graph.type((*t)[0])                                        // f32[64, 10]
#ifndef REKEY_ENGINE_GRAPH_H_
#define REKEY_ENGINE_GRAPH_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "engine/catalog.h"
#include "engine/status.h"
#include "engine/value.h"
#include "grammar/source.h"

namespace rekey {

struct OpInfo;  // ops/ops.h

using TensorId = uint32_t;

struct TensorType {
  DType dtype = DType::kF32;
  Shape shape;
  friend bool operator==(const TensorType&, const TensorType&) = default;
};

std::string ToString(const TensorType& type);  // "bf16[24, 12]", "f32[]"

// An evaluated argument list, in the order of the operation's parameters (ops.h): an absent
// optional argument is a Value of its default.
using OpArgs = std::vector<Value>;

struct TensorNode {
  const OpInfo* op = nullptr;  // null for a constant
  OpArgs args;
  std::vector<TensorId> inputs;  // in order
  uint32_t result = 0;           // which of the operation's results this node is
  uint32_t results = 1;          // how many it has
  TensorType type;
  Span where;  // the operation in the rule file, for messages
  // Constants only: the elements, row-major little-endian; `repeat` says that `bytes` is one
  // element which all are equal to.
  std::shared_ptr<const std::string> bytes;
  bool repeat = false;
};

class TensorGraph {
 public:
  // The catalog must outlive the graph.
  explicit TensorGraph(const Catalog& catalog) : catalog_(&catalog) {}

  const Catalog& catalog() const { return *catalog_; }
  bool IsSource(TensorId id) const { return id < catalog_->entries.size(); }
  const Entry& source(TensorId id) const { return catalog_->entries[id]; }
  const TensorNode& node(TensorId id) const { return nodes_[id - catalog_->entries.size()]; }
  TensorType type(TensorId id) const;

  // Adds `op` on `inputs`; one id for each result. Most have one; chunk, sections and unstack have
  // as many as `results` says. The shape and dtype rules of ops.h are applied; their errors name
  // the operation and the numbers, at `where`.
  Result<std::vector<TensorId>> Apply(const OpInfo& op, OpArgs args, std::vector<TensorId> inputs,
                                      Span where, uint32_t results = 1);

  // A constant tensor. `bytes` holds all elements, or one if `repeat`.
  TensorId AddConstant(TensorType type, std::string bytes, bool repeat, Span where);

  // The entries that a tensor is made of, each once, in the order of first use.
  std::vector<uint32_t> SourcesOf(TensorId id) const;

 private:
  const Catalog* catalog_;
  std::vector<TensorNode> nodes_;
};

}  // namespace rekey

#endif  // REKEY_ENGINE_GRAPH_H_
