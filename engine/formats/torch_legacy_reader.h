// Reads torch's legacy stream: what torch.save wrote before 1.6, and still does with
// _use_new_zipfile_serialization=False.
//
//   pickle 0x1950a86a20f9469cfc6c    the magic number
//   pickle 1001                      the version
//   pickle {…}                       the writer's system
//   pickle                           the objects
//   pickle ["94518975285824", …]     the storages' keys, in the order of their bytes
//   for each: int64 count, count elements, all little endian whatever the writer's system
//
// It is told by reading the first pickle, not by its first bytes: its protocol may be any. Only the
// pickles and the counts are read, through a window; the weights are not.
#ifndef REKEY_ENGINE_FORMATS_TORCH_LEGACY_READER_H_
#define REKEY_ENGINE_FORMATS_TORCH_LEGACY_READER_H_

#include "engine/formats/format.h"

namespace rekey {

extern const Format kTorchLegacy;

}  // namespace rekey

#endif  // REKEY_ENGINE_FORMATS_TORCH_LEGACY_READER_H_
