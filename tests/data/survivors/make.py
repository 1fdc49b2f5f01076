"""Writes the torch files that a reader must survive, and what it must find in them.

    python make.py            # needs torch

good/   files that a reader must take: good/expected.json has the keys in order with dtype, shape and
        the bytes of each tensor, as torch itself reads them where torch can
bad/    files that a reader must refuse: bad/expected.json has the error's name and what its message
        must mention
Files with "legacy" in their name hold memory addresses, so they differ each time they are made.
"""
import argparse
import collections
import io
import json
import pathlib
import pickle
import shutil
import struct
import sys
import types
import zipfile

import torch
from torch import nn

HERE = pathlib.Path(__file__).parent
good_files, bad_files = [], []


# --- Classes that are importable only while this script runs.

gone = types.ModuleType("gone.nets")
sys.modules["gone"] = types.ModuleType("gone")
sys.modules["gone.nets"] = gone


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv1d(1, 2, 2, bias=False)
        self.bn = nn.BatchNorm1d(2)
        self.fc = nn.Linear(2, 2)
        self.head = nn.Linear(2, 2, bias=False)
        self.head.weight = self.fc.weight
        self.register_buffer("table", torch.arange(3.0), persistent=False)
        self.register_buffer("absent", None)
        with torch.no_grad():
            for i, p in enumerate(self.parameters()):
                p.copy_(torch.arange(p.numel(), dtype=p.dtype).reshape(p.shape) + 10 * i)


class Trainer:
    pass


class Settings(dict):
    pass


for cls in (Net, Trainer, Settings):
    cls.__module__ = "gone.nets"
    cls.__qualname__ = cls.__name__
    setattr(gone, cls.__name__, cls)


# --- What torch says of a tensor.

NAMES = {
    torch.float64: "f64", torch.float32: "f32", torch.float16: "f16", torch.bfloat16: "bf16",
    torch.int64: "i64", torch.int32: "i32", torch.int16: "i16", torch.int8: "i8",
    torch.uint8: "u8", torch.bool: "bool", torch.complex64: "c64", torch.complex128: "c128",
    torch.complex32: "c32", torch.float8_e4m3fn: "f8_e4m3", torch.float4_e2m1fn_x2: "f4",
}


def describe(tensor):
    shape = list(tensor.shape)
    if tensor.device.type == "meta":
        return {"dtype": NAMES[tensor.dtype], "shape": shape}
    if tensor.dtype == torch.float4_e2m1fn_x2:
        shape[-1] *= 2  # torch counts pairs
    plain = tensor.detach().resolve_conj().resolve_neg().contiguous()
    raw = plain.reshape(-1).view(torch.uint8).numpy().tobytes() if plain.numel() else b""
    return {"dtype": NAMES[tensor.dtype], "shape": shape, "bytes": raw.hex()}


def check_with_torch(name, data, tensors):
    """Files made by hand must be files that torch takes, with the same tensors."""
    loaded = torch.load(io.BytesIO(data), weights_only=False)
    if not isinstance(loaded, dict):
        return
    for key, tensor in tensors.items():
        if isinstance(loaded.get(key), torch.Tensor):
            assert describe(loaded[key]) == describe(tensor), (name, key)


def good(name, data, tensors, run_in_torch=True, **more):
    """`tensors`: key -> tensor, in order. `more`: select, envelope, ties, warnings, callables."""
    if run_in_torch:
        check_with_torch(name, data, tensors)
    (HERE / "good" / name).write_bytes(data)
    keys = [{"key": k, **describe(t)} for k, t in tensors.items()]
    good_files.append({"file": name, "tensors": keys, **more})


def bad(name, data, error, *mentions, **more):
    (HERE / "bad" / name).write_bytes(data)
    bad_files.append({"file": name, "error": error, "mentions": list(mentions), **more})


def saved(obj, **how):
    buffer = io.BytesIO()
    torch.save(obj, buffer, **how)
    return buffer.getvalue()


LEGACY = {"_use_new_zipfile_serialization": False}


# --- Zips by hand.

def records(data):
    """[(name below the root, bytes)] of a file that torch.save wrote."""
    with zipfile.ZipFile(io.BytesIO(data)) as z:
        return [(n.split("/", 1)[1], z.read(n)) for n in z.namelist()]


def packed(entries, root="archive", method=zipfile.ZIP_STORED):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as z:
        for name, raw in entries:
            z.writestr(zipfile.ZipInfo(f"{root}/{name}"), raw, compress_type=method)
    return buffer.getvalue()


# --- Pickles by hand: tensors that torch itself would not make.

class Storage:
    def __init__(self, key, numel, kind="FloatStorage", location="cpu"):
        self.key, self.numel, self.kind, self.location = key, numel, kind, location


class Rebuild:
    def __init__(self, storage, offset, size, stride):
        self.args = (storage, offset, size, stride, False, collections.OrderedDict())

    def __reduce__(self):
        return torch._utils._rebuild_tensor_v2, self.args


class RebuildFirst(Rebuild):
    """The form before hooks, of torch 0.1."""

    def __reduce__(self):
        return torch._utils._rebuild_tensor, self.args[:4]


class Pickler(pickle._Pickler):
    """The Python one, whose tables can be changed."""

    def persistent_id(self, obj):
        if isinstance(obj, Storage):
            kind = getattr(torch, obj.kind)
            return ("storage", kind, obj.key, obj.location, obj.numel)
        return None


def pickled(obj, protocol=2, pickler=Pickler):
    buffer = io.BytesIO()
    pickler(buffer, protocol).dump(obj)
    return buffer.getvalue()


def archive(obj, data, protocol=2, **how):
    entries = [("data.pkl", pickled(obj, protocol)), ("byteorder", b"little")]
    entries += [(f"data/{key}", raw) for key, raw in data.items()] + [("version", b"3\n")]
    return packed(entries, **how)


def floats(*values):
    return struct.pack(f"<{len(values)}f", *values)


def make_layouts():
    state = {"w": torch.arange(6.0).reshape(2, 3), "n": torch.tensor([1, -2, 3])}
    plain = saved(state)
    good("deflated.pt", packed(records(plain), method=zipfile.ZIP_DEFLATED), state)
    good("no_byteorder.pt", packed([r for r in records(plain) if r[0] != "byteorder"]), state)
    good("junk_after.pt", plain + b"junk after the end record", state)
    swapped = []
    for name, raw in records(plain):
        width = {"data/0": 4, "data/1": 8}.get(name)
        if name == "byteorder":
            raw = b"big"
        elif width:
            raw = b"".join(raw[i:i + width][::-1] for i in range(0, len(raw), width))
        swapped.append((name, raw))
    good("big_endian.pt", packed(swapped), state)
    twelve = {f"t{i}": torch.tensor([float(i)]) for i in range(12)}
    text_order = sorted(records(saved(twelve)), key=lambda r: r[0])
    text_order.sort(key=lambda r: r[0] != "data.pkl")
    good("string_order.pt", packed(text_order), twelve)
    by_address = archive(
        collections.OrderedDict(w=Rebuild(Storage("94743424565712", 2), 0, (2,), (1,))),
        {"94743424565712": floats(1, 2)})
    good("address_keys.pt", by_address, {"w": torch.tensor([1.0, 2.0])})


def make_views():
    base = torch.arange(12.0)
    state = {
        "base": base, "tail": base[7:], "matrix": base.view(3, 4), "transposed": base.view(3, 4).t(),
        "column": base.view(3, 4)[:, 1], "expanded": base[2:4].unsqueeze(0).expand(3, 2),
        "scalar": base[5], "nothing": base[3:3],
    }
    good("views.pt", saved(state), state, ties=[["base", "tail", "matrix", "transposed"]])
    z = torch.tensor([1 + 2j, -3 + 0.5j], dtype=torch.complex64)
    lazy = {"conj": z.conj(), "imag_neg": z.clone().conj().imag,
            "half": torch.tensor([1 + 2j], dtype=torch.complex32), "double": z.to(torch.complex128)}
    good("lazy.pt", saved(lazy), lazy)
    f4 = torch.arange(6, dtype=torch.uint8).reshape(2, 3).view(torch.float4_e2m1fn_x2)
    good("f4.pt", saved({"w": f4, "part": f4[1:]}), {"w": f4, "part": f4[1:]})


def make_modules():
    torch.manual_seed(0)
    net = Net()
    keys = dict(net.state_dict())
    tie = [["fc.weight", "head.weight"]]
    metadata = {m: v for m, v in net.state_dict()._metadata.items()}
    good("state_metadata.pt", saved(net.state_dict()), keys, ties=tie,
         metadata=[[m, v.get("version")] for m, v in metadata.items()])
    good("whole.pt", saved(net), keys, ties=tie, callables=["gone.nets.Net"])
    for protocol in (1, 3, 5):  # protocol 0 cannot hold torch's persistent ids
        good(f"whole_p{protocol}_legacy.pt", saved(net, pickle_protocol=protocol, **LEGACY), keys,
             ties=tie, callables=["gone.nets.Net"])
    parallel = nn.DataParallel(net)
    optimizer = torch.optim.Adam(net.parameters(), lr=0.5)
    for p in net.parameters():
        p.grad = torch.ones_like(p)
    optimizer.step()
    parallel_keys = dict(parallel.state_dict())
    everything = {"model": parallel, "optimizer": optimizer,
                  "args": argparse.Namespace(layers=12, lr=0.5, name="net", rope=None)}
    facts = [["args.layers", 12], ["args.lr", 0.5], ["args.name", "net"]]
    good("parallel.pt", saved(everything), parallel_keys, envelope="model",
         ties=[["module.fc.weight", "module.head.weight"]], meta=facts)
    good("parallel_legacy.pt", saved(everything, **LEGACY), parallel_keys, envelope="model", meta=facts)
    p4 = saved(net.state_dict(), pickle_protocol=4, **LEGACY)
    good("state_p4_legacy.pt", p4, keys)
    good("state_p4.pt", saved(net.state_dict(), pickle_protocol=4), keys, ties=tie)


def make_envelopes():
    a = {"w": torch.tensor([1.0]), "b": torch.tensor([2.0])}
    b = {"w": torch.tensor([3.0]), "b": torch.tensor([4.0])}
    rng = torch.tensor([7, 8], dtype=torch.uint8)
    under = {"params": a, "rng": rng, "epoch": 3}
    good("named_beside_tensors.pt", saved(under), a, envelope="params")
    good("select_all.pt", saved(under), {"params.w": a["w"], "params.b": a["b"], "rng": rng},
         select_all=True)
    good("select_deep.pt", saved({"runs": [a, b]}), b, select="runs.1", envelope="runs.1")
    good("only_one.pt", saved({"stuff": {"inner": a}, "step": 1}), a, envelope="stuff.inner")
    optimizer = {"state": {0: {"exp_avg": torch.ones(2)}}, "param_groups": [{"lr": 0.1}]}
    good("beside_optimizer.pt", saved({"weights_here": a, "optim": optimizer}), a,
         envelope="weights_here")
    tree = {"model": {"encoder": {"layer": a}, "decoder": b}, "iteration": 5}
    good("named_tree.pt", saved(tree),
         {"encoder.layer.w": a["w"], "encoder.layer.b": a["b"], "decoder.w": b["w"],
          "decoder.b": b["b"]}, envelope="model", meta=[["iteration", 5]])
    trainer = Trainer()
    trainer.net, trainer.step = a, 9
    good("root_object.pt", saved(trainer), a, envelope="net", meta=[["step", 9]])
    good("pair.pt", saved((a, optimizer)), a, envelope="0")
    settings = Settings(a)
    good("dict_class.pt", saved(settings), a, callables=["gone.nets.Settings"])
    mixed = collections.OrderedDict(w=a["w"])
    mixed["scale"] = 3
    mixed["fc._extra_state"] = None
    mixed["inner"] = {"lost": a["b"]}
    good("mixed.pt", saved(mixed), {"w": a["w"]}, warnings=["entries-left-out", "not-tensors"])
    good("numbered.pt", saved({0: a["w"], 1: a["b"]}), {"0": a["w"], "1": a["b"]})

    two = saved({"model": a, "ema": b})
    bad("two_named.pt", two, "several-state-dicts", "`model`", "`ema`")
    good("two_named_select.pt", two, b, select="ema", envelope="ema")
    bad("two_deep.pt", saved({"nets": {"gen": a, "dis": b}}), "several-state-dicts", "`nets.gen`",
        "`nets.dis`")
    bad("select_absent.pt", two, "select-not-found", "modle", select="modle")
    bad("select_number.pt", saved({"model": a, "epoch": 3}), "select-no-tensors", "epoch",
        select="epoch")
    bad("select_bare.pt", saved(a), "no-envelope", "itself", select="model")
    bad("select_tensor.pt", saved(under), "select-tensor", "rng", select="rng")
    bad("no_tensors.pt", saved({"epoch": 3}), "no-state-dict", "no state_dict")
    bad("one_tensor.pt", saved(rng), "no-state-dict", "no name")


def make_exotic():
    plain = torch.tensor([1.0, 2.0])
    dense = torch.tensor([[0.0, 1.0], [2.0, 0.0]])
    others = {
        "coo": dense.to_sparse(),
        "csr": dense.to_sparse_csr(),
        "q_tensor": torch.quantize_per_tensor(dense, 0.5, 0, torch.qint8),
        "q_channel": torch.quantize_per_channel(dense, torch.tensor([0.5, 1.0]),
                                                torch.tensor([0, 0]), 0, torch.qint8),
        "nested": torch.nested.nested_tensor([plain, torch.tensor([3.0])]),
    }
    meta = torch.empty(3, 2, device="meta")
    good("exotic.pt", saved({**others, "meta": meta, "plain": plain}),
         {"meta": meta, "plain": plain}, warnings=["tensors-left-out"])
    named = nn.Parameter(plain.clone())
    named.ds_id = 5  # a parameter with a Python attribute: _rebuild_parameter_with_state
    tagged = plain.clone()
    tagged.ds_id = 6  # _rebuild_from_type_v2
    state = {"named": named, "tagged": tagged}
    good("with_state.pt", saved(state), state)
    first_form = archive({"w": RebuildFirst(Storage("0", 2), 0, (2,), (1,))}, {"0": floats(5, 6)})
    good("first_form.pt", first_form, {"w": torch.tensor([5.0, 6.0])})


def make_distributed():
    """A group of one process is enough for torch to write pieces of distributed tensors."""
    from torch import distributed
    from torch.distributed._shard.metadata import ShardMetadata
    from torch.distributed._shard.sharded_tensor import Shard, init_from_local_shards
    from torch.distributed.tensor import distribute_tensor, init_device_mesh
    from torch.distributed.tensor import Shard as ShardDim
    distributed.init_process_group("gloo", store=distributed.HashStore(), rank=0, world_size=1)
    values = torch.arange(6.0).reshape(2, 3)
    mesh = init_device_mesh("cpu", (1,))
    place = ShardMetadata([0, 0], [2, 3], "rank:0/cpu")
    pieces = {
        "dtensor.pt": distribute_tensor(values, mesh, [ShardDim(0)]),
        "sharded_tensor.pt": init_from_local_shards([Shard(values, place)], 2, 3),
    }
    plain = torch.tensor([1.0, 2.0])
    for name, piece in pieces.items():
        good(name, saved({"w": piece, "plain": plain}), {"plain": plain}, run_in_torch=False,
             warnings=["tensors-left-out"])
    distributed.destroy_process_group()


def make_hostile():
    w = torch.tensor([1.0, 2.0])

    class Evil:
        def __reduce__(self):
            import os
            return os.system, ("touch /tmp/rekey_was_here",)

    state = collections.OrderedDict(w=Rebuild(Storage("0", 2), 0, (2,), (1,)))
    state["evil"] = Evil()
    good("os_system.pt", archive(state, {"0": floats(1, 2)}), {"w": w},
         run_in_torch=False, warnings=["not-tensors"], callables=["posix.system"])

    storage = Storage("0", 6)
    def one(size, stride, offset=0, at=storage):
        return {"w": Rebuild(at, offset, size, stride)}
    data = {"0": floats(0, 1, 2, 3, 4, 5)}
    bad("short_record.pt", archive(one((6,), (1,)), {"0": floats(0)}), "bad-tensor", "`w`", "24",
        "4")
    bad("offset_outside.pt", archive(one((2,), (1,), 5), data), "bad-tensor", "`w`", "does not fit")
    bad("stride_outside.pt", archive(one((2, 2), (5, 1)), data), "bad-tensor", "`w`",
        "does not fit")
    bad("negative_stride.pt", archive(one((2,), (-1,), 3), data), "bad-tensor", "`w`", "negative")
    bad("negative_offset.pt", archive(one((2,), (1,), -1), data), "bad-tensor", "`w`")
    bad("negative_size.pt", archive(one((-2,), (1,)), data), "bad-tensor", "`w`", "negative")
    bad("huge_size.pt", archive(one((2**62, 2**62), (0, 0)), data), "bad-tensor", "`w`", "2^63")
    bad("huge_stride.pt", archive(one((2**40, 2), (2**40, 1)), data), "bad-tensor", "`w`", "2^63")
    bad("no_record.pt", archive(one((1,), (1,), 0, Storage("7", 1)), data), "bad-tensor", "`w`",
        "data/7")
    # Faults of tensors that nobody asked for do not matter.
    aside = {"model": {"w": Rebuild(storage, 0, (2,), (1,))},
             "other": Rebuild(storage, 0, (9,), (1,))}
    good("fault_aside.pt", archive(aside, data), {"w": torch.tensor([0.0, 1.0])},
         run_in_torch=False, envelope="model")

    both = {"f": Rebuild(Storage("0", 2), 0, (2,), (1,)),
            "i": Rebuild(Storage("0", 2, "IntStorage"), 0, (2,), (1,))}
    bad("two_dtypes.pt", archive(both, {"0": floats(1, 2)}), "bad-tensor", "`i`", "i32", "f32")

    class Twice(Pickler):
        def save_dict(self, obj):
            self.write(pickle.EMPTY_DICT + pickle.MARK)
            for key, value in obj["pairs"]:
                self.save(key)
                self.save(value)
            self.write(pickle.SETITEMS)
        dispatch = {**pickle._Pickler.dispatch, dict: save_dict}

    pairs = {"pairs": [("w", Rebuild(Storage("0", 2), 0, (2,), (1,))),
                       ("w", Rebuild(Storage("1", 2), 0, (2,), (1,)))]}
    twice = pickled(pairs, pickler=Twice)
    bad("duplicate_key.pt", packed([("data.pkl", twice), ("data/0", floats(1, 2)),
                                    ("data/1", floats(3, 4))]), "duplicate-key", "`w`")

    file = archive({"w": Rebuild(Storage("0", 2), 0, (2,), (1,))},
                   {"0": floats(1, 2), "1": floats(3, 4)})
    bad("duplicate_record.pt", file.replace(b"archive/data/1", b"archive/data/0"),
        "duplicate-record", "data/0")
    bad("second_root.pt", file.replace(b"archive/data/1", b"another/data/1"), "second-root",
        "another")
    encrypted = bytearray(file)
    first = file.index(b"PK\x01\x02")
    encrypted[first + 8] |= 1
    bad("encrypted.pt", bytes(encrypted), "encrypted-zip", "data.pkl")
    bad("cut.pt", file[:-60], "truncated-zip", "cut short")
    bad("method.pt", file.replace(file[first:first + 12], file[first:first + 10] + b"\x0c\x00"),
        "zip-method", "12")
    bad("byteorder.pt", file.replace(b"little", b"middle"), "byte-order", "byteorder")
    bad("cut_legacy.pt", saved({"w": w}, **LEGACY)[:-3], "truncated-file", "cut short")
    bad("key_not_utf8.pt", archive({"wow": Rebuild(Storage("0", 2), 0, (2,), (1,))},
                                   {"0": floats(1, 2)}).replace(
        b"X\x03\x00\x00\x00wow", b"X\x03\x00\x00\x00w\xffw"), "key-not-utf8", "\\xff")


def make_python2():
    """What torch 0.4 under Python 2 wrote: byte strings, OrderedDict from a list of lists."""
    storage = b"(U\x07storagectorch\nFloatStorage\nU\x010U\x03cpuK\x02tQ"
    tensor = (b"ctorch._utils\n_rebuild_tensor_v2\n(" + storage +
              b"K\x00K\x02\x85K\x01\x85\x89ccollections\nOrderedDict\n]\x85RtR")
    pair = b"](" + b"U\x0bconv.weight" + tensor + b"e"
    data = b"\x80\x02ccollections\nOrderedDict\n](" + pair + b"e\x85R."
    good("python2.pt", packed([("data.pkl", data), ("data/0", floats(1, 2)), ("version", b"3\n")]),
         {"conv.weight": torch.tensor([1.0, 2.0])})


for folder in ("good", "bad"):
    shutil.rmtree(HERE / folder, ignore_errors=True)
    (HERE / folder).mkdir()
make_layouts()
make_views()
make_modules()
make_envelopes()
make_exotic()
make_distributed()
make_hostile()
make_python2()
for folder, files in (("good", good_files), ("bad", bad_files)):
    (HERE / folder / "expected.json").write_text(json.dumps(files, indent=1) + "\n")
