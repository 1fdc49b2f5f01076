#include "engine/copy_range.h"

#include <libdeflate.h>
#include <linux/fs.h>
#include <linux/magic.h>
#include <sys/ioctl.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "engine/work.h"

namespace rekey {
namespace {

constexpr uint64_t kPage = 4096;
// Less is not worth a shared extent of its own.
constexpr uint64_t kSmallestClone = 64 << 10;
// One call of copy_file_range: long enough to be cheap, short enough to show progress.
constexpr uint64_t kStep = 4 << 20;

// The call is unknown here, or not for these two files or offsets.
bool NotSupported(int code) {
  switch (code) {
    case ENOSYS:
    case EOPNOTSUPP:
    case EXDEV:
    case EINVAL:
    case ENOTTY:
    case EPERM:
    case EBADF:
    case ETXTBSY:
      return true;
    default:
      return false;
  }
}

Diagnostic Stopped() { return Error("stopped", "another part of the run has failed"); }

bool Report(const RangeCopy& copy, uint64_t bytes) {
  return !copy.progress || copy.progress(bytes);
}

// The part of a copy from byte `begin` up to `end`.
RangeCopy Part(const RangeCopy& copy, uint64_t begin, uint64_t end) {
  RangeCopy part = copy;
  part.from += begin;
  part.to += begin;
  part.bytes = end - begin;
  return part;
}

Status ThroughBuffer(const RangeCopy& copy, uint8_t* buffer) {
  for (uint64_t at = 0; at < copy.bytes;) {
    const size_t size = static_cast<size_t>(std::min<uint64_t>(kCopyBuffer, copy.bytes - at));
    Status read = copy.source->ReadAt(copy.from + at, buffer, size);
    if (!read.ok()) return read;
    if (copy.crc32 != nullptr) *copy.crc32 = libdeflate_crc32(*copy.crc32, buffer, size);
    Status written = WriteAt(copy.fd, copy.to + at, buffer, size);
    if (!written.ok()) return written;
    if (!Report(copy, size)) return Stopped();
    at += size;
  }
  return {};
}

Status InKernel(const RangeCopy& copy, CopyMethods* methods, uint8_t* buffer) {
  for (uint64_t at = 0; at < copy.bytes;) {
    loff_t from = static_cast<loff_t>(copy.from + at);
    loff_t to = static_cast<loff_t>(copy.to + at);
    const size_t size = static_cast<size_t>(std::min(kStep, copy.bytes - at));
    const ssize_t copied = copy_file_range(copy.source->fd(), &from, copy.fd, &to, size, 0);
    if (copied < 0 && errno == EINTR) continue;
    if (copied < 0 && !NotSupported(errno)) return WriteError(errno);
    if (copied <= 0) {
      // Nothing at all: some file systems say so instead of refusing, and the source may end early.
      // Reading tells which.
      if (copied < 0) methods->in_kernel = false;
      return ThroughBuffer(Part(copy, at, copy.bytes), buffer);
    }
    if (!Report(copy, static_cast<uint64_t>(copied))) return Stopped();
    at += static_cast<uint64_t>(copied);
  }
  return {};
}

// Shares whole pages; false when that is not supported.
bool Clone(const RangeCopy& copy) {
  file_clone_range range = {};
  range.src_fd = copy.source->fd();
  range.src_offset = copy.from;
  range.src_length = copy.bytes;
  range.dest_offset = copy.to;
  int done;
  do {
    done = ioctl(copy.fd, FICLONERANGE, &range);
  } while (done != 0 && errno == EINTR);
  return done == 0;
}

}  // namespace

CopyMethods MethodsFor(int fd) {
  constexpr uint32_t kCifs = 0xff534d42;  // not in linux/magic.h
  CopyMethods methods;
  struct statfs disk;
  if (fstatfs(fd, &disk) != 0) return methods;
  switch (static_cast<uint32_t>(disk.f_type)) {
    case NFS_SUPER_MAGIC:
    case SMB2_SUPER_MAGIC:
    case CEPH_SUPER_MAGIC:
    case FUSE_SUPER_MAGIC:
    case kCifs:
      return methods;
    default:
      methods.in_kernel = false;
      return methods;
  }
}

Status CopyRange(const RangeCopy& copy, CopyMethods* methods, uint8_t* buffer) {
  if (copy.crc32 != nullptr) return ThroughBuffer(copy, buffer);
  const uint64_t head = std::min(copy.bytes, (kPage - copy.to % kPage) % kPage);
  const uint64_t pages = (copy.bytes - head) / kPage * kPage;
  if (methods->clone && pages >= kSmallestClone && (copy.from + head) % kPage == 0) {
    methods->clone = Clone(Part(copy, head, head + pages));
    if (methods->clone) {
      if (!Report(copy, pages)) return Stopped();
      Status begun = ThroughBuffer(Part(copy, 0, head), buffer);
      if (!begun.ok()) return begun;
      return ThroughBuffer(Part(copy, head + pages, copy.bytes), buffer);
    }
  }
  if (methods->in_kernel) return InKernel(copy, methods, buffer);
  return ThroughBuffer(copy, buffer);
}

}  // namespace rekey
