"""Everything that can be wrong with an input, a rule file or a destination: each has its own
message that names the thing, exit status 2, no output, and the input as it was."""

import json
import os
import pathlib
import resource
import shutil
import struct
import subprocess
import zipfile

import pytest
import torch
from rekey_cli import hash_of, messages, rekey
from safetensors.torch import save_file


@pytest.fixture
def checkpoint(tmp_path):
    path = tmp_path / "in.safetensors"
    save_file({"module.fc.weight": torch.arange(6.0).reshape(2, 3)}, path)
    return path


def refused(source, name, *words, rules=("-e", 'strip "module."'), out="out.safetensors",
            more=(), **options):
    """The run fails with the message `name` alone, which holds `words`, and leaves nothing."""
    source = pathlib.Path(source)
    folder = source.parent
    before = {path: hash_of(path) for path in folder.iterdir() if path.exists()}
    result = rekey("run", *rules, source, "-o", folder / out, *more, status=2, **options)
    assert messages(result) == [name], result.err
    assert result.err.startswith("error: ") or "\nerror: " in result.err
    for word in words:
        assert word in result.err, result.err
    after = {path: hash_of(path) for path in folder.iterdir() if path.exists()}
    assert after == before
    assert result.out == ""
    return result


def raw_safetensors(path, header, data=b""):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)
    return path


def f32(begin, end):
    return {"dtype": "F32", "shape": [(end - begin) // 4], "data_offsets": [begin, end]}


# --- Inputs ---------------------------------------------------------------------------------------


def test_missing_file(checkpoint):
    refused(checkpoint.with_name("inn.safetensors"), "missing-file", "inn.safetensors",
            "did you mean", "in.safetensors")


def test_folder_without_checkpoints(tmp_path):
    folder = tmp_path / "run"
    folder.mkdir()
    (folder / "notes.txt").write_text("nothing here")
    result = rekey("run", "-e", 'strip "a."', folder, "-o", tmp_path / "out.pt", status=2)
    assert len(messages(result)) == 1 and str(folder) in result.err
    assert os.listdir(tmp_path) == ["run"]


def test_git_lfs_pointer(tmp_path):
    path = tmp_path / "model.safetensors"
    path.write_text("version https://git-lfs.github.com/spec/v1\n"
                    "oid sha256:" + "0" * 64 + "\nsize 1234567890\n")
    refused(path, "git-lfs-pointer", "model.safetensors", "git lfs pull")


def test_truncated_zip(tmp_path):
    path = tmp_path / "model.pt"
    torch.save({"module.w": torch.ones(1000)}, path)
    path.write_bytes(path.read_bytes()[:-100])
    refused(path, "truncated-zip", "model.pt")


def test_truncated_safetensors(checkpoint):
    checkpoint.write_bytes(checkpoint.read_bytes()[:-1])
    refused(checkpoint, "truncated-file", "in.safetensors")


def test_duplicate_key(tmp_path):
    header = b'{"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},' \
             b'"a":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}}'
    refused(raw_safetensors(tmp_path / "twice.safetensors", header, bytes(8)), "duplicate-key", "`a`")


def test_overlapping_extents(tmp_path):
    path = raw_safetensors(tmp_path / "overlap.safetensors", {"a": f32(0, 8), "b": f32(4, 12)},
                           bytes(12))
    refused(path, "data-overlap", "`a`", "`b`")


def sharded(tmp_path, weight_map):
    folder = tmp_path / "model"
    folder.mkdir()
    save_file({"module.a": torch.ones(2)}, folder / "one.safetensors")
    index = folder / "model.safetensors.index.json"
    index.write_text(json.dumps({"metadata": {}, "weight_map": weight_map}))
    return index


def test_absent_shard(tmp_path):
    index = sharded(tmp_path, {"module.a": "one.safetensors", "module.b": "two.safetensors"})
    refused(index, "absent-shard", "two.safetensors")


def test_shard_that_lacks_its_key(tmp_path):
    index = sharded(tmp_path, {"module.a": "one.safetensors", "module.b": "one.safetensors"})
    result = refused(index, "absent-key", "module.b", "one.safetensors")
    assert "model.safetensors.index.json" in result.err


class Hostile:
    def __init__(self, command):
        self.command = command

    def __reduce__(self):
        return os.system, (self.command,)


def test_hostile_pickle(tmp_path):
    """The tensors come out, the call is reported, nothing runs."""
    trace = tmp_path / "was_run"
    path = tmp_path / "hostile.pt"
    torch.save({"state_dict": {"module.w": torch.arange(3.0)}, "extra": Hostile(f"touch {trace}")},
               path)
    before = hash_of(path)
    listed = rekey("keys", path, status=0)
    assert "module.w" in listed.out and "system" in listed.err
    assert "system" in rekey("keys", path, "--envelope", status=0).out
    out = tmp_path / "out.pt"
    rekey("run", "-e", 'strip "module."', path, "-o", out, status=0)
    assert not trace.exists()
    assert hash_of(path) == before
    clean = torch.load(out, weights_only=True)
    assert list(clean) == ["w"] and torch.equal(clean["w"], torch.arange(3.0))


def test_state_dict_that_is_made_by_a_call(tmp_path):
    """Where the call would make the state_dict itself, there are no tensors to be had."""
    path = tmp_path / "hostile.pt"
    trace = tmp_path / "was_run"
    torch.save(Hostile(f"touch {trace}"), path)
    result = rekey("run", "-e", 'strip "a."', path, "-o", tmp_path / "out.pt", status=2)
    assert len(messages(result)) == 1 and "hostile.pt" in result.err
    assert sorted(os.listdir(tmp_path)) == ["hostile.pt"]


def test_two_state_dicts(tmp_path):
    path = tmp_path / "two.pt"
    torch.save({"model": {"a": torch.ones(1)}, "state_dict": {"a": torch.ones(1)}}, path)
    refused(path, "several-state-dicts", "model", "state_dict", "select")


def test_two_files_with_one_key(tmp_path):
    folder = tmp_path / "ranks"
    folder.mkdir()
    for rank in range(2):
        torch.save({"module.w": torch.ones(1)}, folder / f"rank_{rank}.pt")
    refused(folder, "key-in-two-files", "module.w", "source rank_{n:int}.pt -> {n}.")


# --- Rules ----------------------------------------------------------------------------------------


def refused_rules(checkpoint, text, name, *words):
    rules = checkpoint.with_name("rules.rekey")
    rules.write_bytes(text if isinstance(text, bytes) else text.encode())
    return refused(checkpoint, name, *words, rules=(rules,))


def test_missing_rule_file(checkpoint):
    refused(checkpoint, "no-such-file", "absent.rekey",
            rules=(checkpoint.with_name("absent.rekey"),))


def test_rules_that_are_not_utf8(checkpoint):
    refused_rules(checkpoint, b'strip "m\xff."\n', "not-utf8", "rules.rekey:1:9")


def test_unknown_verb(checkpoint):
    refused_rules(checkpoint, "mapp a -> b\n", "unknown-verb", "`mapp`", "map", "rules.rekey:1:1")


def test_unclosed_brace(checkpoint):
    refused_rules(checkpoint, "in a. {\n  keep b\n", "syntax", "rules.rekey:", "}")


def test_bad_regex(checkpoint):
    refused_rules(checkpoint, "map /a(b/ -> c\n", "regex", "rules.rekey:1:", "a(b")


def test_unknown_param(checkpoint):
    rules = checkpoint.with_name("rules.rekey")
    rules.write_text('param layers = 1\nmap module.fc.{x} -> fc{layers}.{x}\n')
    refused(checkpoint, "unknown-param", "`layer`", "layers", rules=(rules,),
            more=("-p", "layer=2"))


def test_collision(tmp_path):
    path = tmp_path / "in.safetensors"
    save_file({"module.fc.w": torch.ones(1), "fc.w": torch.ones(1)}, path)
    refused(path, "collision", "`module.fc.w`", "`fc.w`")


def test_else_error(checkpoint):
    refused_rules(checkpoint, 'keep? other.{x}\nelse error "not one of ours"\n', "unclaimed-key",
                  "module.fc.weight", "not one of ours")


# --- Destinations ---------------------------------------------------------------------------------


def test_destination_that_cannot_be_written(checkpoint):
    # Even root writes nothing into /proc.
    before = hash_of(checkpoint)
    result = rekey("run", "-e", 'strip "module."', checkpoint, "-o", "/proc/out.safetensors",
                   status=2)
    assert len(messages(result)) == 1 and "/proc" in result.err
    assert hash_of(checkpoint) == before


def test_destination_folder_is_missing(checkpoint):
    refused(checkpoint, "missing-folder", "absent", out="absent/out.safetensors")


def test_destination_is_the_input(checkpoint):
    refused(checkpoint, "output-is-input", "in.safetensors", out="in.safetensors",
            more=("--force",))


def test_destination_is_a_link_to_the_input(checkpoint):
    link = checkpoint.with_name("link.safetensors")
    link.symlink_to(checkpoint)
    refused(checkpoint, "output-is-input", out="link.safetensors", more=("--force",))
    assert link.is_symlink()


def test_destination_exists(checkpoint):
    old = checkpoint.with_name("out.safetensors")
    old.write_bytes(b"precious")
    refused(checkpoint, "output-exists", "out.safetensors", "--force")
    assert old.read_bytes() == b"precious"


def test_unknown_format(checkpoint):
    refused(checkpoint, "unknown-format", ".tensors", out="out.tensors")


@pytest.fixture
def small_disk(tmp_path):
    """A file system of 1 MB, where one may be mounted."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mounted = os.geteuid() == 0 and shutil.which("mount") and subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", folder], capture_output=True
    ).returncode == 0
    if not mounted:
        pytest.skip("no file system can be mounted here; a file size limit is tried instead")
    yield folder
    subprocess.run(["umount", folder], check=True)


@pytest.mark.parametrize("name", ["out.safetensors", "out.pt"])
def test_full_disk(tmp_path, small_disk, name):
    path = tmp_path / "big.safetensors"
    save_file({"module.w": torch.ones(1 << 19)}, path)
    before = hash_of(path)
    result = rekey("run", "-e", 'strip "module."', path, "-o", small_disk / name, status=2)
    assert messages(result) == ["no-space"], result.err
    assert os.listdir(small_disk) == []
    assert hash_of(path) == before


@pytest.mark.parametrize("name", ["out.safetensors", "out.pt"])
def test_file_size_limit(tmp_path, name):
    """A write that fails in the middle, as on a disk that others fill meanwhile."""
    path = tmp_path / "big.safetensors"
    save_file({"module.w": torch.ones(1 << 19)}, path)

    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))

    result = rekey("run", "-e", 'strip "module."', path, "-o", tmp_path / name, status=2,
                   preexec_fn=limit)
    assert len(messages(result)) == 1, result.err
    assert os.listdir(tmp_path) == ["big.safetensors"]


# --- The case of four files -----------------------------------------------------------------------


def test_four_broken_files_have_four_messages(tmp_path):
    """Case 33: each broken input is told apart from the others."""
    lfs = tmp_path / "pointer.safetensors"
    lfs.write_text("version https://git-lfs.github.com/spec/v1\noid sha256:" + "1" * 64 +
                   "\nsize 99\n")
    cut = tmp_path / "cut.safetensors"
    save_file({"a": torch.ones(4)}, cut)
    cut.write_bytes(cut.read_bytes()[:-4])
    zipped = tmp_path / "cut.pt"
    torch.save({"a": torch.ones(4)}, zipped)
    zipped.write_bytes(zipped.read_bytes()[:-22])
    index = sharded(tmp_path, {"a": "gone.safetensors"})
    names = [messages(rekey("keys", path, status=2)) for path in (lfs, cut, zipped, index)]
    assert all(len(name) == 1 for name in names)
    assert len({name[0] for name in names}) == 4
