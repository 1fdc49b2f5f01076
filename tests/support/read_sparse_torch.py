"""Loads a file with one tensor of more than 4 GiB by mmap, touching only its ends."""
import sys
import zipfile

import torch

loaded = torch.load(sys.argv[1], weights_only=True, mmap=True)
huge, after = loaded["huge"], loaded["after"]
assert huge[0] == 0 and huge[-1] == 0
with zipfile.ZipFile(sys.argv[1]) as file:
    name = [name for name in file.namelist() if name.endswith("/data/1")][0]
    raw = file.read(name)  # checks the CRC
print("huge", list(huge.shape), "after", bytes(after.view(torch.uint8).tolist()).hex(),
      "zip", raw.hex())
