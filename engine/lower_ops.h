// The layout operations of the table (ops/ops.h), as changes of a Layout (affine.h).
//
// One function an operation, found by the operation's name; value operations have none. It is not
// where arguments are checked: the type rules have accepted them.
//
//   LayoutOp op = FindLayoutOp("permute");
//   op(node, {&input}, &constants)   // the layout of result `node.result`
#ifndef REKEY_ENGINE_LOWER_OPS_H_
#define REKEY_ENGINE_LOWER_OPS_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/affine.h"
#include "engine/graph.h"

namespace rekey {

// What one lowering has gathered beside boxes: the texts that Box::constant counts.
using Constants = std::vector<std::shared_ptr<const std::string>>;

// A node and what it works on.
struct LayoutCall {
  const TensorNode& node;
  const std::vector<TensorType>& types;         // of the inputs
  const std::vector<const Layout*>& inputs;     // likewise
  Constants* constants;                         // padding adds to it
  TensorType type() const { return types[0]; }  // of the only or first input
  const Value& arg(size_t i) const { return node.args[i]; }
};

using LayoutOp = Layout (*)(const LayoutCall& call);
LayoutOp FindLayoutOp(std::string_view name);  // null when there is none

}  // namespace rekey

#endif  // REKEY_ENGINE_LOWER_OPS_H_
