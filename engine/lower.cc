#include "engine/lower.h"

#include <algorithm>
#include <string>
#include <unordered_map>
#include <utility>

#include "engine/affine.h"
#include "engine/fold.h"
#include "engine/lower_ops.h"
#include "engine/ops/ops.h"

namespace rekey {
namespace {

// Contiguous runs of this size are worth a copy of their own: below it, gathering several into one
// write is cheaper than a call for each.
constexpr uint64_t kCopyRun = 64 * 1024;

// Pieces that a copy may have.
constexpr uint64_t kMaxCopies = 65536;

// Offsets are counted in bits while lowering.
constexpr uint64_t kMaxStorage = uint64_t{1} << 58;

std::string Quoted(std::string_view text) { return "`" + std::string(text) + "`"; }

std::string Describe(const TensorGraph& graph, TensorId id) {
  const std::string type = ToString(graph.type(id));
  if (graph.IsSource(id)) return Quoted(graph.source(id).key) + " (" + type + ")";
  const OpInfo* op = graph.node(id).op;
  return op == nullptr ? "a constant (" + type + ")"
                       : "the result of " + Quoted(op->name) + " (" + type + ")";
}

Result<Layout> OfSource(const TensorGraph& graph, TensorId id) {
  const Entry& entry = graph.source(id);
  if (entry.no_bytes) {
    return Error("no-bytes", Describe(graph, id) + " is a meta tensor: it has a shape, no contents")
        .Help("`drop` it, or save the checkpoint again with its weights loaded");
  }
  const Storage& storage = graph.catalog().storages[entry.storage];
  if (storage.bytes > kMaxStorage) {
    return Error("storage-too-large", "the storage of " + Describe(graph, id) + " is too large");
  }
  const int bits = BitsOf(entry.dtype);
  Box box;
  box.storage = entry.storage;
  box.source = static_cast<int64_t>(entry.start) * 8;
  box.fixes.swap_bytes = storage.big_endian && bits > 8;
  box.fixes.flip_sign = entry.neg;
  box.fixes.flip_imaginary = entry.conj && KindOf(entry.dtype) == DTypeKind::kComplex;
  const bool signed_bits =
      KindOf(entry.dtype) == DTypeKind::kComplex || KindOf(entry.dtype) == DTypeKind::kFloat;
  if (entry.neg && !signed_bits) {
    return Error("no-sign", Describe(graph, id) +
                                " is a lazily negated view of a type without a "
                                "sign bit")
        .Help("save it resolved: `tensor.resolve_neg()`");
  }
  std::vector<int64_t> strides;
  for (size_t i = 0; i < entry.shape.size(); ++i) {
    // A stride of a dimension that is not stepped along may be any number.
    strides.push_back(entry.shape[i] > 1 ? entry.strides[i] * bits : 0);
  }
  return Layout::Strided(entry.shape, strides, std::move(box));
}

Layout OfConstant(const TensorNode& node, Constants* constants) {
  Box box;
  box.constant = static_cast<uint32_t>(constants->size());
  constants->push_back(node.bytes);
  if (node.repeat) {
    return Layout::Strided(node.type.shape, std::vector<int64_t>(node.type.shape.size(), 0),
                           std::move(box));
  }
  return Layout::Contiguous(node.type.shape, BitsOf(node.type.dtype), std::move(box));
}

Diagnostic TooManyPieces(const TensorGraph& graph, TensorId id) {
  return Error("too-many-pieces", Describe(graph, id) + " would be cut into more than " +
                                      std::to_string(kMaxBoxes) + " pieces")
      .Note("the elements are rearranged in an order that few strides describe")
      .Help("look for a `reshape` whose sizes do not follow those of the tensors it works on");
}

// Layouts of an expression, inputs before what uses them; each node once.
class Lowering {
 public:
  Lowering(const TensorGraph& graph, Constants* constants) : graph_(graph), constants_(constants) {}

  Result<Layout> Of(TensorId root) {
    std::vector<TensorId> open = {root};
    while (!open.empty()) {
      const TensorId id = open.back();
      if (done_.count(id) > 0) {
        open.pop_back();
        continue;
      }
      const size_t before = open.size();
      if (!graph_.IsSource(id)) {
        for (TensorId input : graph_.node(id).inputs) {
          if (done_.count(input) == 0) open.push_back(input);
        }
      }
      if (open.size() > before) continue;
      open.pop_back();
      Result<Layout> layout = One(id);
      if (layout.ok() && !layout->within_budget()) layout = TooManyPieces(graph_, id);
      if (!layout.ok()) {
        if (graph_.IsSource(id)) return layout;
        return std::move(layout).error().At(graph_.node(id).where);
      }
      done_.emplace(id, *std::move(layout));
    }
    return std::move(done_.at(root));
  }

 private:
  Result<Layout> One(TensorId id) {
    if (graph_.IsSource(id)) return OfSource(graph_, id);
    const TensorNode& node = graph_.node(id);
    if (node.op == nullptr) return OfConstant(node, constants_);
    std::vector<TensorType> types;
    std::vector<const Layout*> inputs;
    for (TensorId input : node.inputs) {
      types.push_back(graph_.type(input));
      inputs.push_back(&done_.at(input));
    }
    return FindLayoutOp(node.op->name)({node, types, inputs, constants_});
  }

  const TensorGraph& graph_;
  Constants* constants_;
  std::unordered_map<TensorId, Layout> done_;
};

// The first value operation in the expression.
const TensorNode* ValueOperation(const TensorGraph& graph, TensorId root) {
  std::vector<TensorId> open = {root};
  std::unordered_map<TensorId, bool> seen;
  while (!open.empty()) {
    const TensorId id = open.back();
    open.pop_back();
    if (graph.IsSource(id) || !seen.emplace(id, true).second) continue;
    const TensorNode& node = graph.node(id);
    if (node.op != nullptr && node.op->kind == OpKind::kValue) return &node;
    open.insert(open.end(), node.inputs.begin(), node.inputs.end());
  }
  return nullptr;
}

// A one-axis box in bits to a piece in bytes; false if its parts do not fill whole bytes.
bool ToPiece(const Box& box, int bits, Piece* piece) {
  piece->storage = box.storage;
  piece->constant = box.constant;
  piece->fixes = box.fixes;
  std::vector<Digit> digits = box.axes[0].digits;
  int64_t unit = bits;
  if (!digits.empty() && digits[0].step == 1 && digits[0].stride == bits) {
    unit = digits[0].extent * bits;
    digits.erase(digits.begin());
  }
  const int64_t target = box.axes[0].start * bits;
  if (unit % 8 != 0 || box.source % 8 != 0 || target % 8 != 0) return false;
  piece->unit = static_cast<uint64_t>(unit / 8);
  piece->source = static_cast<uint64_t>(box.source / 8);
  piece->target = static_cast<uint64_t>(target / 8);
  for (size_t i = digits.size(); i-- > 0;) {
    const int64_t step = digits[i].step * bits;
    if (step % 8 != 0 || digits[i].stride % 8 != 0) return false;
    piece->dims.push_back({digits[i].extent, digits[i].stride / 8, step / 8});
  }
  return true;
}

bool IsCopyable(const Catalog& catalog, const Lowered& lowered) {
  uint64_t copies = 0;
  for (const Piece& piece : lowered.pieces) {
    if (piece.storage == Piece::kNone || piece.fixes.any()) return false;
    if (catalog.storages[piece.storage].packing != Storage::Packing::kPlain) return false;
    if (piece.unit != lowered.bytes && piece.unit < kCopyRun) return false;
    copies += BytesOf(piece) / piece.unit;
  }
  return copies <= kMaxCopies;
}

// Every run as a piece of its own, with one dimension of single bytes.
std::vector<Piece> ToCopies(const std::vector<Piece>& pieces) {
  std::vector<Piece> copies;
  for (const Piece& piece : pieces) {
    std::vector<std::pair<uint64_t, uint64_t>> runs = {{piece.source, piece.target}};
    for (const PieceDim& dim : piece.dims) {
      std::vector<std::pair<uint64_t, uint64_t>> more;
      for (const auto& [source, target] : runs) {
        for (int64_t k = 0; k < dim.extent; ++k) {
          more.emplace_back(source + static_cast<uint64_t>(k * dim.source_stride),
                            target + static_cast<uint64_t>(k * dim.target_stride));
        }
      }
      runs = std::move(more);
    }
    for (const auto& [source, target] : runs) {
      Piece copy = piece;
      copy.source = source;
      copy.target = target;
      copy.unit = 1;
      copy.dims = {{static_cast<int64_t>(piece.unit), 1, 1}};
      copies.push_back(std::move(copy));
    }
  }
  std::sort(copies.begin(), copies.end(),
            [](const Piece& a, const Piece& b) { return a.target < b.target; });
  return copies;
}

}  // namespace

const char* Name(Recipe recipe) {
  switch (recipe) {
    case Recipe::kCopy:
      return "copy";
    case Recipe::kMove:
      return "move";
    case Recipe::kCompute:
      return "compute";
  }
  return "";
}

uint64_t BytesOf(const Piece& piece) {
  uint64_t bytes = piece.unit;
  for (const PieceDim& dim : piece.dims) bytes *= static_cast<uint64_t>(dim.extent);
  return bytes;
}

Result<Lowered> Lower(const TensorGraph& graph, TensorId id) {
  Lowered lowered;
  lowered.type = graph.type(id);
  const std::optional<int64_t> bytes = NumBytes(lowered.type.dtype, lowered.type.shape);
  if (!bytes) {
    return Error("odd-bits", Describe(graph, id) + " does not fill whole bytes");
  }
  lowered.bytes = static_cast<uint64_t>(*bytes);
  if (const TensorNode* value = ValueOperation(graph, id)) {
    return Error("no-value-engine", "the operation " + Quoted(value->op->name) +
                                        " changes values, which this release does not compute yet")
        .At(value->where)
        .Note("renames, layout operations, merges and splits run; casts and arithmetic do not");
  }
  Result<Layout> layout = Lowering(graph, &lowered.constants).Of(id);
  if (!layout.ok()) return std::move(layout).error();
  layout->Reshape({*NumElements(lowered.type.shape)});
  std::vector<Box> boxes = layout->boxes();
  FoldBoxes(&boxes);
  for (const Box& box : boxes) {
    Piece piece;
    if (!ToPiece(box, BitsOf(lowered.type.dtype), &piece)) {
      Diagnostic error =
          Error("odd-bits", Describe(graph, id) + " is cut or rearranged inside a byte: " +
                                std::string(Name(lowered.type.dtype)) + " elements take " +
                                std::to_string(BitsOf(lowered.type.dtype)) + " bits")
              .Help("keep runs of its elements together that fill whole bytes");
      if (!graph.IsSource(id)) error.At(graph.node(id).where);
      return error;
    }
    lowered.pieces.push_back(std::move(piece));
  }
  if (IsCopyable(graph.catalog(), lowered)) {
    lowered.recipe = Recipe::kCopy;
    lowered.pieces = ToCopies(lowered.pieces);
  } else {
    lowered.recipe = Recipe::kMove;
  }
  return lowered;
}

}  // namespace rekey
