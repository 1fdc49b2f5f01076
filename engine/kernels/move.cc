// Making a tile: source runs into a buffer, or straight into place, then one write.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "engine/kernels/rearrange.h"
#include "engine/work.h"

namespace rekey {
namespace {

// Scratch slots of a worker.
constexpr size_t kTileSlot = 0, kReadSlot = 1;

constexpr uint64_t kReadBuffer = uint64_t{32} << 20;

// Reading bytes that nobody wants is cheaper than another call up to about this many.
constexpr int64_t kGap = 2048;

// Runs this long are read straight to where they belong.
constexpr uint64_t kDirectRun = 8192;

// How the source of a part is read: runs of `run` bytes at each place of `outer`, one after another
// in the buffer; `dims` are the part's dimensions with their strides in the buffer.
struct ReadPlan {
  int64_t first = 0;  // of the lowest byte read, in the source
  int64_t run = 0;
  struct Outer {
    int64_t extent, source, buffer;
  };
  std::vector<Outer> outer;
  int64_t bytes = 0;   // of the buffer
  int64_t origin = 0;  // of the part's first element, in the buffer
  std::vector<MoveDim> dims;
};

ReadPlan PlanRead(const Piece& part) {
  ReadPlan plan;
  plan.first = static_cast<int64_t>(part.source);
  plan.run = static_cast<int64_t>(part.unit);
  std::vector<size_t> order;
  for (size_t i = 0; i < part.dims.size(); ++i) {
    const PieceDim& dim = part.dims[i];
    plan.dims.push_back({dim.extent, 0, dim.target_stride});
    if (dim.source_stride == 0) continue;
    order.push_back(i);
    if (dim.source_stride < 0) plan.first += (dim.extent - 1) * dim.source_stride;
  }
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return std::abs(part.dims[a].source_stride) < std::abs(part.dims[b].source_stride);
  });
  for (size_t i : order) {
    const PieceDim& dim = part.dims[i];
    const int64_t stride = std::abs(dim.source_stride), sign = dim.source_stride < 0 ? -1 : 1;
    int64_t in_buffer = stride;
    if (plan.outer.empty() && stride - plan.run <= kGap) {
      plan.run = std::max(plan.run, (dim.extent - 1) * stride + plan.run);
      plan.bytes = plan.run;
    } else {
      // Runs of a large power of two would all start in one set of the cache.
      if (plan.outer.empty()) plan.bytes = (plan.run + 63) / 64 * 64 + (plan.run >= 512 ? 64 : 0);
      in_buffer = plan.bytes;
      plan.outer.push_back({dim.extent, stride, in_buffer});
      plan.bytes *= dim.extent;
    }
    plan.dims[i].source = sign * in_buffer;
    if (sign < 0) plan.origin += (dim.extent - 1) * in_buffer;
  }
  plan.bytes = std::max(plan.bytes, plan.run);
  return plan;
}

// Halves of a part, along the dimension that reaches farthest in the source.
std::pair<Piece, Piece> Halve(const Piece& part) {
  size_t widest = 0;
  int64_t reach = -1;
  for (size_t i = 0; i < part.dims.size(); ++i) {
    const int64_t own = (part.dims[i].extent - 1) * std::abs(part.dims[i].source_stride);
    if (part.dims[i].extent < 2 || own <= reach) continue;
    reach = own;
    widest = i;
  }
  Piece low = part, high = part;
  PieceDim& dim = low.dims[widest];
  const int64_t half = dim.extent / 2;
  high.dims[widest].extent = dim.extent - half;
  high.source += static_cast<uint64_t>(half * dim.source_stride);
  high.target += static_cast<uint64_t>(half * dim.target_stride);
  dim.extent = half;
  return {std::move(low), std::move(high)};
}

// Calls `body(source, target)` with the offsets of every place of the part; stops on an error.
template <typename Body>
Status ForEachPlace(const Piece& part, const Body& body) {
  std::vector<int64_t> at(part.dims.size(), 0);
  int64_t source = static_cast<int64_t>(part.source), target = static_cast<int64_t>(part.target);
  while (true) {
    Status status = body(static_cast<uint64_t>(source), static_cast<uint64_t>(target));
    if (!status.ok()) return status;
    size_t d = part.dims.size();
    for (; d > 0; --d) {
      const PieceDim& dim = part.dims[d - 1];
      source += dim.source_stride;
      target += dim.target_stride;
      if (++at[d - 1] < dim.extent) break;
      source -= dim.source_stride * dim.extent;
      target -= dim.target_stride * dim.extent;
      at[d - 1] = 0;
    }
    if (d == 0) return {};
  }
}

Status ReadRuns(const ReadPlan& plan, uint32_t storage, uint8_t* buffer, Worker* worker) {
  std::vector<int64_t> at(plan.outer.size(), 0);
  int64_t source = plan.first, place = 0;
  while (true) {
    Status read = worker->Read(storage, static_cast<uint64_t>(source), buffer + place,
                               static_cast<size_t>(plan.run));
    if (!read.ok()) return read;
    size_t d = 0;  // the first runs fastest
    for (; d < plan.outer.size(); ++d) {
      const ReadPlan::Outer& outer = plan.outer[d];
      source += outer.source;
      place += outer.buffer;
      if (++at[d] < outer.extent) break;
      source -= outer.source * outer.extent;
      place -= outer.buffer * outer.extent;
      at[d] = 0;
    }
    if (d == plan.outer.size()) return {};
  }
}

// Fills the part's places in `tile`, which starts at target byte `base`.
Status Gather(const Piece& whole, uint64_t base, uint8_t* tile, Worker* worker) {
  if (whole.unit >= kDirectRun) {
    return ForEachPlace(whole, [&](uint64_t source, uint64_t target) {
      return worker->Read(whole.storage, source, tile + (target - base), whole.unit);
    });
  }
  std::vector<Piece> open = {whole};
  while (!open.empty()) {
    const Piece part = std::move(open.back());
    open.pop_back();
    const ReadPlan plan = PlanRead(part);
    if (static_cast<uint64_t>(plan.bytes) > kReadBuffer) {
      auto [low, high] = Halve(part);
      open.push_back(std::move(high));
      open.push_back(std::move(low));
      continue;
    }
    uint8_t* buffer = worker->Scratch(kReadSlot, static_cast<size_t>(plan.bytes));
    Status read = ReadRuns(plan, part.storage, buffer, worker);
    if (!read.ok()) return read;
    Rearrange(buffer + plan.origin, tile + (part.target - base), part.unit, plan.dims);
  }
  return {};
}

void Fill(const std::string& constant, const Piece& part, uint64_t base, uint8_t* tile) {
  std::vector<MoveDim> dims;
  for (const PieceDim& dim : part.dims) {
    dims.push_back({dim.extent, dim.source_stride, dim.target_stride});
  }
  const auto* from = reinterpret_cast<const uint8_t*>(constant.data()) + part.source;
  Rearrange(from, tile + (part.target - base), part.unit, std::move(dims));
}

// Applies the fixes to `bytes` bytes of elements of `dtype` at `data`.
void Fix(const ElementFixes& fixes, DType dtype, uint8_t* data, uint64_t bytes) {
  const bool complex = KindOf(dtype) == DTypeKind::kComplex;
  const size_t number = static_cast<size_t>(BitsOf(dtype)) / (complex ? 16 : 8);
  for (uint64_t i = 0; i < bytes; i += number) {
    uint8_t* own = data + i;
    if (fixes.swap_bytes) std::reverse(own, own + number);
    if (fixes.flip_sign) own[number - 1] ^= 0x80;
    if (fixes.flip_imaginary && i / number % 2 == 1) own[number - 1] ^= 0x80;
  }
}

}  // namespace

Status MoveTile(const Lowered& tensor, const Tile& tile, OutputRange out, Worker* worker) {
  uint8_t* data = worker->Scratch(kTileSlot, tile.bytes);
  for (const Piece& part : tile.parts) {
    if (part.constant != Piece::kNone) {
      Fill(*tensor.constants[part.constant], part, tile.target, data);
    } else {
      Status gathered = Gather(part, tile.target, data, worker);
      if (!gathered.ok()) return gathered;
    }
    if (!part.fixes.any()) continue;
    Status fixed = ForEachPlace(part, [&](uint64_t, uint64_t target) {
      Fix(part.fixes, tensor.type.dtype, data + (target - tile.target), part.unit);
      return Status();
    });
    if (!fixed.ok()) return fixed;
  }
  return WriteAt(out.fd, out.offset + tile.target, data, tile.bytes);
}

}  // namespace rekey
