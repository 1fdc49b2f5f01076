// Joins the catalogs of several files into one key space.
//
// Files, storages, entries and object trees are put one after another and renumbered. What a file
// says of itself is kept only as far as all agree. It opens nothing.
//
//   CatalogJoiner joiner;
//   joiner.Add(std::move(rank0), "tp0.");
//   joiner.Add(std::move(rank1), "tp1.");
//   Result<Catalog> both = joiner.Finish();
#ifndef REKEY_ENGINE_JOIN_H_
#define REKEY_ENGINE_JOIN_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/catalog.h"
#include "engine/status.h"

namespace rekey {

class CatalogJoiner {
 public:
  // `prefix` is put before every key. torch's _metadata is kept only without a prefix: its module
  // paths belong to the keys as they were.
  void Add(Catalog part, std::string_view prefix);

  // The whole. An error if two files have one key, naming both and the `source` line that would
  // tell them apart. Metadata that differs between files is left out with a warning.
  Result<Catalog> Finish();

 private:
  struct Part {
    size_t first_entry;
    uint32_t file;
  };
  void AddEntries(Catalog& part, std::string_view prefix);
  void AddObjects(Catalog& part, bool with_modules);
  void AddMetadata(Catalog& part);
  const FileInfo& FileOfEntry(uint32_t entry) const;
  Diagnostic KeyInTwoFiles(uint32_t earlier, uint32_t later) const;

  Catalog whole_;
  std::vector<Part> parts_;
  // Of the metadata so far: nothing for a key whose values differ.
  std::map<std::string, std::optional<std::string>> metadata_;
  std::vector<std::string> metadata_order_;
};

// Lines that tell two files apart, as close to their names as they allow:
// `source mp_rank_{n:int}/model.pt -> {n}.` for mp_rank_00/model.pt and mp_rank_01/model.pt, else
// one line a file.
std::vector<std::string> SourceLinesFor(const std::string& a, const std::string& b);

}  // namespace rekey

#endif  // REKEY_ENGINE_JOIN_H_
