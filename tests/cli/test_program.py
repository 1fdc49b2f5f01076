"""What every verb has in common: statuses, options, JSON, help, colours, pipes."""

import argparse
import hashlib
import json
import os
import pathlib
import pty
import subprocess

import pytest
import torch
from rekey_cli import ROOT, messages, parse_json, rekey, rekey_json
from safetensors import safe_open
from safetensors.torch import load_file, save_file

VERBS = ["keys", "check", "plan", "run", "explain", "test", "fmt", "packs", "help", "completions"]


@pytest.fixture
def folder(tmp_path):
    save_file({f"module.layers.{i}.weight": torch.ones(2, 3) for i in range(3)} |
              {"module.step": torch.zeros(1)}, tmp_path / "in.safetensors")
    (tmp_path / "a.rekey").write_text(
        'strip "module."\n'
        "drop step\n"
        "map layers.{i:int}.{r} -> blocks.{i}.{r}\n"
        "else error\n"
        'test "names" {\n'
        "  module.layers.3.weight => blocks.3.weight\n"
        "  module.step => dropped\n"
        "}\n")
    return tmp_path


# --- Statuses -------------------------------------------------------------------------------------


def test_nothing_remapped_is_no_and_writes_nothing(folder):
    result = rekey("run", "-e", "map? absent -> b", "in.safetensors", "-o", "out.pt", cwd=folder,
                   status=1)
    assert "nothing-remapped" in messages(result)
    assert not (folder / "out.pt").exists()
    rekey("check", "-e", "map? absent -> b", "in.safetensors", cwd=folder, status=1)


@pytest.mark.parametrize("rules", ["else pass", "keep {x:any}"])
def test_a_plain_conversion_is_fine(folder, rules):
    rekey("run", "-e", rules, "in.safetensors", "-o", "out.pt", cwd=folder, status=0)
    assert len(torch.load(folder / "out.pt", weights_only=True)) == 4


def test_failed_expect_is_no(folder):
    rules = ("-e", 'strip "module."', "-e", "expect count 5")
    for verb, more in (("run", ("-o", "out.pt")), ("check", ()), ("plan", ())):
        result = rekey(verb, *rules, "in.safetensors", *more, cwd=folder, status=1)
        assert "expect" in messages(result)
    assert not (folder / "out.pt").exists()


def test_failing_test_is_no_bad_rules_are_two(folder):
    (folder / "bad.rekey").write_text('test "t" {\n  a => b\n}\nstrip "m."\n')
    result = rekey("test", "a.rekey", "bad.rekey", cwd=folder, status=1)
    assert 'FAIL bad.rekey:1 "t"' in result.out
    assert "a.rekey: 1 of 1 test passed" in result.out
    rekey("test", "-e", "mapp", cwd=folder, status=2)


def test_coverage_names_what_no_test_reaches(folder):
    rekey("test", "--coverage", "a.rekey", cwd=folder, status=0)
    with open(folder / "a.rekey", "a") as file:
        file.write("then\ndrop? more.{x}\n")
    result = rekey("test", "--coverage", "a.rekey", cwd=folder, status=1)
    assert "no test reaches a.rekey:10  drop? more.{x}" in result.out


def test_strict_and_allow(folder):
    rules = ("-e", 'strip "module."', "-e", "map absent -> b", "-e", "else pass")
    result = rekey("check", *rules, "in.safetensors", cwd=folder, status=0)
    assert messages(result) == ["unused-rule"]
    result = rekey("check", *rules, "in.safetensors", "--strict", cwd=folder, status=2)
    assert messages(result) == ["unused-rule"]
    for strict in ((), ("--strict",)):
        result = rekey("run", *rules, "in.safetensors", "-o", "out.pt", "--force", "--allow",
                       "unused-rule", *strict, cwd=folder, status=0)
        assert messages(result) == []
        assert len(torch.load(folder / "out.pt", weights_only=True)) == 4
    assert messages(rekey("check", *rules, "--allow", "unusd-rule", cwd=folder, status=2)) == [
        "unknown-lint"]


# --- Arguments ------------------------------------------------------------------------------------


@pytest.mark.parametrize("words, name, help_text", [
    (["kyes"], "unknown-verb", "rekey keys"),
    (["keys", "--patern", "x"], "unknown-option", "--pattern"),
    (["keys"], "missing-argument", "rekey keys --help"),
    (["keys", "a", "b"], "extra-argument", "rekey keys --help"),
    (["keys", "a", "--depth"], "bad-option", "rekey keys --help"),
    (["keys", "a", "--depth", "two"], "bad-option", "rekey keys --help"),
    (["keys", "a", "--color", "blue"], "bad-option", "rekey keys --help"),
    (["run", "a.rekey", "in.safetensors"], "missing-argument", "-o OUT"),
    (["help", "lnaguage"], "unknown-topic", "help language"),
    (["packs", "comon/unwrap"], "unknown-pack", "common/unwrap"),
    (["completions", "csh"], "unknown-shell", "bash, zsh or fish"),
    (["run", "a.rekey", "in.safetensors", "-o", "x.pt", "-p", "n"], "bad-param", "-p layers=24"),
    (["run", "a.rekey", "in.safetensors", "-o", "x.pt", "--max-shard-size", "big"], "bad-option",
     "5GB"),
])
def test_wrong_arguments(folder, words, name, help_text):
    result = rekey(*words, cwd=folder, status=2)
    assert messages(result) == [name], result.err
    assert help_text in result.err and result.out == ""


def test_options_may_stand_anywhere(folder):
    expected = rekey("plan", "a.rekey", "in.safetensors", "--json", cwd=folder, status=0).out
    for words in (["--json", "plan", "a.rekey", "in.safetensors"],
                  ["plan", "--json", "a.rekey", "in.safetensors"],
                  ["--select", "", "plan", "a.rekey", "--json", "in.safetensors"]):
        assert rekey(*words, cwd=folder, status=0).out == expected


def test_version_and_help_of_every_verb():
    version = rekey("--version", status=0).out
    assert version.startswith("rekey ")
    for verb in VERBS:
        assert rekey(verb, "--version", status=0).out == version
        text = rekey(verb, "--help", status=0).out
        assert text.startswith(f"rekey {verb}") and text == rekey("help", verb, status=0).out
        examples = [line for line in text.split("Examples\n")[1].splitlines()
                    if line.startswith("  rekey ")]
        assert len(examples) == 2
        assert f"rekey {verb} " in rekey("--help", status=0).out


def test_params(folder):
    (folder / "p.toml").write_text("base = 10\n")
    rules = ("-e", "param base = 0", "-e", 'strip "module."',
             "-e", "map layers.{i:int}.{r} -> blocks.{i + base}.{r}")
    plan = lambda *more: [output["key"] for output in rekey_json(
        "plan", "plan", *rules, "in.safetensors", *more, cwd=folder)["outputs"]][:1]
    assert plan() == ["blocks.0.weight"]
    assert plan("--params", "p.toml") == ["blocks.10.weight"]
    assert plan("--params", "p.toml", "-p", "base=20") == ["blocks.20.weight"]
    (folder / "bad.toml").write_text("base = \n")
    result = rekey("plan", *rules, "in.safetensors", "--params", "bad.toml", cwd=folder, status=2)
    assert messages(result) == ["bad-params-file"] and "bad.toml:1:" in result.err


def test_rules_from_standard_input(folder):
    rules = (folder / "a.rekey").read_text()
    rekey("run", "-", "in.safetensors", "-o", "out.pt", cwd=folder, input=rules, status=0)
    assert "blocks.0.weight" in torch.load(folder / "out.pt", weights_only=True)


# --- JSON -----------------------------------------------------------------------------------------


def test_json_of_every_verb(folder):
    keys = rekey_json("keys", "keys", "in.safetensors", cwd=folder)
    assert keys["format"] == "safetensors" and len(keys["tensors"]) == 4
    with open(folder / "in.safetensors", "rb") as file:
        for tensor in keys["tensors"]:
            file.seek(tensor["offset"])
            value = load_file(folder / "in.safetensors")[tensor["key"]]
            assert file.read(tensor["bytes"]) == value.numpy().tobytes()
            assert tensor["shape"] == list(value.shape) and tensor["dtype"] == "f32"
    plan = rekey_json("plan", "plan", "a.rekey", "in.safetensors", cwd=folder)
    assert [output["key"] for output in plan["outputs"]] == [f"blocks.{i}.weight" for i in range(3)]
    assert plan["outputs"][0]["rule"]["line"] == 3
    assert plan["outputs"][0]["sources"] == [
        {"key": "module.layers.0.weight", "file": "in.safetensors"}]
    assert [(d["key"], d["rule"]["line"]) for d in plan["dropped"]] == [("module.step", 2)]
    assert plan["bytes_to_write"] == 72
    check = rekey_json("check", "check", "a.rekey", "in.safetensors", cwd=folder)
    assert [(rule["line"], rule["keys"]) for rule in check["rules"]] == [(1, 4), (2, 1), (3, 3)]
    assert (check["keys"], check["used"], check["dropped"], check["left_over"]) == (4, 3, 1, 0)
    rekey_json("check", "check", "a.rekey", cwd=folder)
    run = rekey_json("run", "run", "a.rekey", "in.safetensors", "-o", "out.safetensors", cwd=folder)
    assert run["written"] and run["files"][0]["bytes"] == os.path.getsize(folder / "out.safetensors")
    explain = rekey_json("explain", "explain", "a.rekey", "in.safetensors",
                         "module.layers.1.weight", cwd=folder)
    assert explain["targets"] == ["blocks.1.weight"]
    assert [event["kind"] for event in explain["events"]] == ["edit", "claimed"]
    test = rekey_json("test", "test", "a.rekey", cwd=folder)
    assert test["files"][0]["tests"] == [
        {"name": "names", "line": 5, "passed": True, "messages": []}]
    fmt = rekey_json("fmt", "fmt", "--check", "a.rekey", cwd=folder)
    assert fmt == {"files": [{"file": "a.rekey", "changed": False, "messages": []}]}
    packs = rekey_json("packs", "packs")
    assert "pack:common/unwrap@1" in [pack["reference"] for pack in packs["packs"]]
    rekey_json("packs", "packs", "common/unwrap")


def test_json_of_failures(folder):
    failure = rekey_json("failure", "run", "-e", "mapp a -> b", "in.safetensors", "-o", "x.pt",
                         status=2, cwd=folder)
    error = failure["errors"][0]
    assert (error["name"], error["file"], error["line"], error["column"], error["end_column"]) == (
        "unknown-verb", "-e", 1, 1, 5)
    for words in (["keys", "absent.pt"], ["plan", "a.rekey", "absent.pt"],
                  ["explain", "a.rekey", "in.safetensors", "absent"]):
        rekey_json("failure", *words, status=2, cwd=folder)


def test_progress_as_json(folder):
    result = rekey("run", "a.rekey", "in.safetensors", "-o", "out.pt", "--progress", "json",
                   "--quiet", cwd=folder, status=0)
    lines = [parse_json(line, "progress") for line in result.err.splitlines()]
    assert lines and lines[-1]["done"] == lines[-1]["total"] > 0


# --- run ------------------------------------------------------------------------------------------


def test_what_a_run_says(folder):
    result = rekey("run", "a.rekey", "in.safetensors", "-o", "out.safetensors", cwd=folder, status=0)
    assert result.out == ""
    lines = result.err.splitlines()
    assert lines[:3] == [
        "strip 1: 4 keys",
        "drop 2: step f32[1], once",
        "map 3: layers.0.weight f32[2, 3] -> blocks.0.weight, 3 times",
    ]
    assert lines[3].startswith("3 of 4 keys -> 3 tensors, 1 dropped by 1 rule, 0 left over; ")
    assert len(lines) == 4
    quiet = rekey("run", "a.rekey", "in.safetensors", "-o", "out.safetensors", "--force", "--quiet",
                  cwd=folder, status=0)
    assert quiet.out == quiet.err == ""


def test_passed_keys_are_said(folder):
    result = rekey("run", "-e", "map module.step -> step", "in.safetensors", "-o", "out.pt",
                   cwd=folder, status=0)
    assert messages(result) == ["passed-keys"]
    assert "3 keys" in result.err and "module.layers.0.weight" in result.err
    result = rekey("run", "-e", "map module.step -> step", "-e", "else pass", "in.safetensors", "-o",
                   "out2.pt", cwd=folder, status=0)
    assert messages(result) == [] and "3 left over" in result.err


def test_dry_run_writes_nothing(folder):
    before = sorted(os.listdir(folder))
    for more in ((), ("-o", "out.pt")):
        result = rekey("run", "a.rekey", "in.safetensors", "--dry-run", *more, cwd=folder, status=0)
        assert "nothing written" in result.err
    assert sorted(os.listdir(folder)) == before


def test_stamp_and_determinism(folder):
    outs = []
    for threads in ("1", "2", "7"):
        outs.append(folder / f"out{threads}.safetensors")
        rekey("run", "a.rekey", "in.safetensors", "-o", outs[-1], "--stamp", "--threads", threads,
              cwd=folder, status=0)
    assert len({out.read_bytes() for out in outs}) == 1
    with safe_open(outs[0], "pt") as file:
        stamp = file.metadata()
    assert stamp["rekey.rules"] == "a.rekey" and stamp["rekey.rules_version"] == "1"
    assert stamp["rekey.rules_sha256"] == hashlib.sha256(
        (folder / "a.rekey").read_bytes()).hexdigest()


@pytest.mark.parametrize("length", [0, 1, 55, 56, 63, 64, 65, 119, 120, 1000])
def test_stamp_hashes_as_sha256sum(folder, length):
    text = "else pass\n" + "#" * length
    (folder / "long.rekey").write_text(text)
    out = folder / f"out{length}.safetensors"
    rekey("run", "long.rekey", "in.safetensors", "-o", out, "--stamp", cwd=folder, status=0)
    with safe_open(out, "pt") as file:
        assert file.metadata()["rekey.rules_sha256"] == hashlib.sha256(text.encode()).hexdigest()


def test_shards(folder):
    rekey("run", "a.rekey", "in.safetensors", "-o", "out", "--to", "safetensors",
          "--max-shard-size", "50", cwd=folder, status=0)
    index = json.loads((folder / "out/model.safetensors.index.json").read_text())
    assert sorted(set(index["weight_map"].values())) == [
        "model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors"]
    for key, name in index["weight_map"].items():
        assert key in load_file(folder / "out" / name)
    # And back, through the index.
    rekey("run", "-e", "else pass", "out", "-o", "one.pt", cwd=folder, status=0)
    assert set(torch.load(folder / "one.pt", weights_only=True)) == set(index["weight_map"])


# --- keys -----------------------------------------------------------------------------------------


def test_views_of_keys(folder):
    table = rekey("keys", "in.safetensors", cwd=folder, status=0).out.splitlines()
    assert table[-1] == "4 keys, 19 parameters, 76 B; safetensors"
    assert "module.layers.0.weight  f32  [2, 3]  24 B" in table
    families = rekey("keys", "in.safetensors", "--pattern", cwd=folder, status=0).out
    assert "module.layers.{0..2}.weight  f32  [2, 3]  x3  72 B" in families
    tree = rekey("keys", "in.safetensors", "--tree", "--depth", "2", cwd=folder, status=0).out
    assert [line.split("─ ")[1].split()[0] for line in tree.splitlines()[:-1]] == [
        "module.", "layers.", "step"]
    some = rekey("keys", "in.safetensors", "--filter", "module.layers.{i:int}.{_}", cwd=folder,
                 status=0).out
    assert len(some.splitlines()) == 4 and "step" not in some


def test_envelope(tmp_path):
    path = tmp_path / "t.pt"
    torch.save({"epoch": 3, "state_dict": {"w": torch.ones(1)}, "args": argparse.Namespace(dim=64)},
               path)
    result = rekey("keys", path, "--envelope", status=0).out
    assert "epoch: 3" in result and "dim: 64" in result and "w: tensor" in result
    assert "argparse.Namespace object" in result


def test_folder_whose_files_share_keys(tmp_path):
    for rank in range(3):
        (tmp_path / f"mp_rank_{rank:02}").mkdir()
        torch.save({"w": torch.ones(1)}, tmp_path / f"mp_rank_{rank:02}" / "model.pt")
    result = rekey("keys", tmp_path, status=0).out
    assert [line for line in result.splitlines() if line.startswith("mp_rank")] == [
        f"mp_rank_{rank:02}/model.pt" for rank in range(3)]
    assert result.splitlines()[-1] == "  source mp_rank_{n:int}/model.pt -> {n}."
    plan = rekey_json("plan", "plan", "-e", "source mp_rank_{n:int}/model.pt -> {n}.", "-e",
                      "else pass", tmp_path)
    assert [output["key"] for output in plan["outputs"]] == ["00.w", "01.w", "02.w"]


def test_escapes_of_keys_never_reach_the_terminal(tmp_path):
    key = "a\x1b[2J\u202e.w"
    save_file({f"module.{key}": torch.ones(1)}, tmp_path / "in.safetensors")
    (tmp_path / "a.rekey").write_text('strip "module."\n')
    for words in (["keys"], ["keys", "--tree"], ["keys", "--pattern"], ["plan", "a.rekey"],
                  ["check", "a.rekey"], ["explain", "a.rekey"]):
        words = [*words, "in.safetensors"] + ([key] if words[0] == "explain" else [])
        result = rekey(*words, cwd=tmp_path, status=0)
        for text in (result.out, result.err):
            assert "\x1b" not in text and "\u202e" not in text, words
    result = rekey("run", "a.rekey", "in.safetensors", "-o", "out.pt", cwd=tmp_path, status=0)
    assert "\x1b" not in result.err
    assert list(torch.load(tmp_path / "out.pt", weights_only=True)) == [key]


# --- explain --------------------------------------------------------------------------------------


def test_explain_a_source_and_an_output(folder):
    for key in ("module.layers.1.weight", "blocks.1.weight"):
        result = rekey("explain", "a.rekey", "in.safetensors", key, cwd=folder, status=0).out
        assert "module.layers.1.weight -> layers.1.weight" in result
        assert "layers.1.weight -> blocks.1.weight" in result
        assert "=> blocks.1.weight f32[2, 3], copy" in result
    assert "=> dropped" in rekey("explain", "a.rekey", "in.safetensors", "module.step", cwd=folder,
                                 status=0).out
    result = rekey("explain", "a.rekey", "in.safetensors", "blocks.1.wieght", cwd=folder, status=2)
    assert messages(result) == ["unknown-key"] and "blocks.1.weight" in result.err


# --- fmt ------------------------------------------------------------------------------------------


def test_fmt(folder):
    path = folder / "ugly.rekey"
    path.write_text('strip   "module."\nelse   pass\n')
    path.chmod(0o640)
    assert rekey("fmt", "--check", path, status=1).out == f"{path}\n"
    assert path.read_text() == 'strip   "module."\nelse   pass\n'
    assert rekey("fmt", path, status=0).out == f"{path}\n"
    assert path.read_text() == 'strip "module."\nelse pass\n'
    assert path.stat().st_mode & 0o777 == 0o640
    assert rekey("fmt", path, status=0).out == ""
    assert rekey("fmt", "-", input='strip   "m."\n', status=0).out == 'strip "m."\n'
    # One bad file does not keep the others from being laid out.
    path.write_text("else   pass\n")
    (folder / "bad.rekey").write_text("mapp\n")
    rekey("fmt", folder / "bad.rekey", path, status=2)
    assert path.read_text() == "else pass\n"
    assert (folder / "bad.rekey").read_text() == "mapp\n"
    link = folder / "link.rekey"
    path.write_text("else   pass\n")
    link.symlink_to(path)
    rekey("fmt", link, status=0)
    assert link.is_symlink() and path.read_text() == "else pass\n"


# --- Help and its forms ---------------------------------------------------------------------------


def test_help_topics():
    language = rekey("help", "language", status=0).out
    assert len(language.splitlines()) <= 50
    operations = rekey("help", "ops", status=0).out
    assert "permute(d0, d1, ...)" in operations and "inverse: " in operations
    lints = rekey("help", "lints", status=0).out
    assert "unused-rule" in lints


def language_lines():
    """The statements of `rekey help language`: what stands before two blanks, of some sections."""
    section = ""
    for line in rekey("help", "language", status=0).out.splitlines():
        if line[:10].strip():
            section = line[:10].strip()
        statement = line[10:].strip().split("  ")[0]
        if section in ("edits", "rules") and statement and not statement.startswith("verb?"):
            yield statement


@pytest.mark.parametrize("statement", list(language_lines()))
def test_lines_of_help_language_parse(statement, tmp_path):
    statement = statement.replace("{ ... }", "{\n  keep a\n}")
    rekey("fmt", "-", input=statement + "\n", status=0)


def test_manual_page_names_every_verb_and_option(tmp_path):
    page = rekey("help", "--man", status=0).out
    plain = page.replace("\\-", "-")
    for verb in VERBS:
        assert f".SS rekey {verb}" in plain
        for line in rekey(verb, "--help", status=0).out.splitlines():
            for word in line.split():
                if word.startswith("--") and "Options" not in line:
                    assert word.rstrip(",`'") .split("=")[0] in plain


def test_bash_completion(folder):
    script = folder / "rekey.bash"
    script.write_text(rekey("completions", "bash", status=0).out)
    ask = """
source "$1"; shift
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _rekey; printf '%s\\n' "${COMPREPLY[@]}"
"""

    def complete(*words):
        done = subprocess.run(["bash", "-c", ask, "bash", script, *words], capture_output=True,
                              text=True, check=True, cwd=folder)
        return done.stdout.split()

    assert complete("rekey", "ex") == ["explain"]
    assert complete("rekey", "keys", "--pat") == ["--pattern"]
    assert complete("rekey", "run", "--ties", "") == ["share", "copy"]
    assert complete("rekey", "run", "a") == ["a.rekey"]
    for shell in ("zsh", "fish"):
        text = rekey("completions", shell, status=0).out
        assert all(verb in text for verb in VERBS) and "max-shard-size" in text


# --- Terminals and pipes --------------------------------------------------------------------------


def test_colour(folder):
    words = ("check", "-e", "mapp")
    assert "\x1b[" not in rekey(*words, cwd=folder, status=2).err
    assert "\x1b[" in rekey(*words, "--color", "always", cwd=folder, status=2).err

    def on_terminal(*more, **environment):
        leader, follower = pty.openpty()
        subprocess.run([os.environ["REKEY"], *words, *more], stderr=follower, cwd=folder,
                       env={**os.environ, "TERM": "xterm", **environment})
        os.close(follower)
        text = os.read(leader, 1 << 16).decode()
        os.close(leader)
        return text

    environment = {"NO_COLOR": ""}
    assert "\x1b[" in on_terminal(**environment)
    assert "\x1b[" not in on_terminal(NO_COLOR="1")
    assert "\x1b[" not in on_terminal("--color", "never", **environment)


def test_a_reader_that_goes_away_ends_it_quietly(tmp_path):
    save_file({f"layer.{i}.weight": torch.ones(1) for i in range(20000)}, tmp_path / "in.safetensors")
    done = subprocess.run(
        ["bash", "-c", '"$REKEY" keys in.safetensors | head -1; echo "${PIPESTATUS[0]}"'],
        cwd=tmp_path, capture_output=True, text=True)
    assert done.stderr == ""
    assert done.stdout.splitlines()[1] == "141"  # by SIGPIPE, as other programs


def test_output_that_cannot_be_written_is_an_error(folder):
    if not pathlib.Path("/dev/full").exists():
        pytest.skip("no /dev/full")
    with open("/dev/full", "w") as full:
        done = subprocess.run([os.environ["REKEY"], "keys", "in.safetensors"], cwd=folder,
                              stdout=full, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 2 and "[output-failed]" in done.stderr
