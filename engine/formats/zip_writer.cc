#include "engine/formats/zip_writer.h"

#include <libdeflate.h>

#include <utility>

namespace rekey {
namespace {

constexpr uint64_t kAlignment = 64;
constexpr uint64_t kPage = 4096;
// A tensor is moved on to its place of a page if it is large, or if that costs no more than this.
constexpr uint64_t kLargeTensor = 64 << 10;
constexpr uint64_t kSmallGap = kAlignment;

constexpr uint64_t kMax16 = 0xffff;
constexpr uint64_t kMax32 = 0xffffffff;
constexpr uint16_t kVersion = 20;    // needed to read stored records in folders
constexpr uint16_t kVersion64 = 45;  // needed for ZIP64
constexpr uint16_t kUtf8 = 0x0800;   // flag: names are UTF-8
constexpr uint16_t kDate = 0x0021;   // 1980-01-01, the format's zero: output is repeatable
constexpr uint16_t kZip64Extra = 0x0001;
constexpr uint16_t kPaddingExtra = 0x4246;  // "FB"

constexpr uint64_t kLocalCrc = 14;  // places of the CRC in the two headers
constexpr uint64_t kEntryCrc = 16;
constexpr uint64_t kLocalBytes = 30;
constexpr uint64_t kExtraBytes = 4;  // identifier and length of an extra field

void Put16(std::string* out, uint64_t value) {
  for (int i = 0; i < 2; ++i) out->push_back(static_cast<char>(value >> (8 * i)));
}
void Put32(std::string* out, uint64_t value) {
  for (int i = 0; i < 4; ++i) out->push_back(static_cast<char>(value >> (8 * i)));
}
void Put64(std::string* out, uint64_t value) {
  for (int i = 0; i < 8; ++i) out->push_back(static_cast<char>(value >> (8 * i)));
}

// What the 32-bit field holds: the value, or the sign that the ZIP64 field has it.
uint64_t Field32(uint64_t value) { return value < kMax32 ? value : kMax32; }

// Version needed, flags, method (stored), time and date: the same in both headers.
void PutCommon(std::string* out, bool zip64) {
  Put16(out, zip64 ? kVersion64 : kVersion);
  Put16(out, kUtf8);
  Put16(out, 0);
  Put16(out, 0);
  Put16(out, kDate);
}

// The first place for contents at or after `earliest`.
uint64_t PlaceContents(uint64_t earliest, uint64_t bytes, std::optional<uint32_t> phase) {
  const uint64_t aligned = (earliest + kAlignment - 1) / kAlignment * kAlignment;
  if (!phase || *phase % kAlignment != 0) return aligned;
  const uint64_t gap = (*phase + kPage - aligned % kPage) % kPage;
  return bytes >= kLargeTensor || gap <= kSmallGap ? aligned + gap : aligned;
}

}  // namespace

ZipWriter::ZipWriter(std::string root) : root_(std::move(root)) {}

void ZipWriter::Begin(const Record& record, std::optional<uint32_t> phase) {
  const uint64_t header = End();
  const bool zip64 = record.bytes >= kMax32;
  std::string sizes;
  if (zip64) {
    Put16(&sizes, kZip64Extra);
    Put16(&sizes, 16);
    Put64(&sizes, record.bytes);
    Put64(&sizes, record.bytes);
  }
  const uint64_t earliest = header + kLocalBytes + record.name.size() + sizes.size() + kExtraBytes;
  const uint64_t padding = PlaceContents(earliest, record.bytes, phase) - earliest;

  std::string* out = &literal_.bytes;
  Put32(out, 0x04034b50);
  PutCommon(out, zip64);
  Put32(out, record.crc32);
  Put32(out, Field32(record.bytes));
  Put32(out, Field32(record.bytes));
  Put16(out, record.name.size());
  Put16(out, sizes.size() + kExtraBytes + padding);
  out->append(record.name);
  out->append(sizes);
  Put16(out, kPaddingExtra);
  Put16(out, padding);
  out->append(padding, 'Z');

  if (record.patch) layout_.crcs.push_back({header + kLocalCrc, *record.patch});
  AddEntry(record, header);
}

void ZipWriter::AddEntry(const Record& record, uint64_t header) {
  std::string extra;
  if (record.bytes >= kMax32) {
    Put64(&extra, record.bytes);
    Put64(&extra, record.bytes);
  }
  if (header >= kMax32) Put64(&extra, header);

  std::string* out = &directory_;
  if (record.patch) directory_crcs_.push_back({out->size() + kEntryCrc, *record.patch});
  Put32(out, 0x02014b50);
  Put16(out, extra.empty() ? kVersion : kVersion64);  // made by
  PutCommon(out, !extra.empty());
  Put32(out, record.crc32);
  Put32(out, Field32(record.bytes));
  Put32(out, Field32(record.bytes));
  Put16(out, record.name.size());
  Put16(out, extra.empty() ? 0 : extra.size() + kExtraBytes);
  Put16(out, 0);  // comment
  Put16(out, 0);  // disk
  Put16(out, 0);  // internal attributes
  Put32(out, 0);  // external attributes
  Put32(out, Field32(header));
  out->append(record.name);
  if (!extra.empty()) {
    Put16(out, kZip64Extra);
    Put16(out, extra.size());
    out->append(extra);
  }
  ++entries_;
}

void ZipWriter::Add(std::string_view name, std::string_view bytes) {
  const uint32_t crc = libdeflate_crc32(0, bytes.data(), bytes.size());
  Begin({root_ + "/" + std::string(name), bytes.size(), crc, std::nullopt}, std::nullopt);
  literal_.bytes.append(bytes);
}

uint64_t ZipWriter::AddTensor(std::string_view name, uint32_t index, const OutputTensor& tensor) {
  Record record{root_ + "/" + std::string(name), tensor.bytes, 0, std::nullopt};
  if (tensor.crc32) {
    record.crc32 = *tensor.crc32;
  } else if (tensor.bytes > 0) {  // the CRC of nothing is 0
    record.patch = index;
  }
  Begin(record, tensor.source_phase);
  const uint64_t offset = End();
  if (tensor.bytes > 0) {
    layout_.literals.push_back(std::move(literal_));
    literal_ = {offset + tensor.bytes, ""};
  }
  return offset;
}

FileLayout ZipWriter::Finish() {
  const uint64_t start = End();
  for (const CrcPatch& patch : directory_crcs_) {
    layout_.crcs.push_back({start + patch.offset, patch.tensor});
  }
  const uint64_t size = directory_.size();
  std::string* out = &literal_.bytes;
  out->append(directory_);
  if (entries_ >= kMax16 || size >= kMax32 || start >= kMax32) {
    const uint64_t end64 = End();
    Put32(out, 0x06064b50);  // ZIP64 end of the directory
    Put64(out, 44);          // bytes that follow
    Put16(out, kVersion64);
    Put16(out, kVersion64);
    Put32(out, 0);  // this disk, the directory's disk
    Put32(out, 0);
    Put64(out, entries_);
    Put64(out, entries_);
    Put64(out, size);
    Put64(out, start);
    Put32(out, 0x07064b50);  // its locator
    Put32(out, 0);
    Put64(out, end64);
    Put32(out, 1);  // disks
  }
  Put32(out, 0x06054b50);  // end of the directory
  Put16(out, 0);
  Put16(out, 0);
  Put16(out, entries_ < kMax16 ? entries_ : kMax16);
  Put16(out, entries_ < kMax16 ? entries_ : kMax16);
  Put32(out, Field32(size));
  Put32(out, Field32(start));
  Put16(out, 0);  // comment
  layout_.size = End();
  layout_.literals.push_back(std::move(literal_));
  return std::move(layout_);
}

}  // namespace rekey
