"""Key-level cases of real checkpoints from end to end: a file in, the program, a file out that
torch or safetensors loads."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest
import torch
from rekey_cli import hash_of, messages, rekey
from safetensors import safe_open
from safetensors.torch import load_file, save_file


def remap(tmp_path, keys, *lines, more=(), status=0, extension="safetensors"):
    """Keys become tensors that hold their number; gives {new key: old key} and the result."""
    source = tmp_path / "in.safetensors"
    save_file({key: torch.tensor([i]) for i, key in enumerate(keys)}, source)
    out = tmp_path / f"out.{extension}"
    arguments = [word for line in lines for word in ("-e", line)]
    result = rekey("run", *arguments, source, "-o", out, "--force", *more, status=status)
    if status != 0:
        assert not out.exists()
        return {}, result
    loaded = load_file(out) if extension == "safetensors" else torch.load(out, weights_only=True)
    return {key: keys[int(value)] for key, value in loaded.items()}, result


def test_the_two_lines(tmp_path):
    """The shortest useful rule file, typed as a shell user types it."""
    save_file({"module.conv_1/kernel:0": torch.arange(6.0).reshape(2, 3)},
              tmp_path / "in.safetensors")
    command = (
        r"""printf 'strip "module."\nmap /conv_(\\d+)\\/kernel:0/ -> conv\\1.weight\n' > a.rekey"""
        r""" && "$REKEY" run a.rekey in.safetensors -o out.safetensors""")
    subprocess.run(["bash", "-c", command], cwd=tmp_path, check=True, capture_output=True)
    out = load_file(tmp_path / "out.safetensors")
    assert list(out) == ["conv1.weight"]
    assert torch.equal(out["conv1.weight"], torch.arange(6.0).reshape(2, 3))


def test_case_1_prefixes_are_whole_segments(tmp_path):
    keys = ["module.conv.weight", "module.mlp_module.l0.weight"]
    assert remap(tmp_path, keys, 'strip "module."')[0] == {
        "conv.weight": keys[0], "mlp_module.l0.weight": keys[1]}
    keys = ["head.aux_head.weight"]
    assert remap(tmp_path, keys, 'strip "head."')[0] == {"aux_head.weight": keys[0]}


def test_case_2_wrappers_nest(tmp_path):
    keys = [
        "_orig_mod.module._fsdp_wrapped_module.layers.0._checkpoint_wrapped_module.attn.w",
        "model._orig_mod.c.w",
    ]
    expected = {"layers.0.attn.w": keys[0], "model.c.w": keys[1]}
    lines = ('strip? all "module." "_orig_mod."',
             'strip? anywhere "_fsdp_wrapped_module." "_checkpoint_wrapped_module." "_orig_mod."')
    assert remap(tmp_path, keys, *lines)[0] == expected
    # The pack does the same.
    out = tmp_path / "pack.safetensors"
    rekey("run", "pack:common/unwrap@1", tmp_path / "in.safetensors", "-o", out, status=0)
    assert set(load_file(out)) == set(expected)


def test_case_3_gamma_of_layer_norms_only(tmp_path):
    keys = ["enc.0.LayerNorm.gamma", "blk.0.gamma", "grn.beta"]
    got, _ = remap(tmp_path, keys, "table norm { gamma = weight, beta = bias }",
                   "map {p:any}.LayerNorm.{w:norm} -> {p}.LayerNorm.{norm(w)}")
    assert got == {"enc.0.LayerNorm.weight": keys[0], "blk.0.gamma": keys[1], "grn.beta": keys[2]}


def test_case_4_a_swap(tmp_path):
    assert remap(tmp_path, ["a", "b"], "map a -> b", "map b -> a")[0] == {"b": "a", "a": "b"}


def test_case_5_a_collision_names_both(tmp_path):
    _, result = remap(tmp_path, ["module.fc.w", "fc.w"], 'strip "module."', status=2)
    assert messages(result) == ["collision"]
    assert "`module.fc.w`" in result.err and "`fc.w`" in result.err


def test_case_6_envelopes(tmp_path):
    tensors = {"model.net.w": torch.arange(4.0)}
    enveloped, bare, two = (tmp_path / f"{name}.pt" for name in ("enveloped", "bare", "two"))
    torch.save({"epoch": 3, "state_dict": tensors, "hyper_parameters": {"lr": 0.1}}, enveloped)
    torch.save(tensors, bare)
    torch.save({"model": tensors, "state_dict": tensors}, two)
    for path in (enveloped, bare):
        out = tmp_path / "out.pt"
        rekey("run", "-e", 'strip "model."', path, "-o", out, "--force", status=0)
        loaded = torch.load(out, weights_only=True, mmap=True)
        assert list(loaded) == ["net.w"] and torch.equal(loaded["net.w"], tensors["model.net.w"])
    result = rekey("run", "-e", 'strip "model."', two, "-o", tmp_path / "no.pt", status=2)
    assert "`model`" in result.err and "`state_dict`" in result.err
    rekey("run", "-e", 'strip "model."', two, "-o", tmp_path / "yes.pt", "--select", "state_dict",
          status=0)


def test_case_7_a_subtree_and_what_was_dropped(tmp_path):
    keys = ["student.backbone.w", "teacher.backbone.w", "teacher.dino_head.w"]
    got, result = remap(tmp_path, keys, "map teacher.backbone.{r:any} -> {r}", "else drop")
    assert got == {"w": keys[1]}
    assert "1 of 3 keys -> 1 tensor, 2 dropped by 1 rule, 0 left over" in result.err
    plan = rekey("plan", "-e", "map teacher.backbone.{r:any} -> {r}", "-e", "else drop",
                 tmp_path / "in.safetensors", status=0)
    assert "student.backbone.w" in plan.out and "teacher.dino_head.w" in plan.out


def test_case_9_weight_norm(tmp_path):
    keys = ["conv.weight_g", "conv.weight_v", "gate.weight_gate.0"]
    forward = ("map {p:any}.weight_g -> {p}.parametrizations.weight.original0",
               "map {p:any}.weight_v -> {p}.parametrizations.weight.original1")
    got, _ = remap(tmp_path, keys, *forward)
    assert got == {"conv.parametrizations.weight.original0": keys[0],
                   "conv.parametrizations.weight.original1": keys[1],
                   "gate.weight_gate.0": keys[2]}
    back, _ = remap(tmp_path, list(got),
                    "map {p:any}.parametrizations.weight.original0 -> {p}.weight_g",
                    "map {p:any}.parametrizations.weight.original1 -> {p}.weight_v")
    assert {got[value]: key for key, value in back.items()} == {key: key for key in keys}


def test_case_10_swin(tmp_path):
    keys = ["layers.2.downsample.norm.weight", "layers.2.blocks.0.w"]
    got, _ = remap(tmp_path, keys, "map layers.{i:int}.downsample.{r:any} -> "
                                   "layers.{i + 1}.downsample.{r}")
    assert got == {"layers.3.downsample.norm.weight": keys[0], keys[1]: keys[1]}


def test_case_11_unet(tmp_path):
    keys = [f"input_blocks.{i}.0.in_layers.2.weight" for i in (1, 2, 4, 5, 7, 8)]
    keys += ["input_blocks.3.0.op.weight", "input_blocks.0.0.weight"]
    got, _ = remap(
        tmp_path, keys,
        "map input_blocks.{i:int}.0.in_layers.2.weight -> "
        "down_blocks.{(i - 1) // 3}.resnets.{(i - 1) % 3}.conv1.weight if i >= 1",
        "map input_blocks.{i:int}.0.op.weight -> "
        "down_blocks.{(i - 1) // 3}.downsamplers.0.conv.weight if i >= 1",
        "map input_blocks.0.0.weight -> conv_in.weight", "else error")
    assert got == {
        "down_blocks.0.resnets.0.conv1.weight": keys[0],
        "down_blocks.0.resnets.1.conv1.weight": keys[1],
        "down_blocks.1.resnets.0.conv1.weight": keys[2],
        "down_blocks.1.resnets.1.conv1.weight": keys[3],
        "down_blocks.2.resnets.0.conv1.weight": keys[4],
        "down_blocks.2.resnets.1.conv1.weight": keys[5],
        "down_blocks.0.downsamplers.0.conv.weight": keys[6],
        "conv_in.weight": keys[7],
    }


def write_gone_module(path, wrapper):
    """A whole module whose class exists in another process only."""
    script = f"""
import sys, types, torch
gone = types.ModuleType("gone"); sys.modules["gone"] = gone
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = torch.nn.Embedding(5, 3)
        self.norm = torch.nn.BatchNorm1d(3)
        self.head = torch.nn.Linear(3, 5, bias=False)
        self.head.weight = self.embed.weight
        self.register_buffer("cache", torch.ones(2), persistent=False)
Net.__module__ = "gone"; gone.Net = Net
torch.manual_seed(0)
net = Net()
torch.save(net.state_dict(), {str(path) + ".state"!r})
torch.save({wrapper}, {str(path)!r})
"""
    subprocess.run([sys.executable, "-c", script], check=True)


@pytest.mark.parametrize("wrapper, rule", [
    ("net", "else pass"), ("torch.nn.DataParallel(net)", 'strip "module."')])
def test_case_12_a_module_whose_class_is_gone(wrapper, rule, tmp_path):
    path = tmp_path / "whole.pt"
    write_gone_module(path, wrapper)
    expected = torch.load(str(path) + ".state", weights_only=True)
    out = tmp_path / "out.pt"
    rekey("run", "-e", rule, path, "-o", out, status=0)
    got = torch.load(out, weights_only=True, mmap=True)
    assert list(got) == list(expected)
    assert all(torch.equal(got[key], expected[key]) for key in expected)
    assert got["head.weight"].data_ptr() == got["embed.weight"].data_ptr()


def test_case_24_ties(tmp_path):
    weight = torch.arange(6.0).reshape(2, 3)
    source = tmp_path / "tied.pt"
    torch.save({"embed.weight": weight, "lm_head.weight": weight, "b": torch.ones(1)}, source)
    once, both, index = (tmp_path / name for name in ("once.safetensors", "both.safetensors", "s"))
    rekey("run", "-e", "else pass", source, "-o", once, status=0)
    with safe_open(once, "pt") as file:
        assert sorted(file.keys()) == ["b", "embed.weight"]
        assert file.metadata()["lm_head.weight"] == "embed.weight"
    rekey("run", "-e", "else pass", source, "-o", both, "--ties", "copy", status=0)
    loaded = load_file(both)
    assert torch.equal(loaded["lm_head.weight"], weight)
    assert torch.equal(loaded["embed.weight"], weight)
    rekey("run", "-e", "else pass", source, "-o", f"{index}/", "--to", "safetensors",
          "--max-shard-size", "16B", status=0)
    names = json.loads((index / "model.safetensors.index.json").read_text())["weight_map"]
    for key, name in names.items():
        assert key in load_file(index / name)
    assert "lm_head.weight" not in names


def test_case_31_pieces_inside_one_file(tmp_path):
    keys = ["module.layer.0.weight_0", "stage_1.layer.0.bias", "device:1/attn/weight"]
    got, _ = remap(tmp_path, keys, "param per_stage = 4",
                   "map module.{r:any}.weight_0 -> {r}.weight",
                   "map stage_{s:int}.layer.{i:int}.{r} -> layer.{s * per_stage + i}.{r}",
                   "map device:{_:int}/{r:any} -> {dots(r)}", "else error")
    assert got == {"layer.0.weight": keys[0], "layer.4.bias": keys[1], "attn.weight": keys[2]}


@pytest.mark.parametrize("extension", ["safetensors", "pt"])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_case_34_killed_while_writing(tmp_path, number, extension):
    """Whenever the program dies, OUT is the old file or the new one, whole."""
    source = tmp_path / "in.safetensors"
    save_file({f"module.{i}": torch.full((1 << 18,), float(i)) for i in range(32)}, source)
    out = tmp_path / f"out.{extension}"
    command = [os.environ["REKEY"], "run", "-e", 'strip "module."', source, "-o", out, "--force"]
    subprocess.run(command, check=True, capture_output=True)
    new = hash_of(out)
    seen = set()
    for delay in (0, 0.002, 0.005, 0.01, 0.02, 0.04, 0.08):
        out.write_bytes(b"old")
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(delay)
        process.send_signal(number)
        status = process.wait()
        assert status in (0, -number)
        content = out.read_bytes()
        assert content == b"old" or hash_of(out) == new
        seen.add(content == b"old")
        if number != signal.SIGKILL:
            assert sorted(os.listdir(tmp_path)) == sorted(["in.safetensors", out.name])
    assert True in seen  # at least the first was early enough
