// What a file that no reader takes looks like, and what to do about it.
//
// Most such files are no broken checkpoints but something else under a checkpoint's name: a git-lfs
// pointer, a login page saved by a download, a zip whose second half is missing. Each has its own
// message. It is not a reader and decides nothing.
//
//   return UnknownFile(file);   // error: `model.safetensors` is a git-lfs pointer, not the file
#ifndef REKEY_ENGINE_FORMATS_UNKNOWN_H_
#define REKEY_ENGINE_FORMATS_UNKNOWN_H_

#include "engine/file.h"
#include "grammar/diagnostic.h"

namespace rekey {

// Reads at most the first kilobyte and, of a zip, the last 64.
Diagnostic UnknownFile(const InputFile& file);

}  // namespace rekey

#endif  // REKEY_ENGINE_FORMATS_UNKNOWN_H_
