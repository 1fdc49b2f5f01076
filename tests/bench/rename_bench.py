"""Renames every key of a checkpoint and compares the time with cp of the same file.

    REKEY=build/release/rekey python tests/bench/rename_bench.py --megabytes 2048 --runs 7

Copies and renames alternate, the page cache is warm, and dirty pages are written back between runs.
rekey syncs its output before it shows it, which cp does not: the row `cp, then fsync` is for that.
`anon` is the largest anonymous memory seen while it ran, sampled. Every output is compared with its
input, tensor by tensor. Below: wall time of starting, and the largest resident size.
"""
import argparse
import fcntl
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

import safetensors.torch
import torch

RULE = 'strip "module."\nprefix "model."\n'


def write_input(folder, kind, megabytes):
    """Many small tensors and a few large ones, as a transformer has them."""
    layers = 32
    elements = max(megabytes * 1_000_000 // 4 // layers // 8, 64)
    tensors = {}
    for i in range(layers):
        tensors[f"module.layers.{i}.norm.weight"] = torch.randn(64)
        for name in "qkvogud":
            tensors[f"module.layers.{i}.{name}.weight"] = torch.randn(elements)
        tensors[f"module.layers.{i}.o.bias"] = torch.randn(elements)
    path = folder / f"in.{kind}"
    if kind == "safetensors":
        safetensors.torch.save_file(tensors, path)
    else:
        torch.save(tensors, path)
    return path


def load(path):
    if path.suffix == ".safetensors":
        return safetensors.torch.load_file(path)
    return torch.load(path, weights_only=True, mmap=True)


def check(source, result):
    """The same tensors under the new keys, in the order in which they stood."""
    before, after = load(source), load(result)
    renamed = {"model." + key.removeprefix("module."): value for key, value in before.items()}
    if set(renamed) != set(after) or (result.suffix == ".pt" == source.suffix
                                      and list(renamed) != list(after)):
        sys.exit(f"{result}: other keys than expected")
    for key, value in renamed.items():
        if not torch.equal(value.view(torch.uint8), after[key].view(torch.uint8)):
            sys.exit(f"{result}: {key} differs")


def anonymous_kb(pid):
    try:
        with open(f"/proc/{pid}/status") as status:
            for line in status:
                if line.startswith("RssAnon:"):
                    return int(line.split()[1])
    except (FileNotFoundError, ProcessLookupError):
        pass
    return 0


def run(command):
    """Seconds, and the largest anonymous memory in kB."""
    start = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    anonymous = 0
    while process.poll() is None:
        anonymous = max(anonymous, anonymous_kb(process.pid))
        time.sleep(0.002)
    seconds = time.perf_counter() - start
    if process.returncode != 0:
        sys.exit(f"{command}: {process.stderr.read().decode()}")
    return seconds, anonymous


def copy_and_sync(source, target):
    start = time.perf_counter()
    subprocess.run(["cp", source, target], check=True)
    with open(target, "rb") as file:
        os.fsync(file.fileno())
    return time.perf_counter() - start


def warm(path):
    with open(path, "rb", buffering=0) as file:
        while file.read(1 << 24):
            pass


def compare(rekey, rules, source, target, runs):
    """Prints one block of the table."""
    copy = source.parent / "copy"
    times = {"cp": [], "cp, then fsync": [], "rekey run": []}
    peak = 0
    warm(source)
    for _ in range(runs):
        for name in times:
            for path in (copy, target):
                path.unlink(missing_ok=True)
            os.sync()
            if name == "cp":
                times[name].append(run(["cp", source, copy])[0])
            elif name == "rekey run":
                seconds, anonymous = run([rekey, "run", rules, source, "-o", target, "--quiet"])
                times[name].append(seconds)
                peak = max(peak, anonymous)
            else:
                times[name].append(copy_and_sync(source, copy))
    check(source, target)
    copy.unlink(missing_ok=True)
    target.unlink()
    base_min, base_median = min(times["cp"]), statistics.median(times["cp"])
    print(f"{source.suffix[1:]} -> {target.suffix[1:]}, "
          f"{source.stat().st_size if source.exists() else 0:,} bytes")
    print(f"  {'':16} {'min s':>8} {'median s':>9} {'min/cp':>7} {'median/cp':>10} {'anon MB':>8}")
    for name, seconds in times.items():
        median = statistics.median(seconds)
        memory = f"{peak / 1000:8.1f}" if name == "rekey run" else ""
        print(f"  {name:16} {min(seconds):8.3f} {median:9.3f} {min(seconds) / base_min:7.2f} "
              f"{median / base_median:10.2f} {memory}", flush=True)


def resident_kb(command):
    """The largest resident size: read while the program waits to print, its pipe being full."""
    read_end, write_end = os.pipe()
    flags = fcntl.fcntl(write_end, fcntl.F_GETFL)
    fcntl.fcntl(write_end, fcntl.F_SETFL, flags | os.O_NONBLOCK)
    try:
        while True:
            os.write(write_end, b"x" * 4096)
    except BlockingIOError:
        pass
    fcntl.fcntl(write_end, fcntl.F_SETFL, flags)
    process = subprocess.Popen(command, stdout=write_end, stderr=subprocess.DEVNULL)
    os.close(write_end)
    time.sleep(0.3)
    largest = 0
    with open(f"/proc/{process.pid}/status") as status:
        for line in status:
            if line.startswith("VmHWM:"):
                largest = int(line.split()[1])
    while os.read(read_end, 65536):
        pass
    os.close(read_end)
    process.wait()
    return largest


def start_up(rekey, small, runs):
    for arguments in (["--version"], ["keys", small]):
        command = [rekey, *arguments]
        seconds = []
        for _ in range(max(runs, 20)):
            start = time.perf_counter()
            subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
            seconds.append(time.perf_counter() - start)
        shown = " ".join(["rekey", arguments[0]] + ["SMALL"] * (len(arguments) - 1))
        print(f"{shown}: min {min(seconds) * 1000:.1f} ms, "
              f"median {statistics.median(seconds) * 1000:.1f} ms, "
              f"{resident_kb(command) / 1000:.1f} MB resident", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--megabytes", type=int, default=2048)
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--folder", help="where to work; a new folder in it is removed afterwards")
    arguments = parser.parse_args()
    rekey = os.environ.get("REKEY") or shutil.which("rekey")
    if not rekey:
        sys.exit("set REKEY to the program")
    with tempfile.TemporaryDirectory(dir=arguments.folder) as name:
        folder = pathlib.Path(name)
        rules = folder / "rename.rekey"
        rules.write_text(RULE)
        for kind, other in (("safetensors", "pt"), ("pt", "safetensors")):
            source = write_input(folder, kind, arguments.megabytes)
            for target in (kind, other):
                compare(rekey, rules, source, folder / f"out.{target}", arguments.runs)
            source.unlink()
        small = write_input(folder, "pt", 1)
        start_up(rekey, small, arguments.runs)


main()
