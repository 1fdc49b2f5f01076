// A checkpoint as users name it - a file, an index, a folder - as one Catalog.
//
// It finds the files, reads each one's header by content, and joins them into one key space. What
// `source` lines do to names is the caller's (engine/sources.h); without them keys stay as they
// are, and a key that two files hold is an error that names both. It reads no weights.
//
//   Result<Catalog> c = OpenCheckpoint("model.safetensors.index.json", {});
//   Result<Catalog> d = OpenCheckpoint("iter_0000100/", spec);
//
// A folder is read through its index if it has one, by `source` lines if the rules have them (they
// win over an index), through the folder or file that `latest_checkpointed_iteration.txt` or
// `latest` names, else as all checkpoint files in it. JSON files beside the weights become meta
// roots (config.json is `config.…`).
#ifndef REKEY_ENGINE_CHECKPOINT_H_
#define REKEY_ENGINE_CHECKPOINT_H_

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "engine/catalog.h"
#include "engine/formats/format.h"
#include "engine/status.h"

namespace rekey {

struct InputSpec {
  ReadOptions read;

  // For a file by its name below the folder (always with '/'): the text to put before its keys, or
  // nothing if no `source` line takes the file. `file` reads the file's catalog when a guard asks
  // for its meta. Absent: there are no `source` lines.
  using File = std::function<Result<const Catalog*>()>;
  std::function<Result<std::optional<std::string>>(std::string_view name, const File& file)> source;
};

// Errors: nothing there, a folder without checkpoints, an index that names an absent file, a shard
// that lacks its key, a key in two files, `source` lines that take no file, a format fault.
Result<Catalog> OpenCheckpoint(const std::string& path, const InputSpec& spec);

}  // namespace rekey

#endif  // REKEY_ENGINE_CHECKPOINT_H_
