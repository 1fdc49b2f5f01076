"""The rename benchmark runs, and its outputs are right; its times are not looked at."""
import os
import pathlib
import subprocess
import sys

BENCH = pathlib.Path(os.environ["REKEY_SOURCE_DIR"]) / "tests" / "bench" / "rename_bench.py"


def test_eight_megabytes(tmp_path):
    done = subprocess.run(
        [sys.executable, BENCH, "--megabytes", "8", "--runs", "1", "--folder", tmp_path],
        capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    for pair in ("safetensors -> safetensors", "safetensors -> pt", "pt -> pt", "pt -> safetensors"):
        assert pair in done.stdout
    assert done.stdout.count("rekey run ") == 4
    assert "rekey --version: min" in done.stdout and "rekey keys SMALL: min" in done.stdout
    assert list(tmp_path.iterdir()) == []
