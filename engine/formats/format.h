// The formats that rekey reads and writes, one table entry each.
//
// A reader looks at headers and gives a Catalog; a writer fixes the offset of every output byte
// before one is written. To add a format: one pair of files in this folder and one line in the
// table of registry.cc. Formats know nothing of rules.
//
//   Result<Catalog> catalog = ReadFile(path, {});        // picks the reader by content
#ifndef REKEY_ENGINE_FORMATS_FORMAT_H_
#define REKEY_ENGINE_FORMATS_FORMAT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/catalog.h"
#include "engine/file.h"
#include "engine/status.h"

namespace rekey {

// --- Reading ----------------------------------------------------------------------------------

struct ReadOptions {
  // `select PATH`: the state_dict is that entry of the object tree. Absent: find the one.
  std::optional<std::string> select;
  // `select all`: the whole tree, keys joined by '.'.
  bool select_all = false;
};

struct Format {
  const char* name;                      // Catalog::format
  const char* what;                      // one line for documents and messages
  bool (*sniff)(const InputFile& file);  // by content, never by name; cheap; never fails
  Result<Catalog> (*read)(InputFile file, const ReadOptions& options);
};

// All readers, in the order in which they are asked.
const std::vector<Format>& Formats();

// One file. The error for a file that no reader takes says what it looks like (a git-lfs pointer, a
// zip cut short, an empty file, the old tar form of torch) and what to do.
Result<Catalog> ReadFile(const std::string& path, const ReadOptions& options);
Result<Catalog> ReadFile(InputFile file, const ReadOptions& options);

// True if some reader takes the file: what a folder without an index is searched by.
bool IsCheckpoint(const InputFile& file);

// --- Writing ----------------------------------------------------------------------------------

// One tensor of an output file, contiguous row-major, little endian.
struct OutputTensor {
  std::string_view key;
  DType dtype = DType::kF32;
  Shape shape;
  uint64_t bytes = 0;
  // Index of an earlier tensor of the same file whose bytes this one shares; itself otherwise.
  // safetensors writes the key into the metadata only, torch writes one storage for both.
  uint32_t same_as = 0;
  // Where the source's bytes begin modulo 4096 if they can be copied as they are, so that page
  // copies stay aligned and file systems can share extents; nothing otherwise.
  std::optional<uint32_t> source_phase;
  // The CRC-32 of the bytes, when known beforehand.
  std::optional<uint32_t> crc32;
};

struct OutputDescription {
  std::vector<OutputTensor> tensors;                          // in the order of the state_dict
  std::vector<std::pair<std::string, std::string>> metadata;  // safetensors only
  std::vector<ModuleMetadata> module_metadata;                // torch only
  const ObjectGraph* objects = nullptr;                       // of module_metadata
  std::string archive_name;  // torch: the root folder in the zip, the file name's stem
};

// Bytes of a file that are not tensors: headers, directories.
struct Literal {
  uint64_t offset = 0;
  std::string bytes;
};

// Four bytes to be overwritten by the little-endian CRC-32 of a tensor once it has been written.
struct CrcPatch {
  uint64_t offset = 0;
  uint32_t tensor = 0;
};

struct FileLayout {
  uint64_t size = 0;
  std::vector<uint64_t> offsets;  // of each tensor's first byte; same_as tensors: that of the other
  std::vector<Literal> literals;  // in order of offset; with the tensors they cover the file
  std::vector<CrcPatch> crcs;     // tensors named here have no crc32 in the description
};

struct Writer {
  const char* name;                     // "safetensors", "torch"
  std::vector<const char*> extensions;  // of OUT, which pick it
  // Errors: a dtype or key the format cannot hold, a header over the format's limit.
  Result<FileLayout> (*lay_out)(const OutputDescription& description);
};

const std::vector<Writer>& Writers();

}  // namespace rekey

#endif  // REKEY_ENGINE_FORMATS_FORMAT_H_
