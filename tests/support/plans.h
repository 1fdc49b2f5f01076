// Plans made by hand, for tests of what carries them out: no rule file, no lowering.
//
//   HandPlan made(catalog);
//   for (uint32_t i = 0; i < catalog.entries.size(); ++i) made.Rename(i, "new." + ...);
//   Placed placed = made.Place(folder.Path("out.safetensors"), *FindWriter("safetensors"));
#ifndef REKEY_TESTS_SUPPORT_PLANS_H_
#define REKEY_TESTS_SUPPORT_PLANS_H_

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "engine/formats/format.h"
#include "engine/plan.h"

namespace rekey {

inline const Writer* FindWriter(std::string_view name) {
  for (const Writer& writer : Writers()) {
    if (name == writer.name) return &writer;
  }
  return nullptr;
}

class HandPlan {
 public:
  explicit HandPlan(const Catalog& catalog) : catalog_(catalog), plan(Rewritten(catalog)) {}

  // The whole of a catalog's entry under a new key; gives the output's index. `tied_to` names an
  // output with the same bytes.
  uint32_t Rename(uint32_t entry, std::string_view key, int tied_to = -1) {
    const Entry& source = catalog_.entries[entry];
    Lowered lowered;
    lowered.type = {source.dtype, source.shape};
    lowered.bytes = DataBytes(source);
    if (lowered.bytes > 0) lowered.pieces = {Bytes(source.storage, source.start, 0, lowered.bytes)};
    return Add(key, entry, std::move(lowered), tied_to);
  }

  uint32_t Add(std::string_view key, TensorId tensor, Lowered lowered, int tied_to = -1) {
    const auto index = static_cast<uint32_t>(plan.rewritten.outputs.size());
    OutputKey output;
    output.key = plan.rewritten.text->Add(key);
    output.tensor = tensor;
    output.claimed = true;
    output.tied_to = tied_to;
    plan.rewritten.outputs.push_back(output);
    plan.bytes += lowered.bytes;
    plan.lowered.push_back(std::move(lowered));
    plan.same_as.push_back(tied_to < 0 ? index : static_cast<uint32_t>(tied_to));
    return index;
  }

  // A run of bytes, as a piece of a copy.
  static Piece Bytes(uint32_t storage, uint64_t source, uint64_t target, uint64_t bytes) {
    Piece piece;
    piece.storage = storage;
    piece.source = source;
    piece.target = target;
    piece.dims = {{static_cast<int64_t>(bytes), 1, 1}};
    return piece;
  }

  // One file of the outputs [begin, end).
  PlacedFile PlaceFile(const std::string& path, const Writer& writer, uint32_t begin,
                       uint32_t end) const {
    OutputDescription description;
    PlacedFile file;
    file.path = path;
    for (uint32_t i = begin; i < end; ++i) {
      const Lowered& lowered = plan.lowered[i];
      OutputTensor tensor;
      tensor.key = plan.rewritten.outputs[i].key;
      tensor.dtype = lowered.type.dtype;
      tensor.shape = lowered.type.shape;
      tensor.bytes = lowered.bytes;
      tensor.same_as = plan.same_as[i] - begin;
      if (lowered.pieces.size() == 1 && lowered.pieces[0].storage != Piece::kNone) {
        const Piece& piece = lowered.pieces[0];
        const Storage& storage = catalog_.storages[piece.storage];
        tensor.source_phase = static_cast<uint32_t>((storage.offset + piece.source) % 4096);
        if (storage.has_crc && lowered.bytes == storage.bytes) tensor.crc32 = storage.crc32;
      }
      description.tensors.push_back(std::move(tensor));
      file.outputs.push_back(i);
    }
    description.archive_name = "archive";
    Result<FileLayout> layout = writer.lay_out(description);
    if (layout.ok()) {
      file.layout = std::move(*layout);
    } else {
      ADD_FAILURE() << layout.error().message;
    }
    return file;
  }

  // All outputs in one file.
  Placed Place(const std::string& path, const Writer& writer) const {
    Placed placed;
    placed.out = path;
    placed.files.push_back(
        PlaceFile(path, writer, 0, static_cast<uint32_t>(plan.rewritten.outputs.size())));
    placed.total = placed.files[0].layout.size;
    return placed;
  }

 private:
  const Catalog& catalog_;

 public:
  Plan plan;
};

}  // namespace rekey

#endif  // REKEY_TESTS_SUPPORT_PLANS_H_
