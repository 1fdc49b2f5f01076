// Reads what torch.save writes since 1.6, and TorchScript archives: a zip of a pickle and one
// record a storage.
//
//   ROOT/data.pkl      the objects, tensors as calls over persistent ids
//   ROOT/data/KEY      the bytes of a storage
//   ROOT/byteorder     "little" or "big"; absent means little
//   ROOT/constants.pkl, ROOT/code/…    only in TorchScript archives
//
// ROOT is the first record's name up to its first '/'; all records share it. Keys are numbers, in
// files of other programs addresses. Records may be deflated (people pack files again) and need not
// be aligned. A stored CRC of 0 is none: some writers leave it out.
#ifndef REKEY_ENGINE_FORMATS_TORCH_ZIP_READER_H_
#define REKEY_ENGINE_FORMATS_TORCH_ZIP_READER_H_

#include "engine/formats/format.h"

namespace rekey {

extern const Format kTorchZip;

}  // namespace rekey

#endif  // REKEY_ENGINE_FORMATS_TORCH_ZIP_READER_H_
