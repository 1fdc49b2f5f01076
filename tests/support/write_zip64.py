"""Writes a torch file past 4 GiB whose large tensor is a hole: torch's own bytes, zeros skipped.

    python write_zip64.py FILE        -> {"big": u8 zeros, "after": f32 [1, 2], "tail": …}
"""
import sys

import numpy
import torch


class Sparse:
    """A file that seeks over zeros instead of writing them."""

    def __init__(self, path):
        self.file = open(path, "wb")

    def write(self, data):
        view = numpy.frombuffer(data, dtype=numpy.uint8)
        step = 1 << 20
        for begin in range(0, len(view), step):
            part = view[begin:begin + step]
            if part.any():
                self.file.write(part)
            else:
                self.file.seek(len(part), 1)
        return len(view)

    def flush(self):
        self.file.flush()


out = Sparse(sys.argv[1])
# Fresh zero pages of the system: they take no memory until written to.
zeros = torch.from_numpy(numpy.zeros((4 << 30) + 1000, dtype=numpy.uint8))
zeros[-1] = 7
torch.save({"big": zeros, "after": torch.tensor([1.0, 2.0]), "tail": zeros[-3:]}, out)
out.file.close()
