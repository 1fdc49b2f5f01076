"""Rule files against the official converters: the output is theirs, bit for bit."""

import os
import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(os.environ["REKEY_SOURCE_DIR"])
REKEY = os.environ["REKEY"]
PAIRS = ROOT / "tests/data/oracle/pairs"
RULES = ROOT / "tests/oracle/rules"
FAMILIES = sorted(path.stem for path in RULES.glob("*.rekey"))


def input_of(family):
    folder = PAIRS / family
    for name in ("in.safetensors", "in.safetensors.index.json", "in"):
        if (folder / name).exists():
            return folder / name
    raise AssertionError(f"{folder} holds no input")


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("threads", ["1", "2"])
def test_equals_the_official_converter(family, threads, tmp_path):
    out = tmp_path / "out.safetensors"
    words = [REKEY, "run", RULES / f"{family}.rekey", input_of(family), "-o", out]
    done = subprocess.run([*map(str, words), "--threads", threads], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    compare = subprocess.run(
        [sys.executable, ROOT / "tests/data/oracle/compare.py", PAIRS / family, out],
        capture_output=True,
        text=True,
    )
    assert compare.returncode == 0 and compare.stdout.strip() == "equal", compare.stdout


def test_rule_files_pass_their_own_tests():
    files = [str(RULES / f"{family}.rekey") for family in FAMILIES]
    done = subprocess.run([REKEY, "test", *files], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_there_is_a_pair_for_every_rule_file():
    assert len(FAMILIES) >= 5
    assert FAMILIES == sorted(path.name for path in PAIRS.iterdir())
