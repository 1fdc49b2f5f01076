#include "engine/task_runner.h"

#include <libdeflate.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

namespace rekey {
namespace {

// The worker's scratch buffer that copies use; kernels have theirs to themselves meanwhile.
constexpr size_t kCopySlot = 0;

}  // namespace

TaskRunner::TaskRunner(const Plan& plan, const Placed& placed, const Tasks& tasks,
                       const Destination& out, std::function<bool(uint64_t)> progress)
    : plan_(plan),
      placed_(placed),
      tasks_(tasks),
      out_(out),
      worker_(plan.rewritten.graph.catalog()),
      methods_(worker_.catalog().files.size(),
               placed.files.empty() ? CopyMethods() : MethodsFor(out.fd(0))) {
  worker_.scratch_folder = out.folder();
  worker_.progress = std::move(progress);
}

Status TaskRunner::Run(const Task& task) {
  uint32_t crc = 0;
  Status done = Make(task, task.crc ? &crc : nullptr);
  if (done.ok() && task.crc) {
    crcs_.push_back({task.file, task.position, task.to, task.bytes, crc});
  }
  return done;
}

Status TaskRunner::Make(const Task& task, uint32_t* crc) {
  switch (task.kind) {
    case Task::Kind::kCopy:
      return CopyFile(task, crc);
    case Task::Kind::kRead:
      return CopyPacked(task, crc);
    case Task::Kind::kConstant:
      return WriteConstant(task, crc);
    case Task::Kind::kMove:
      return Move(task, crc);
  }
  return {};
}

const Lowered& TaskRunner::LoweredOf(const Task& task) const {
  return plan_.lowered[placed_.files[task.file].outputs[task.position]];
}

Status TaskRunner::CopyFile(const Task& task, uint32_t* crc) {
  Result<const InputFile*> source = worker_.File(task.source);
  if (!source.ok()) return std::move(source).error();
  RangeCopy copy;
  copy.source = *source;
  copy.from = task.from;
  copy.fd = out_.fd(task.file);
  copy.to = task.to;
  copy.bytes = task.bytes;
  copy.crc32 = crc;
  copy.progress = worker_.progress;
  return CopyRange(copy, &methods_[task.source], worker_.Scratch(kCopySlot, kCopyBuffer));
}

Status TaskRunner::CopyPacked(const Task& task, uint32_t* crc) {
  for (uint64_t at = 0; at < task.bytes;) {
    const auto size = static_cast<size_t>(std::min<uint64_t>(kCopyBuffer, task.bytes - at));
    uint8_t* buffer = worker_.Scratch(kCopySlot, kCopyBuffer);
    Status done = worker_.Read(task.source, task.from + at, buffer, size);
    if (done.ok()) done = Write(task, at, buffer, size, crc);
    if (!done.ok()) return done;
    at += size;
  }
  return {};
}

Status TaskRunner::WriteConstant(const Task& task, uint32_t* crc) {
  const std::string& text = *LoweredOf(task).constants[task.source];
  return Write(task, 0, text.data() + task.from, static_cast<size_t>(task.bytes), crc);
}

Status TaskRunner::Write(const Task& task, uint64_t at, const void* bytes, size_t size,
                         uint32_t* crc) {
  if (crc != nullptr) *crc = libdeflate_crc32(*crc, bytes, size);
  Status written = WriteAt(out_.fd(task.file), task.to + at, bytes, size);
  if (written.ok() && !worker_.progress(size)) return Error("stopped", "another part has failed");
  return written;
}

Status TaskRunner::Move(const Task& task, uint32_t* crc) {
  const Tile& tile = tasks_.tiles[task.source];
  const OutputRange range{out_.fd(task.file), task.to - tile.target};
  Status moved = MoveTile(LoweredOf(task), tile, range, &worker_);
  if (!moved.ok() || crc == nullptr) return moved;
  return ReadCrc(task, crc);
}

// Of bytes just written: they come from the page cache.
Status TaskRunner::ReadCrc(const Task& task, uint32_t* crc) {
  uint8_t* buffer = worker_.Scratch(kCopySlot, kCopyBuffer);
  for (uint64_t at = 0; at < task.bytes;) {
    const auto size = static_cast<size_t>(std::min<uint64_t>(kCopyBuffer, task.bytes - at));
    const ssize_t got = pread(out_.fd(task.file), buffer, size, static_cast<off_t>(task.to + at));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return WriteError(got < 0 ? errno : EIO);
    *crc = libdeflate_crc32(*crc, buffer, static_cast<size_t>(got));
    at += static_cast<uint64_t>(got);
  }
  return {};
}

}  // namespace rekey
