"""Prints what the safetensors library reads from a file: python read_safetensors.py FILE

{"metadata": {...}, "tensors": {key: {"dtype", "shape", "hex"}}, "torch": [keys that torch loads]}
"""
import json
import sys

import safetensors
import safetensors.torch


def main(path):
    with open(path, "rb") as file:
        raw = file.read()
    tensors = {key: {"dtype": value["dtype"], "shape": list(value["shape"]),
                     "hex": bytes(value["data"]).hex()}
               for key, value in safetensors.deserialize(raw)}
    with safetensors.safe_open(path, framework="pt") as file:
        metadata = file.metadata()
        # torch has no 6-bit types.
        loaded = [key for key in file.keys()
                  if not tensors[key]["dtype"].startswith("F6_")
                  and file.get_tensor(key) is not None]
    json.dump({"metadata": metadata, "tensors": tensors, "torch": loaded}, sys.stdout)


main(sys.argv[1])
