// Lays out a safetensors file: the header's text and the place of every tensor.
//
// Tensors keep the order of the state_dict when each then begins at a multiple of its element size,
// as it does if all have one dtype; otherwise they are sorted by descending element size, which
// always gives that. The header lists them in the order of their bytes. It is padded with spaces so
// that the data begins at a multiple of 8 and, where tensors are copied as they are, at the same
// place of a page as in the source, so that whole pages can be shared.
//
// Metadata is sorted and always has "format": "pt", without which some loaders fail. Of shared
// tensors one is written; the others stand in the metadata as `dropped -> kept`. Loaders that
// return a dict (safetensors.torch.load_file) do not look there: whoever needs both keys from them
// asks for copies.
#ifndef REKEY_ENGINE_FORMATS_SAFETENSORS_WRITER_H_
#define REKEY_ENGINE_FORMATS_SAFETENSORS_WRITER_H_

#include "engine/formats/format.h"

namespace rekey {

// Writer::lay_out. Errors: a dtype that safetensors lacks, a key or metadata that is not UTF-8 or
// is called `__metadata__`, a header over the format's limit.
Result<FileLayout> LayOutSafetensors(const OutputDescription& description);

}  // namespace rekey

#endif  // REKEY_ENGINE_FORMATS_SAFETENSORS_WRITER_H_
