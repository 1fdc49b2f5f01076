// Cutting a move into tiles: stretches of the output that one worker makes and writes at once.
#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "engine/affine.h"
#include "engine/work.h"

namespace rekey {
namespace {

constexpr uint64_t kSmallTile = uint64_t{4} << 20;
constexpr uint64_t kLargeTile = uint64_t{16} << 20;

// Reads shorter than this want larger tiles, because a tile's width sets the length of the reads of
// a transpose.
constexpr uint64_t kShortRun = uint64_t{16} << 10;

// The piece as a box of one axis that counts target bytes; strides in bytes.
Box ToBox(const Piece& piece) {
  Box box;
  box.source = static_cast<int64_t>(piece.source);
  Axis axis;
  axis.start = static_cast<int64_t>(piece.target);
  if (piece.unit > 1) axis.digits.push_back({static_cast<int64_t>(piece.unit), 1, 1});
  for (size_t i = piece.dims.size(); i-- > 0;) {
    const PieceDim& dim = piece.dims[i];
    axis.digits.push_back({dim.extent, dim.target_stride, dim.source_stride});
  }
  box.axes.push_back(std::move(axis));
  return box;
}

Piece FromBox(const Box& box, const Piece& piece) {
  Piece part = piece;
  part.source = static_cast<uint64_t>(box.source);
  part.target = static_cast<uint64_t>(box.axes[0].start);
  part.unit = 1;
  part.dims.clear();
  std::vector<Digit> digits = box.axes[0].digits;
  if (!digits.empty() && digits[0].step == 1 && digits[0].stride == 1) {
    part.unit = static_cast<uint64_t>(digits[0].extent);
    digits.erase(digits.begin());
  }
  for (size_t i = digits.size(); i-- > 0;) {
    part.dims.push_back({digits[i].extent, digits[i].stride, digits[i].step});
  }
  return part;
}

// Bytes that one read of the source yields when a tile of `tile` bytes is made.
uint64_t ReadRun(const Piece& piece, uint64_t tile) {
  uint64_t run = piece.unit;
  for (const PieceDim& dim : piece.dims) {
    if (dim.source_stride != static_cast<int64_t>(piece.unit)) continue;
    const auto inside = std::max<uint64_t>(1, tile / static_cast<uint64_t>(dim.target_stride));
    run = std::max(run, piece.unit * std::min(inside, static_cast<uint64_t>(dim.extent)));
  }
  return run;
}

// The largest distance in the target, up to `limit`, at which pieces repeat: cuts at its multiples
// leave whole rows.
uint64_t Grain(const std::vector<Piece>& pieces, uint64_t limit) {
  uint64_t grain = 1;
  for (const Piece& piece : pieces) {
    if (piece.unit <= limit) grain = std::max(grain, piece.unit);
    for (const PieceDim& dim : piece.dims) {
      const auto stride = static_cast<uint64_t>(dim.target_stride);
      if (stride <= limit) grain = std::max(grain, stride);
    }
  }
  return grain;
}

}  // namespace

std::vector<Tile> TilesOf(const Lowered& tensor) {
  std::vector<Tile> tiles;
  if (tensor.bytes == 0) return tiles;
  uint64_t size = kSmallTile;
  for (const Piece& piece : tensor.pieces) {
    if (piece.storage != Piece::kNone && ReadRun(piece, kSmallTile) < kShortRun) size = kLargeTile;
  }
  const uint64_t grain = Grain(tensor.pieces, size);
  size = size / grain * grain;
  std::vector<Box> boxes;
  std::vector<uint64_t> ends;  // of each piece's reach in the target
  for (const Piece& piece : tensor.pieces) {
    boxes.push_back(ToBox(piece));
    uint64_t end = piece.target + piece.unit;
    for (const PieceDim& dim : piece.dims) {
      end += static_cast<uint64_t>((dim.extent - 1) * dim.target_stride);
    }
    ends.push_back(end);
  }
  std::vector<size_t> active;  // pieces that have begun and not ended
  size_t next = 0;
  for (uint64_t begin = 0; begin < tensor.bytes; begin += size) {
    const uint64_t end = std::min(begin + size, tensor.bytes);
    while (next < tensor.pieces.size() && tensor.pieces[next].target < end)
      active.push_back(next++);
    Tile tile{begin, end - begin, {}};
    for (size_t i : active) {
      for (const Box& part :
           Clip(boxes[i], static_cast<int64_t>(begin), static_cast<int64_t>(end))) {
        tile.parts.push_back(FromBox(part, tensor.pieces[i]));
      }
    }
    active.erase(
        std::remove_if(active.begin(), active.end(), [&](size_t i) { return ends[i] <= end; }),
        active.end());
    tiles.push_back(std::move(tile));
  }
  return tiles;
}

}  // namespace rekey
