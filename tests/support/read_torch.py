"""Prints what torch loads from a file: python read_torch.py FILE

{"type": "OrderedDict", "metadata": {...} or null, "zip": null or the first record with a wrong CRC,
 "names": [records], "tensors": [{"key", "dtype", "shape", "storage", "hex"}]}

The file is loaded three times (weights_only with and without mmap, and with the whole pickle
machine), and must come out the same. `storage` numbers the storages, so that ties show.
"""
import json
import sys
import warnings
import zipfile

import torch

warnings.simplefilter("ignore")


def describe(loaded):
    storages = {}
    tensors = []
    for key, tensor in loaded.items():
        storage = tensor.untyped_storage()
        number = storages.setdefault(storage._cdata, len(storages))
        begin = tensor.storage_offset() * tensor.element_size()
        size = tensor.numel() * tensor.element_size()
        assert tensor.is_contiguous() and not tensor.requires_grad
        assert tensor.numel() == 0 or tensor.data_ptr() % tensor.element_size() == 0
        raw = torch.empty(0, dtype=torch.uint8).set_(storage)[begin:begin + size]
        tensors.append({"key": key, "dtype": str(tensor.dtype).removeprefix("torch."),
                        "shape": list(tensor.shape), "storage": number,
                        "hex": bytes(raw.tolist()).hex()})
    return {"type": type(loaded).__name__, "metadata": getattr(loaded, "_metadata", None),
            "tensors": tensors}


def main(path):
    first = describe(torch.load(path, weights_only=True, mmap=True))
    assert first == describe(torch.load(path, weights_only=True))
    assert first == describe(torch.load(path, weights_only=False))
    with zipfile.ZipFile(path) as file:
        first["zip"] = file.testzip()
        first["names"] = file.namelist()
    json.dump(first, sys.stdout)


main(sys.argv[1])
