#include "engine/tasks.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

namespace rekey {
namespace {

constexpr uint64_t kPage = 4096;
constexpr uint64_t kTaskBytes = 16 << 20;
// torch's header between two records takes up to a page when places of a page are kept.
constexpr uint64_t kLargestGap = 2 * kPage;

class Builder {
 public:
  Builder(const Plan& plan, const Placed& placed) : plan_(plan), placed_(placed) {}

  Result<Tasks> Build() {
    for (file_ = 0; file_ < placed_.files.size(); ++file_) {
      FindCrcs();
      for (uint32_t position : DataOrder()) {
        Status added = AddTensor(position);
        if (!added.ok()) return std::move(added).error();
      }
      Flush();
    }
    return std::move(tasks_);
  }

 private:
  const PlacedFile& file() const { return placed_.files[file_]; }
  const Lowered& LoweredAt(uint32_t position) const {
    return plan_.lowered[file().outputs[position]];
  }

  void FindCrcs() {
    crc_.assign(file().outputs.size(), false);
    for (const CrcPatch& patch : file().layout.crcs) crc_[patch.tensor] = true;
  }

  // The tensors whose bytes are written, by their place; those that share a place once.
  std::vector<uint32_t> DataOrder() const {
    const std::vector<uint64_t>& offsets = file().layout.offsets;
    std::vector<uint32_t> order;
    for (uint32_t i = 0; i < offsets.size(); ++i) {
      if (LoweredAt(i).bytes > 0) order.push_back(i);
    }
    std::stable_sort(order.begin(), order.end(),
                     [&](uint32_t a, uint32_t b) { return offsets[a] < offsets[b]; });
    const auto same = [&](uint32_t a, uint32_t b) { return offsets[a] == offsets[b]; };
    order.erase(std::unique(order.begin(), order.end(), same), order.end());
    return order;
  }

  Status AddTensor(uint32_t position) {
    const Lowered& lowered = LoweredAt(position);
    const uint64_t offset = file().layout.offsets[position];
    switch (lowered.recipe) {
      case Recipe::kCopy:
        for (const Piece& piece : lowered.pieces) AddPiece(position, piece, offset);
        return {};
      case Recipe::kMove:
        for (Tile& tile : TilesOf(lowered)) {
          Task task = TaskFor(position, Task::Kind::kMove);
          task.source = static_cast<uint32_t>(tasks_.tiles.size());
          task.to = offset + tile.target;
          task.bytes = tile.bytes;
          tasks_.tiles.push_back(std::move(tile));
          Flush();
          Push(task);
        }
        return {};
      case Recipe::kCompute:
        break;
    }
    const std::string key(plan_.rewritten.outputs[file().outputs[position]].key);
    return Error("cannot-compute", "tensor `" + key + "` needs values to be computed, which this " +
                                       "build does not do")
        .Help("leave out the operations that change values");
  }

  Task TaskFor(uint32_t position, Task::Kind kind) const {
    Task task;
    task.kind = kind;
    task.crc = crc_[position];
    task.file = static_cast<uint32_t>(file_);
    task.position = position;
    return task;
  }

  void AddPiece(uint32_t position, const Piece& piece, uint64_t offset) {
    Task task = TaskFor(position, Task::Kind::kCopy);
    task.from = piece.source;
    task.to = offset + piece.target;
    task.bytes = BytesOf(piece);
    if (piece.constant != Piece::kNone) {
      task.kind = Task::Kind::kConstant;
      task.source = piece.constant;
    } else {
      const Storage& storage = plan_.rewritten.graph.catalog().storages[piece.storage];
      const bool plain = storage.packing == Storage::Packing::kPlain;
      task.kind = plain ? Task::Kind::kCopy : Task::Kind::kRead;
      task.source = plain ? storage.file : piece.storage;
      if (plain) task.from += storage.offset;
    }
    if (task.bytes > 0 && !Join(task)) {
      Flush();
      open_ = task;
    }
  }

  // True if `next` is now a part of the open task.
  bool Join(const Task& next) {
    if (!open_ || open_->kind != Task::Kind::kCopy || next.kind != Task::Kind::kCopy) return false;
    if (open_->source != next.source || open_->crc || next.crc) return false;
    const uint64_t gap = next.to - (open_->to + open_->bytes);
    if (gap > kLargestGap || next.from != open_->from + open_->bytes + gap) return false;
    open_->bytes += gap + next.bytes;
    return true;
  }

  // The open task into the list: a copy in parts that end at pages of the output, others whole,
  // because each worker that reads a packed storage inflates it for itself.
  void Flush() {
    if (!open_) return;
    Task rest = *open_;
    open_.reset();
    while (rest.kind == Task::Kind::kCopy && rest.bytes > kTaskBytes + kPage) {
      Task part = rest;
      part.bytes = kTaskBytes - (rest.to + kTaskBytes) % kPage;
      Push(part);
      rest.from += part.bytes;
      rest.to += part.bytes;
      rest.bytes -= part.bytes;
    }
    Push(rest);
  }

  void Push(const Task& task) {
    tasks_.bytes += task.bytes;
    tasks_.list.push_back(task);
  }

  const Plan& plan_;
  const Placed& placed_;
  size_t file_ = 0;
  std::vector<bool> crc_;     // by position in the file
  std::optional<Task> open_;  // may still grow
  Tasks tasks_;
};

}  // namespace

Result<Tasks> TasksOf(const Plan& plan, const Placed& placed) {
  return Builder(plan, placed).Build();
}

}  // namespace rekey
