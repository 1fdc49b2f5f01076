"""Writes the safetensors fixtures of this folder and what a reader must find in them.

    python make.py            # needs torch and safetensors

good/      files that a reader must take; good/expected.json says what is in them
bad/       files that a reader must refuse; bad/expected.json says by which name, and what the
           message must mention
sharded/   an index and its shards
Files in good/ that no library writes are checked with safetensors' own reader here; of the files in
bad/, those that it refuses as well are noted as such.
"""
import hashlib
import json
import pathlib
import shutil
import struct

import safetensors
import safetensors.torch
import torch

HERE = pathlib.Path(__file__).parent


def header(entries, length=None, text=None):
    """8 bytes of length and the JSON. `entries` is a dict or a list of pairs (keys may repeat)."""
    if text is None:
        pairs = entries.items() if isinstance(entries, dict) else entries
        text = "{" + ",".join(f"{json.dumps(k)}:{json.dumps(v)}" for k, v in pairs) + "}"
    raw = text if isinstance(text, bytes) else text.encode()
    return struct.pack("<Q", len(raw) if length is None else length) + raw


def tensor(dtype, shape, begin, end):
    return {"dtype": dtype, "shape": shape, "data_offsets": [begin, end]}


# --- good -------------------------------------------------------------------------------------


def describe(path):
    """What Python's json and plain slicing find: key, dtype, shape, place and the bytes."""
    raw = path.read_bytes()
    start = 8 + struct.unpack("<Q", raw[:8])[0]
    head = json.loads(raw[8:start])
    metadata = head.pop("__metadata__", None) or {}
    tensors = []
    for key, info in head.items():
        begin, end = (start + x for x in info["data_offsets"])
        tensors.append({"key": key, "dtype": info["dtype"], "shape": info["shape"], "offset": begin,
                        "hex": raw[begin:end].hex()})
    return {"tensors": tensors, "metadata": metadata}


def every_dtype():
    numbers = torch.tensor([[0.0, 1.0, -2.0], [0.5, 448.0, -0.25]])
    tensors = {
        "scalar": torch.tensor(3.5),
        "none": torch.empty(0, 4),
        "complex": numbers * (1 + 2j),
    }
    for name in ("float64 float32 float16 bfloat16 float8_e4m3fn float8_e5m2 float8_e4m3fnuz "
                 "float8_e5m2fnuz int64 int32 int16 int8").split():
        tensors[f"t.{name}"] = numbers.to(getattr(torch, name))
    for name in "uint64 uint32 uint16 uint8 bool".split():
        tensors[f"t.{name}"] = numbers.abs().to(getattr(torch, name))
    exponents = torch.arange(120, 126, dtype=torch.uint8)
    tensors["t.float8_e8m0fnu"] = exponents.view(torch.float8_e8m0fnu)
    return tensors


class Tied(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = torch.nn.Embedding(5, 3)
        self.head = torch.nn.Linear(3, 5, bias=False)
        self.head.weight = self.embed.weight


def make_good(folder):
    torch.manual_seed(0)
    # One entry: the library writes several in another order each time.
    safetensors.torch.save_file(every_dtype(), folder / "dtypes.safetensors", {"epoch": "3"})
    safetensors.torch.save_model(Tied(), str(folder / "tied.safetensors"))
    safetensors.torch.save_file({}, folder / "empty.safetensors")
    files = {
        "no_metadata": header({"a": tensor("I16", [2], 0, 4)}) + bytes(range(4)),
        "null_metadata": header({"__metadata__": None, "a": tensor("U8", [2], 0, 2)}) + b"xy",
        "empty_metadata": header({"__metadata__": {}, "a": tensor("U8", [2], 0, 2)}) + b"xy",
        "trailing_spaces": header(
            {}, text='{"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}}     ') + b"x",
        # As json.dumps writes it: spaces, keys unsorted, data at an odd offset.
        "unaligned": header({}, text=json.dumps(
            {"z": tensor("F32", [2], 1, 9), "a": tensor("I8", [1], 0, 1)})) + bytes(range(9)),
        "bits": header({
            "f4": tensor("F4", [3, 2], 0, 3),
            "f6": tensor("F6_E2M3", [4], 3, 6),
            "g6": tensor("F6_E3M2", [2, 4], 6, 12),
            "e8": tensor("F8_E8M0", [1], 12, 13),
        }) + bytes(range(13)),
        "names": header({
            "": tensor("U8", [], 0, 1),
            "a\"b\\c\n": tensor("U8", [], 1, 2),
            "\u00e9\u4e2d\U0001f600": tensor("U8", [], 2, 3),
            "nul\0": tensor("U8", [], 3, 4),
        }) + b"abcd",
        "zeros_between": header({
            "a": tensor("U8", [1], 0, 1),
            "n": tensor("F32", [0, 7], 1, 1),
            "b": tensor("U8", [1], 1, 2),
        }) + b"ab",
    }
    for name, raw in files.items():
        (folder / f"{name}.safetensors").write_bytes(raw)
        safetensors.deserialize(raw)  # the library takes it too
    # Fields that the format does not know are skipped by the library.
    extra = dict(tensor("U8", [1], 0, 1), note={"deep": [1, {"x": None}]})
    raw = header({"a": extra}) + b"x"
    safetensors.deserialize(raw)
    (folder / "unknown_field.safetensors").write_bytes(raw)
    expected = {path.name: describe(path) for path in sorted(folder.glob("*.safetensors"))}
    (folder / "expected.json").write_text(json.dumps(expected, indent=1) + "\n")


# --- bad --------------------------------------------------------------------------------------


def make_bad(folder):
    a, b = tensor("U8", [4], 0, 4), tensor("U8", [4], 4, 8)
    eight = bytes(range(8))
    digest = hashlib.sha256(b"weights").hexdigest().encode()
    lfs = (b"version https://git-lfs.github.com/spec/v1\n"
           b"oid sha256:" + digest + b"\nsize 4976698672\n")
    files = {  # name: bytes, the error's name, what its message mentions
        "hole": (
            header({"a": a, "b": tensor("U8", [4], 6, 10)}) + bytes(10),
            "data-hole", ["`a`", "`b`", "2 bytes"]),
        "hole_first": (
            header({"a": tensor("U8", [4], 3, 7)}) + bytes(7),
            "data-hole", ["`a`", "3 bytes", "start of the data"]),
        "overlap": (
            header({"a": a, "b": tensor("U8", [4], 2, 6)}) + bytes(6),
            "data-overlap", ["`a`", "`b`"]),
        "same_place": (
            header({"a": a, "b": tensor("U8", [4], 0, 4)}) + bytes(4),
            "data-overlap", ["`a`", "`b`"]),
        "after_end": (header({"a": a}) + eight, "data-after-end", ["4 bytes"]),
        "shorter_than_header": (
            header({"a": a, "b": b}) + eight[:5],
            "truncated-file", ["cut short"]),
        "cut_in_header": (
            header({"a": a, "b": b})[:40],
            "truncated-file", ["its header alone takes"]),
        "length_2_63": (
            header({"a": a}, length=2**63) + eight,
            "bad-header", [str(2**63), "100000000"]),
        "length_over_cap": (
            header({"a": a}, length=100_000_001) + eight,
            "bad-header", ["100000001"]),
        "duplicate_key": (header([("a", a), ("b", b), ("a", a)]) + eight, "duplicate-key", ["`a`"]),
        "duplicate_escaped": (
            header({}, text='{"a":%s,"\\u0061":%s}' % (json.dumps(a), json.dumps(b))) + eight,
            "duplicate-key", ["`a`"]),
        "duplicate_field": (
            header({}, text='{"a":{"dtype":"U8","dtype":"I8","shape":[4],"data_offsets":[0,4]}}')
            + eight[:4],
            "bad-header", ["`a`", "`dtype` stands twice"]),
        "duplicate_metadata": (
            header({}, text='{"__metadata__":{},"__metadata__":{}}'),
            "duplicate-key", ["__metadata__"]),
        "duplicate_metadata_key": (
            header({}, text='{"__metadata__":{"x":"1","x":"2"}}'),
            "duplicate-key", ["`x`"]),
        "metadata_number": (
            header({"__metadata__": {"epoch": 3}}),
            "bad-header", ["`epoch`", "not a text"]),
        "metadata_text": (header({"__metadata__": "pt"}), "bad-header", ["__metadata__"]),
        "product_overflow": (
            header({"a": tensor("U8", [2**32, 2**32], 0, 4)}) + bytes(4),
            "shape-overflow", ["`a`", "2^63"]),
        "bytes_overflow": (
            header({"a": tensor("F64", [2**61], 0, 4)}) + bytes(4),
            "shape-overflow", ["`a`"]),
        "size_over_63_bits": (
            header({"a": tensor("U8", [2**64 - 1], 0, 4)}) + bytes(4),
            "shape-overflow", ["`a`", str(2**64 - 1)]),
        "rank_65": (
            header({"a": tensor("U8", [1] * 65, 0, 1)}) + b"x",
            "bad-header", ["`a`", "64 dimensions"]),
        "size_mismatch": (
            header({"a": tensor("F32", [2], 0, 4)}) + bytes(4),
            "size-mismatch", ["`a`", "takes 8 bytes", "span 4"]),
        "odd_f4": (
            header({"a": tensor("F4", [3], 0, 2)}) + bytes(2),
            "odd-bits", ["`a`", "3 elements of 4 bits"]),
        "odd_f6": (
            header({"a": tensor("F6_E3M2", [2], 0, 2)}) + bytes(2),
            "odd-bits", ["`a`", "2 elements of 6 bits"]),
        "backwards": (
            header({"a": tensor("U8", [4], 4, 0)}) + bytes(4),
            "bad-header", ["`a`", "before it begins"]),
        "negative_size": (
            header({"a": tensor("U8", [-4], 0, 4)}) + bytes(4),
            "bad-header", ["`a`", "`shape`"]),
        "fraction_size": (
            header({"a": tensor("U8", [4.0], 0, 4)}) + bytes(4),
            "bad-header", ["`a`", "`shape`"]),
        "three_offsets": (
            header({"a": {"dtype": "U8", "shape": [4], "data_offsets": [0, 4, 4]}}) + bytes(4),
            "bad-header", ["`a`", "`data_offsets`"]),
        "no_shape": (
            header({"a": {"dtype": "U8", "data_offsets": [0, 4]}}) + bytes(4),
            "bad-header", ["`a`", "`shape` is missing"]),
        "dtype_unknown": (
            header({"a": tensor("F33", [1], 0, 4)}) + bytes(4),
            "unknown-dtype", ["`a`", "F33"]),
        "dtype_number": (
            header({"a": tensor(7, [1], 0, 4)}) + bytes(4),
            "bad-header", ["`a`", "`dtype`"]),
        "list": (header({}, text='{"a":[1,2]}'), "bad-header", ["`a`"]),
        "not_json": (
            header({}, text='{"a":{"dtype":"U8",,}'),
            "bad-header", ["not JSON", "byte 27"]),
        "two_values": (header({}, text="{} {}"), "bad-header", ["not JSON"]),
        "nul_after": (header({}, text=b"{}\0junk"), "bad-header", ["not JSON", "byte 10"]),
        "not_utf8": (
            header({}, text=b'{"\xff":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}}') + b"x",
            "bad-header", ["UTF-8"]),
        "overlong": (
            header({}, text=b'{"\xc0\xaf":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}}') + b"x",
            "bad-header", ["UTF-8"]),
        "half_surrogate": (
            header({}, text='{"\\udc00":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}}') + b"x",
            "bad-header", ["UTF-8"]),
        "nested_deep": (
            header({}, text='{"a":{"x":' + "[" * 20000 + "]" * 20000 + "}}"),
            "bad-header", ["`a`", "nested"]),
        "git_lfs": (lfs, "git-lfs-pointer", ["git-lfs pointer", str(len(lfs))]),
        "empty": (b"", "empty-file", ["is empty"]),
        "html": (
            b"<!DOCTYPE html>\n<html><title>Sign in</title></html>\n",
            "not-a-checkpoint", ["web page"]),
        "not_found": (b"Entry not found", "not-a-checkpoint", ["is text"]),
        "json": (b'{"error": "Invalid token"}', "not-a-checkpoint", ["JSON text"]),
        "zeros": (bytes(4096), "not-a-checkpoint", ["zeros"]),
        "gzip": (b"\x1f\x8b\x08\0\0\0\0\0\0\x03", "not-a-checkpoint", ["gzip"]),
        "tar": (
            b"sys_info".ljust(257, b"\0") + b"ustar  \0".ljust(255, b"\0"),
            "torch-tar", ["tar form"]),
    }
    expected = {}
    for name, (raw, error, mentions) in files.items():
        (folder / f"{name}.safetensors").write_bytes(raw)
        try:
            safetensors.deserialize(raw)
            refused = False
        except Exception:
            refused = True
        expected[f"{name}.safetensors"] = {
            "error": error, "mentions": mentions, "refused_by_safetensors": refused}
    (folder / "expected.json").write_text(json.dumps(expected, indent=1) + "\n")


# --- sharded ----------------------------------------------------------------------------------


def make_sharded(folder):
    shards = {
        "model-00001-of-00003.safetensors": {
            "embed.weight": torch.arange(6.0).reshape(3, 2),
            "layers.0.w": torch.ones(2),
        },
        "model-00002-of-00003.safetensors": {
            "layers.1.w": torch.full((2,), 2.0),
            "layers.10.w": torch.full((2,), 10.0),
        },
        "model-00003-of-00003.safetensors": {"norm.weight": torch.zeros(4, dtype=torch.bfloat16)},
    }
    weight_map, total = {}, 0
    for name, tensors in shards.items():
        safetensors.torch.save_file(tensors, folder / name, {"format": "pt"})
        weight_map |= {key: name for key in tensors}
        total += sum(t.nbytes for t in tensors.values())
    index = {"metadata": {"total_size": total}, "weight_map": weight_map}
    text = json.dumps(index, indent=2, sort_keys=True) + "\n"
    (folder / "model.safetensors.index.json").write_text(text)
    config = {"hidden_size": 2, "rope": {"theta": 1e4}, "experts": [4, 8]}
    (folder / "config.json").write_text(json.dumps(config, indent=2) + "\n")


def main():
    for name, make in (("good", make_good), ("bad", make_bad), ("sharded", make_sharded)):
        folder = HERE / name
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        make(folder)


if __name__ == "__main__":
    main()
