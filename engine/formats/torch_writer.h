// Lays out what torch.save writes: a zip with the pickle of a state_dict and one record a storage.
//
// The pickle is an OrderedDict of tensors, contiguous, without gradients, on the CPU, in the order
// of the description, with `_metadata` when there is any. Tensors that share their bytes name one
// storage, so ties stay ties. Types that have no typed storage class (fp8, unsigned above u8, f4,
// c32) are rebuilt from an untyped storage by `_rebuild_tensor_v3`. torch.load takes the file with
// weights_only=True and mmap=True. It has no `.data/serialization_id`, which is a hash over all
// contents, and no `.format_version`, which promises more of the layout than torch's own readers
// need.
#ifndef REKEY_ENGINE_FORMATS_TORCH_WRITER_H_
#define REKEY_ENGINE_FORMATS_TORCH_WRITER_H_

#include "engine/formats/format.h"

namespace rekey {

// Writer::lay_out. Errors: a dtype that torch lacks (f6), a quantised tensor (its scale is not in
// the description), f4 of an odd last size, a key that is not UTF-8, module metadata that is no
// plain data.
Result<FileLayout> LayOutTorch(const OutputDescription& description);

}  // namespace rekey

#endif  // REKEY_ENGINE_FORMATS_TORCH_WRITER_H_
