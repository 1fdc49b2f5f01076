// The table of formats. A new one is a line here and a pair of files beside it.
#include <utility>

#include "engine/formats/format.h"
#include "engine/formats/safetensors_reader.h"
#include "engine/formats/safetensors_writer.h"
#include "engine/formats/torch_legacy_reader.h"
#include "engine/formats/torch_writer.h"
#include "engine/formats/torch_zip_reader.h"
#include "engine/formats/unknown.h"

namespace rekey {

const std::vector<Format>& Formats() {
  static const std::vector<Format> formats = {
      kSafetensors,
      kTorchZip,
      kTorchLegacy,
  };
  return formats;
}

const std::vector<Writer>& Writers() {
  static const std::vector<Writer> writers = {
      {"safetensors", {".safetensors"}, LayOutSafetensors},
      {"torch", {".pt", ".pth", ".bin", ".ckpt"}, LayOutTorch},
  };
  return writers;
}

Result<Catalog> ReadFile(const std::string& path, const ReadOptions& options) {
  Result<InputFile> file = InputFile::Open(path);
  if (!file.ok()) return std::move(file).error();
  return ReadFile(std::move(*file), options);
}

Result<Catalog> ReadFile(InputFile file, const ReadOptions& options) {
  for (const Format& format : Formats()) {
    if (format.sniff(file)) return format.read(std::move(file), options);
  }
  return UnknownFile(file);
}

bool IsCheckpoint(const InputFile& file) {
  for (const Format& format : Formats()) {
    if (format.sniff(file)) return true;
  }
  return false;
}

}  // namespace rekey
