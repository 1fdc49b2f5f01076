"""The digits example: three forms of one training run, each remapped and loaded strictly."""

import subprocess
import sys

import pytest
from rekey_cli import ROOT, rekey

DIGITS = ROOT / "examples" / "digits"


@pytest.mark.parametrize("extension", ["safetensors", "pt"])
@pytest.mark.parametrize("name", ["whole.pt", "training.pt", "whole_legacy.pt"])
def test_the_result_loads_and_reads_as_many_digits(name, extension, tmp_path):
    out = tmp_path / f"digits.{extension}"
    rekey("run", DIGITS / "digits.rekey", DIGITS / name, "-o", out, status=0)
    check = subprocess.run([sys.executable, DIGITS / "check.py", out], capture_output=True, text=True)
    assert check.returncode == 0, check.stdout + check.stderr


def test_its_own_tests_pass_and_reach_every_rule():
    rekey("test", "--coverage", DIGITS / "digits.rekey", status=0)
    rekey("fmt", "--check", DIGITS / "digits.rekey", status=0)
