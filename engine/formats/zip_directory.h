// A zip archive's directory: which records there are and where their bytes lie.
//
// Only the central directory at the end is believed. Writers that stream, torch among them, leave
// zeros in the headers before the records, so of those only the two lengths are read that say where
// a record begins. ZIP64 is read; multi-part archives and encryption are refused. Bytes after the
// end record are allowed (as in torch), bytes before the first record are not.
//
//   Result<ZipDirectory> zip = ReadZipDirectory(file);
//   const ZipRecord* pickle = zip->Find("archive/data.pkl");
//   Result<std::string> bytes = ReadZipRecord(file, *pickle, 1 << 20);
//
// Format: PKWARE's APPNOTE.TXT 6.3, sections 4.3 and 4.5.
#ifndef REKEY_ENGINE_FORMATS_ZIP_DIRECTORY_H_
#define REKEY_ENGINE_FORMATS_ZIP_DIRECTORY_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "engine/file.h"
#include "engine/status.h"

namespace rekey {

struct ZipRecord {
  std::string_view name;
  uint16_t method = 0;  // 0 stored, 8 deflated
  uint32_t crc32 = 0;
  uint64_t header = 0;  // offset of the local header
  uint64_t stored_bytes = 0;
  uint64_t bytes = 0;  // when unpacked
};

class ZipDirectory {
 public:
  const std::vector<ZipRecord>& records() const { return records_; }
  // nullptr if there is none of that name.
  const ZipRecord* Find(std::string_view name) const;

 private:
  friend Result<ZipDirectory> ReadZipDirectory(const InputFile& file);
  std::unique_ptr<std::string> bytes_;  // the directory, which the names point into
  std::vector<ZipRecord> records_;
  std::unordered_map<std::string_view, uint32_t> by_name_;
};

// True if the file begins as a zip and has an end record.
bool LooksLikeZip(const InputFile& file);

// The bytes of the directory unread, for a look at the names in it that costs little; nothing if
// its end record does not lead to it.
std::optional<std::string> RawZipDirectory(const InputFile& file);

// Errors: no end record, a directory that does not fit the file or its own count, two records of
// one name, an encrypted record, a record that ends beyond the directory's start.
Result<ZipDirectory> ReadZipDirectory(const InputFile& file);

// Where the stored bytes begin. Errors: no local header there, the bytes reach past the file.
Result<uint64_t> FindZipData(const InputFile& file, const ZipRecord& record);

// The plain bytes. Errors: more than `limit` bytes, a damaged or overlong deflate stream, an
// unknown method. A deflated record may not claim to unpack to more than deflate can (1032 times
// its size).
Result<std::string> ReadZipRecord(const InputFile& file, const ZipRecord& record, uint64_t limit);

}  // namespace rekey

#endif  // REKEY_ENGINE_FORMATS_ZIP_DIRECTORY_H_
