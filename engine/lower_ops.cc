#include "engine/lower_ops.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "engine/ops/ops.h"
#include "engine/ops/rules.h"

namespace rekey {
namespace {

size_t Dim(const LayoutCall& call, size_t arg) {
  return *DimOf(call.node.op->name, call.arg(arg), call.type());
}

Layout Transpose(const LayoutCall& call) {
  Layout layout = *call.inputs[0];
  std::vector<size_t> order(layout.shape().size());
  std::iota(order.begin(), order.end(), size_t{0});
  if (IsAbsent(call.arg(0))) {
    std::swap(order[0], order[1]);
  } else {
    std::swap(order[Dim(call, 0)], order[Dim(call, 1)]);
  }
  layout.Permute(order);
  return layout;
}

Layout Permute(const LayoutCall& call) {
  Layout layout = *call.inputs[0];
  std::vector<size_t> order;
  for (const Value& value : *call.arg(0).list()) {
    order.push_back(*DimOf("permute", value, call.type()));
  }
  layout.Permute(order);
  return layout;
}

// reshape, flatten, unflatten and squeeze: the rule has worked out the shape.
Layout Reshape(const LayoutCall& call) {
  Layout layout = *call.inputs[0];
  layout.Reshape(call.node.type.shape);
  return layout;
}

Layout Unsqueeze(const LayoutCall& call) {
  Layout layout = *call.inputs[0];
  layout.InsertAxis(*NewDimOf("unsqueeze", call.arg(0), call.type()));
  return layout;
}

Layout Slice(const LayoutCall& call) {
  Layout layout = *call.inputs[0];
  const std::vector<int64_t> range = IntsOf(call.arg(1));
  layout.Narrow(Dim(call, 0), range[0], range[1],
                IsAbsent(call.arg(2)) ? 1 : *call.arg(2).integer());
  return layout;
}

Layout Take(const LayoutCall& call) {
  Layout layout = *call.inputs[0];
  layout.Take(Dim(call, 0), IntsOf(call.arg(1)));
  return layout;
}

Layout Reorder(const LayoutCall& call) {
  Layout layout = *call.inputs[0];
  const size_t dim = Dim(call, 0);
  const std::vector<int64_t> list = IntsOf(call.arg(1));
  const Shape shape = layout.shape();
  Shape cut = shape;
  cut[dim] = static_cast<int64_t>(list.size());
  cut.insert(dim + 1, shape[dim] / cut[dim]);
  layout.Reshape(cut);
  layout.Take(dim, list);
  layout.Reshape(shape);
  return layout;
}

Layout Flip(const LayoutCall& call) {
  Layout layout = *call.inputs[0];
  layout.Flip(Dim(call, 0));
  return layout;
}

Layout Roll(const LayoutCall& call) {
  const size_t dim = Dim(call, 0);
  const int64_t size = call.type().shape[dim];
  if (size == 0) return *call.inputs[0];
  const int64_t shift = (*call.arg(1).integer() % size + size) % size;
  Layout layout = *call.inputs[0], rest = layout;
  layout.Narrow(dim, size - shift, size);
  rest.Narrow(dim, 0, size - shift);
  layout.Append(dim, rest);
  return layout;
}

Layout Pad(const LayoutCall& call) {
  Layout layout = *call.inputs[0];
  const size_t dim = Dim(call, 0);
  const int64_t size = layout.shape()[dim], more = call.node.type.shape[dim] - size;
  if (more == 0) return layout;
  Layout padding = layout;
  if (!IsAbsent(call.arg(2)) && *call.arg(2).text() == "repeat_last") {
    padding.Narrow(dim, size - 1, size);
    padding.Repeat(dim, more);
  } else {
    Shape shape = call.node.type.shape;
    shape[dim] = more;
    Box zero;
    zero.constant = static_cast<uint32_t>(call.constants->size());
    const auto bytes = static_cast<size_t>((BitsOf(call.type().dtype) + 7) / 8);
    call.constants->push_back(std::make_shared<const std::string>(bytes, '\0'));
    padding = Layout::Strided(shape, std::vector<int64_t>(shape.size(), 0), std::move(zero));
  }
  layout.Append(dim, padding);
  return layout;
}

Layout Repeat(const LayoutCall& call) {
  Layout layout = *call.inputs[0];
  layout.Repeat(Dim(call, 0), *call.arg(1).integer());
  return layout;
}

Layout Cat(const LayoutCall& call) {
  Layout layout = *call.inputs[0];
  const size_t dim = Dim(call, 0);
  for (size_t i = 1; i < call.inputs.size(); ++i) layout.Append(dim, *call.inputs[i]);
  layout.Fold();
  return layout;
}

Layout Stack(const LayoutCall& call) {
  const size_t dim = *NewDimOf("stack", call.arg(0), call.type());
  Layout layout = *call.inputs[0];
  layout.InsertAxis(dim);
  for (size_t i = 1; i < call.inputs.size(); ++i) {
    Layout next = *call.inputs[i];
    next.InsertAxis(dim);
    layout.Append(dim, next);
  }
  layout.Fold();
  return layout;
}

Layout Same(const LayoutCall& call) { return *call.inputs[0]; }

Layout Chunk(const LayoutCall& call) {
  Layout layout = *call.inputs[0];
  const size_t dim = Dim(call, 0);
  const int64_t size = call.node.type.shape[dim];
  layout.Narrow(dim, call.node.result * size, (call.node.result + 1) * size);
  return layout;
}

Layout Sections(const LayoutCall& call) {
  Layout layout = *call.inputs[0];
  const std::vector<int64_t> sizes = IntsOf(call.arg(1));
  const auto own = sizes.begin() + call.node.result;
  const int64_t begin = std::accumulate(sizes.begin(), own, int64_t{0});
  layout.Narrow(Dim(call, 0), begin, begin + *own);
  return layout;
}

Layout Unstack(const LayoutCall& call) {
  Layout layout = *call.inputs[0];
  layout.Narrow(Dim(call, 0), call.node.result, int64_t{call.node.result} + 1);
  layout.Reshape(call.node.type.shape);
  return layout;
}

struct Row {
  std::string_view name;
  LayoutOp op;
};
constexpr Row kRows[] = {
    {"transpose", Transpose},
    {"permute", Permute},
    {"reshape", Reshape},
    {"unflatten", Reshape},
    {"flatten", Reshape},
    {"squeeze", Reshape},
    {"unsqueeze", Unsqueeze},
    {"slice", Slice},
    {"take", Take},
    {"reorder", Reorder},
    {"flip", Flip},
    {"roll", Roll},
    {"pad", Pad},
    {"repeat", Repeat},
    {"cat", Cat},
    {"stack", Stack},
    {"same", Same},
    {"chunk", Chunk},
    {"sections", Sections},
    {"unstack", Unstack},
};

}  // namespace

LayoutOp FindLayoutOp(std::string_view name) {
  for (const Row& row : kRows) {
    if (row.name == name) return row.op;
  }
  return nullptr;
}

}  // namespace rekey
