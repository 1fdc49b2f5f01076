#include "engine/must_equal.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "engine/lower.h"
#include "engine/work.h"

namespace rekey {
namespace {

constexpr size_t kChunk = 1 << 20;
// The worker's scratch buffers that this file uses; readers of deflated storages have their own.
constexpr size_t kLeft = 0;
constexpr size_t kRight = 1;

std::string Quoted(std::string_view text) { return "`" + std::string(text) + "`"; }

// One tensor's bytes, from the files where they lie or from a scratch file.
class TensorBytes {
 public:
  TensorBytes(Lowered lowered, Worker* worker) : lowered_(std::move(lowered)), worker_(worker) {}

  const Lowered& lowered() const { return lowered_; }

  Status Prepare(const std::string& scratch_folder) {
    if (lowered_.recipe == Recipe::kCopy) return {};
    Result<ScratchFile> scratch = ScratchFile::Make(scratch_folder);
    if (!scratch.ok()) return std::move(scratch).error();
    scratch_ = std::move(*scratch);
    for (const Tile& tile : TilesOf(lowered_)) {
      Status made = MoveTile(lowered_, tile, {scratch_->fd(), 0}, worker_);
      if (!made.ok()) return made;
    }
    return {};
  }

  Status Read(uint64_t offset, uint8_t* buffer, size_t bytes) const {
    if (scratch_) return scratch_->ReadAt(offset, buffer, bytes);
    const std::vector<Piece>& pieces = lowered_.pieces;
    auto piece = std::upper_bound(pieces.begin(), pieces.end(), offset,
                                  [](uint64_t at, const Piece& p) { return at < p.target; });
    for (--piece; bytes > 0; ++piece) {
      const uint64_t skip = offset - piece->target;
      const size_t size = static_cast<size_t>(std::min<uint64_t>(bytes, BytesOf(*piece) - skip));
      if (piece->constant != Piece::kNone) {
        const std::string& text = *lowered_.constants[piece->constant];
        std::memcpy(buffer, text.data() + piece->source + skip, size);
      } else {
        Status read = worker_->Read(piece->storage, piece->source + skip, buffer, size);
        if (!read.ok()) return read;
      }
      offset += size;
      buffer += size;
      bytes -= size;
    }
    return {};
  }

 private:
  Lowered lowered_;
  Worker* worker_;
  std::optional<ScratchFile> scratch_;  // when the bytes had to be made
};

// "[3, 17]": the indices of the element that holds a byte.
std::string IndexOf(const TensorType& type, uint64_t byte) {
  int64_t element = static_cast<int64_t>(byte * 8 / static_cast<uint64_t>(BitsOf(type.dtype)));
  Dims index(type.shape.size(), 0);
  for (size_t k = type.shape.size(); k-- > 0;) {
    index[k] = element % type.shape[k];
    element /= type.shape[k];
  }
  return ToString(index);
}

// The first byte in which the two differ; their number of bytes if in none.
Result<uint64_t> FirstDifference(const TensorBytes& a, const TensorBytes& b, Worker* worker) {
  const uint64_t bytes = a.lowered().bytes;
  uint8_t* left = worker->Scratch(kLeft, kChunk);
  uint8_t* right = worker->Scratch(kRight, kChunk);
  for (uint64_t at = 0; at < bytes; at += kChunk) {
    const size_t size = static_cast<size_t>(std::min<uint64_t>(kChunk, bytes - at));
    Status read = a.Read(at, left, size);
    if (read.ok()) read = b.Read(at, right, size);
    if (!read.ok()) return std::move(read).error();
    if (std::memcmp(left, right, size) == 0) continue;
    return at + static_cast<uint64_t>(std::mismatch(left, left + size, right).first - left);
  }
  return bytes;
}

// The same bytes of the same storages.
bool SamePieces(const Lowered& a, const Lowered& b) {
  if (a.pieces.size() != b.pieces.size()) return false;
  for (size_t i = 0; i < a.pieces.size(); ++i) {
    const Piece& p = a.pieces[i];
    const Piece& q = b.pieces[i];
    if (p.constant != Piece::kNone || p.storage != q.storage || p.source != q.source ||
        p.target != q.target || p.unit != q.unit || p.dims != q.dims || p.fixes != q.fixes) {
      return false;
    }
  }
  return true;
}

Status CheckPair(const MustEqual& must, size_t i, const TensorBytes& first,
                 const TensorBytes& other, Worker* worker) {
  const Lowered& a = first.lowered();
  const Lowered& b = other.lowered();
  const std::string keys = Quoted(must.keys[i]) + " differs from " + Quoted(must.keys[0]);
  if (!(a.type == b.type)) {
    return Error("differs", keys + ", which it must equal: one is " + ToString(b.type) +
                                ", the other " + ToString(a.type))
        .At(must.where, "said to be equal here")
        .Help("say which one is right with a `map`, or drop the rule's claim");
  }
  if (SamePieces(a, b)) return {};
  Result<uint64_t> byte = FirstDifference(first, other, worker);
  if (!byte.ok()) return std::move(byte).error();
  if (*byte == a.bytes) return {};
  return Error("differs", keys + ", which it must equal, first at " + IndexOf(a.type, *byte) +
                              " of " + ToString(a.type))
      .At(must.where, "said to be equal here")
      .Note("nothing was written")
      .Help("they are two tensors then: keep both, or drop one without saying that it is equal");
}

}  // namespace

Status CheckMustEqual(const Plan& plan, const std::string& scratch_folder) {
  const TensorGraph& graph = plan.rewritten.graph;
  Worker worker(graph.catalog());
  worker.scratch_folder = scratch_folder;
  for (const MustEqual& must : plan.rewritten.must_equal) {
    if (must.tensors.size() < 2) continue;
    std::vector<std::unique_ptr<TensorBytes>> tensors;
    for (size_t i = 0; i < must.tensors.size(); ++i) {
      Result<Lowered> lowered = Lower(graph, must.tensors[i]);
      if (!lowered.ok()) return std::move(lowered).error();
      // The first is kept, the others come and go.
      tensors.resize(std::min<size_t>(i, 1));
      tensors.push_back(std::make_unique<TensorBytes>(std::move(*lowered), &worker));
      Status prepared = tensors.back()->Prepare(scratch_folder);
      if (!prepared.ok()) return prepared;
      if (i == 0) continue;
      Status equal = CheckPair(must, i, *tensors[0], *tensors[1], &worker);
      if (!equal.ok()) return equal;
    }
  }
  return {};
}

}  // namespace rekey
