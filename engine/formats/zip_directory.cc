#include "engine/formats/zip_directory.h"

#include <zlib.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include "engine/json.h"

namespace rekey {
namespace {

constexpr uint32_t kLocalMark = 0x04034b50;
constexpr uint32_t kRecordMark = 0x02014b50;
constexpr uint32_t kEndMark = 0x06054b50;
constexpr uint32_t kEnd64Mark = 0x06064b50;
constexpr uint32_t kLocatorMark = 0x07064b50;

constexpr uint64_t kLocalBytes = 30;
constexpr uint64_t kRecordBytes = 46;
constexpr uint64_t kEndBytes = 22;
constexpr uint64_t kEnd64Bytes = 56;
constexpr uint64_t kLocatorBytes = 20;
constexpr uint64_t kLongestComment = 65535;

constexpr uint16_t kExtra64 = 1;
constexpr uint16_t kStored = 0;
constexpr uint16_t kDeflated = 8;
constexpr uint64_t kMaxDeflateRatio = 1032;  // zlib's technical notes: 258 bytes from two bits

uint64_t Little(const char* at, size_t bytes) {
  uint64_t value = 0;
  for (size_t i = bytes; i-- > 0;) value = value << 8 | static_cast<uint8_t>(at[i]);
  return value;
}
uint16_t Little16(const char* at) { return static_cast<uint16_t>(Little(at, 2)); }
uint32_t Little32(const char* at) { return static_cast<uint32_t>(Little(at, 4)); }

std::string Name(const InputFile& file) { return "`" + file.info().path + "`"; }

std::string RecordName(const InputFile& file, const ZipRecord& record) {
  return "record `" + std::string(record.name) + "` of " + Name(file);
}

Diagnostic Damaged(const InputFile& file, const std::string& what) {
  return Error("bad-zip", "the zip directory of " + Name(file) + " is damaged: " + what)
      .Help("download or copy the file again");
}

// What the end record says of the directory.
struct End {
  uint64_t at = 0;  // of the first end record, ZIP64's or the plain one
  uint64_t offset = 0;
  uint64_t bytes = 0;
  uint64_t count = 0;
};

// The last end record. Its comment's length is not believed, so bytes may follow it.
Result<std::optional<End>> FindEnd(const InputFile& file) {
  if (file.size() < kEndBytes) return std::optional<End>();
  const uint64_t tail_bytes = std::min(file.size(), kLongestComment + kEndBytes);
  const uint64_t tail_at = file.size() - tail_bytes;
  const Result<std::string> tail = file.ReadText(tail_at, tail_bytes);
  if (!tail.ok()) return tail.error();
  const size_t at = tail->rfind(std::string_view("PK\x05\x06", 4), tail->size() - kEndBytes);
  if (at == std::string::npos) return std::optional<End>();
  const char* record = tail->data() + at;
  if (Little16(record + 4) != Little16(record + 6)) {
    return Damaged(file, "it is one part of an archive in several parts");
  }
  return std::optional<End>(End{.at = tail_at + at,
                                .offset = Little32(record + 16),
                                .bytes = Little32(record + 12),
                                .count = Little16(record + 10)});
}

// Reads ZIP64's end record over the plain one, if a locator before that leads to it.
Status ApplyEnd64(const InputFile& file, End& end) {
  if (end.at < kLocatorBytes) return {};
  char locator[kLocatorBytes];
  Status read = file.ReadAt(end.at - kLocatorBytes, locator, sizeof locator);
  if (!read.ok()) return read;
  if (Little32(locator) != kLocatorMark) return {};
  const uint64_t at = Little(locator + 8, 8);
  const uint64_t room = end.at - kLocatorBytes;
  if (room < kEnd64Bytes || at > room - kEnd64Bytes) {
    return Damaged(file, "the ZIP64 end record is not where its locator says");
  }
  char record[kEnd64Bytes];
  read = file.ReadAt(at, record, sizeof record);
  if (!read.ok()) return read;
  if (Little32(record) != kEnd64Mark) {
    return Damaged(file, "the ZIP64 end record is not where its locator says");
  }
  end = {.at = at,
         .offset = Little(record + 48, 8),
         .bytes = Little(record + 40, 8),
         .count = Little(record + 32, 8)};
  return {};
}

Result<std::optional<End>> FindDirectory(const InputFile& file) {
  Result<std::optional<End>> end = FindEnd(file);
  if (!end.ok() || !end->has_value()) return end;
  Status applied = ApplyEnd64(file, **end);
  if (!applied.ok()) return std::move(applied).error();
  const End& found = **end;
  if (found.offset > found.at || found.bytes > found.at - found.offset) {
    return Damaged(file, "it should take " + std::to_string(found.bytes) + " bytes from byte " +
                             std::to_string(found.offset) + ", but its end record stands at byte " +
                             std::to_string(found.at));
  }
  if (found.count > found.bytes / kRecordBytes) {
    return Damaged(file, std::to_string(found.count) + " records do not fit into " +
                             std::to_string(found.bytes) + " bytes");
  }
  return end;
}

// ZIP64 sizes stand in an extra field, only those whose place in the record is full of ones, in the
// order unpacked, stored, header. False if one is missing.
bool ApplyExtra64(std::string_view extra, ZipRecord& record) {
  constexpr uint32_t kFull = std::numeric_limits<uint32_t>::max();
  std::vector<uint64_t*> wanted;
  for (uint64_t* field : {&record.bytes, &record.stored_bytes, &record.header}) {
    if (*field == kFull) wanted.push_back(field);
  }
  while (extra.size() >= 4) {
    const uint16_t tag = Little16(extra.data());
    const size_t length = Little16(extra.data() + 2);
    if (length > extra.size() - 4) break;
    if (tag == kExtra64) {
      if (length < 8 * wanted.size()) return false;
      for (size_t i = 0; i < wanted.size(); ++i) *wanted[i] = Little(extra.data() + 4 + 8 * i, 8);
      return true;
    }
    extra.remove_prefix(4 + length);
  }
  return wanted.empty();
}

// The record at the front of `directory`, which is cut off.
Result<ZipRecord> TakeRecord(const InputFile& file, const End& end, std::string_view& directory) {
  if (directory.size() < kRecordBytes || Little32(directory.data()) != kRecordMark) {
    return Damaged(file, "a record does not begin where the last one ended");
  }
  const char* at = directory.data();
  const size_t name = Little16(at + 28);
  const size_t extra = Little16(at + 30);
  const size_t all = kRecordBytes + name + extra + Little16(at + 32);
  if (all > directory.size()) return Damaged(file, "its last record is cut short");
  ZipRecord record = {.name = directory.substr(kRecordBytes, name),
                      .method = Little16(at + 10),
                      .crc32 = Little32(at + 16),
                      .header = Little32(at + 42),
                      .stored_bytes = Little32(at + 20),
                      .bytes = Little32(at + 24)};
  if (!IsUtf8(record.name)) return Damaged(file, "a record's name is not UTF-8");
  if (!ApplyExtra64(directory.substr(kRecordBytes + name, extra), record)) {
    return Damaged(file, "record `" + std::string(record.name) + "` lacks its ZIP64 sizes");
  }
  if ((Little16(at + 8) & 0x41) != 0) {
    return Error("encrypted-zip", RecordName(file, record) + " is encrypted")
        .Help("unpack the archive with its password and pack it again without");
  }
  if (record.header > end.offset || end.offset - record.header < kLocalBytes ||
      record.stored_bytes > end.offset - record.header - kLocalBytes) {
    return Damaged(file, "record `" + std::string(record.name) + "` of " +
                             std::to_string(record.stored_bytes) + " bytes from byte " +
                             std::to_string(record.header) + " on reaches into the directory");
  }
  if (record.method == kStored && record.stored_bytes != record.bytes) {
    return Damaged(file, "record `" + std::string(record.name) + "` is stored in " +
                             std::to_string(record.stored_bytes) + " bytes but has " +
                             std::to_string(record.bytes));
  }
  directory.remove_prefix(all);
  return record;
}

// `stored` unpacked into exactly `bytes` bytes; nothing if it is damaged. The text grows with what
// really comes out, not with what the directory claims.
std::optional<std::string> Inflate(const std::string& stored, uint64_t bytes) {
  if (stored.size() > std::numeric_limits<uInt>::max()) return std::nullopt;
  z_stream stream = {};
  if (inflateInit2(&stream, -MAX_WBITS) != Z_OK) return std::nullopt;
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(stored.data()));
  stream.avail_in = static_cast<uInt>(stored.size());
  std::string plain;
  std::string chunk(size_t{64} << 10, '\0');
  int status = Z_OK;
  while (status == Z_OK && plain.size() <= bytes) {
    stream.next_out = reinterpret_cast<Bytef*>(chunk.data());
    stream.avail_out = static_cast<uInt>(chunk.size());
    status = inflate(&stream, Z_NO_FLUSH);
    plain.append(chunk, 0, chunk.size() - stream.avail_out);
  }
  inflateEnd(&stream);
  if (status != Z_STREAM_END || plain.size() != bytes) return std::nullopt;
  return plain;
}

}  // namespace

const ZipRecord* ZipDirectory::Find(std::string_view name) const {
  const auto it = by_name_.find(name);
  return it == by_name_.end() ? nullptr : &records_[it->second];
}

bool LooksLikeZip(const InputFile& file) {
  char head[4];
  if (file.size() < sizeof head || !file.ReadAt(0, head, sizeof head).ok()) return false;
  if (Little32(head) != kLocalMark) return false;
  const Result<std::optional<End>> end = FindEnd(file);
  return !end.ok() || end->has_value();
}

std::optional<std::string> RawZipDirectory(const InputFile& file) {
  const Result<std::optional<End>> end = FindDirectory(file);
  if (!end.ok() || !end->has_value()) return std::nullopt;
  Result<std::string> bytes = file.ReadText((*end)->offset, (*end)->bytes);
  if (!bytes.ok()) return std::nullopt;
  return std::move(*bytes);
}

Result<ZipDirectory> ReadZipDirectory(const InputFile& file) {
  const Result<std::optional<End>> end = FindDirectory(file);
  if (!end.ok()) return end.error();
  if (!end->has_value()) {
    return Error("truncated-zip", Name(file) +
                                      " begins as a zip archive, but the record at its "
                                      "end is missing: it is cut short")
        .Help("download or copy it again");
  }
  Result<std::string> bytes = file.ReadText((*end)->offset, (*end)->bytes);
  if (!bytes.ok()) return std::move(bytes).error();
  ZipDirectory zip;
  zip.bytes_ = std::make_unique<std::string>(std::move(*bytes));
  zip.records_.reserve((*end)->count);
  zip.by_name_.reserve((*end)->count);
  std::string_view rest = *zip.bytes_;
  for (uint64_t i = 0; i < (*end)->count; ++i) {
    Result<ZipRecord> record = TakeRecord(file, **end, rest);
    if (!record.ok()) return std::move(record).error();
    if (!zip.by_name_.emplace(record->name, static_cast<uint32_t>(i)).second) {
      return Error("duplicate-record", "two records of " + Name(file) + " are called `" +
                                           std::string(record->name) + "`")
          .Note("which of the two a loader takes is chance")
          .Help("unpack the archive and pack it again");
    }
    zip.records_.push_back(*record);
  }
  if (!rest.empty()) {
    return Damaged(file, std::to_string(rest.size()) + " bytes follow the last of its " +
                             std::to_string((*end)->count) + " records");
  }
  return zip;
}

Result<uint64_t> FindZipData(const InputFile& file, const ZipRecord& record) {
  char header[kLocalBytes];
  Status read = file.ReadAt(record.header, header, sizeof header);
  if (!read.ok()) return std::move(read).error();
  if (Little32(header) != kLocalMark) {
    return Damaged(file, "no record begins at byte " + std::to_string(record.header) + ", where `" +
                             std::string(record.name) + "` should");
  }
  const uint64_t data = record.header + kLocalBytes + Little16(header + 26) + Little16(header + 28);
  if (data > file.size() || record.stored_bytes > file.size() - data) {
    return Damaged(file, "record `" + std::string(record.name) + "` reaches past the file's end");
  }
  return data;
}

Result<std::string> ReadZipRecord(const InputFile& file, const ZipRecord& record, uint64_t limit) {
  if (record.bytes > limit) {
    return Error("record-too-large", RecordName(file, record) + " has " +
                                         std::to_string(record.bytes) + " bytes, more than the " +
                                         std::to_string(limit) + " that such a record may have");
  }
  const Result<uint64_t> at = FindZipData(file, record);
  if (!at.ok()) return at.error();
  if (record.method != kStored && record.method != kDeflated) {
    return Error("zip-method", RecordName(file, record) + " is compressed by method " +
                                   std::to_string(record.method) + ", only deflate (8) is read")
        .Help("unpack the archive and pack it again with `zip -0`");
  }
  if (record.method == kDeflated && record.bytes / kMaxDeflateRatio > record.stored_bytes) {
    return Damaged(file, "record `" + std::string(record.name) + "` of " +
                             std::to_string(record.stored_bytes) + " bytes cannot unpack to " +
                             std::to_string(record.bytes));
  }
  Result<std::string> stored = file.ReadText(*at, record.stored_bytes);
  if (!stored.ok() || record.method == kStored) return stored;
  std::optional<std::string> plain = Inflate(*stored, record.bytes);
  if (!plain) {
    return Error("bad-zip", RecordName(file, record) + " is damaged: it does not unpack to the " +
                                std::to_string(record.bytes) + " bytes that the directory says")
        .Help("download or copy the file again");
  }
  return std::move(*plain);
}

}  // namespace rekey
