// Lays out a zip archive of stored records whose places are all known before a byte is written.
//
// Each record's contents begin at a multiple of 64, as torch wants them, and tensors copied as they
// are begin at the same place of a page as in the source where that costs little; the gap is filled
// by an extra field of the local header with the identifier `FB`, torch's own. Sizes stand in the
// local headers, so there are no data descriptors. ZIP64 fields appear where 32 bits do not do.
// It knows nothing of pickles, and it writes no files.
//
//   ZipWriter zip("model");
//   zip.Add("version", "3\n");
//   uint64_t offset = zip.AddTensor("data/0", 0, tensor);
//   FileLayout layout = zip.Finish();      // offsets are left to the caller
//
// Format: APPNOTE.TXT 6.3.10 of PKWARE, sections 4.3.7 (local header), 4.3.12 (directory), 4.3.14
// to 4.3.16 (ends), 4.5.3 (ZIP64).
#ifndef REKEY_ENGINE_FORMATS_ZIP_WRITER_H_
#define REKEY_ENGINE_FORMATS_ZIP_WRITER_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "engine/formats/format.h"

namespace rekey {

class ZipWriter {
 public:
  // All records lie in the folder `root`.
  explicit ZipWriter(std::string root);

  // A record whose contents are known.
  void Add(std::string_view name, std::string_view bytes);

  // Room for the bytes of a tensor; `index` names it in FileLayout::crcs. Returns where they begin.
  uint64_t AddTensor(std::string_view name, uint32_t index, const OutputTensor& tensor);

  // The directory after the last record. FileLayout::offsets stays empty.
  FileLayout Finish();

 private:
  struct Record {
    std::string name;  // with the root
    uint64_t bytes = 0;
    uint32_t crc32 = 0;
    std::optional<uint32_t> patch;  // the tensor whose CRC comes later
  };
  uint64_t End() const { return literal_.offset + literal_.bytes.size(); }
  // Writes the local header, its entry of the directory too; contents follow at End().
  void Begin(const Record& record, std::optional<uint32_t> phase);
  void AddEntry(const Record& record, uint64_t header);

  std::string root_;
  FileLayout layout_;
  Literal literal_;        // not yet in the layout
  std::string directory_;  // entries
  uint64_t entries_ = 0;
  std::vector<CrcPatch> directory_crcs_;  // offsets from the start of the directory
};

}  // namespace rekey

#endif  // REKEY_ENGINE_FORMATS_ZIP_WRITER_H_
