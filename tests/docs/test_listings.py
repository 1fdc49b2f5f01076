"""Every `rekey` listing of the documents is a rule file whose tests pass and whose layout is fmt's."""

import os
import pathlib
import re
import subprocess

import pytest

ROOT = pathlib.Path(os.environ["REKEY_SOURCE_DIR"])
REKEY = os.environ["REKEY"]
DOCUMENTS = ["grammar/LANGUAGE.md", "README.md"]


def listings():
    for name in DOCUMENTS:
        text = (ROOT / name).read_text()
        for match in re.finditer(r"^```rekey\n(.*?)^```$", text, re.M | re.S):
            line = text.count("\n", 0, match.start()) + 1
            yield pytest.param(match[1], id=f"{name}:{line}")


def rekey(*words, text=None):
    return subprocess.run([REKEY, *words], input=text, capture_output=True, text=True)


@pytest.mark.parametrize("text", list(listings()))
def test_listing(text, tmp_path):
    file = tmp_path / "listing.rekey"
    file.write_text(text)
    check = rekey("check", str(file))
    assert check.returncode == 0, check.stderr
    if re.search(r"^test ", text, re.M):
        test = rekey("test", str(file))
        assert test.returncode == 0, test.stdout + test.stderr
    layout = rekey("fmt", "--check", str(file))
    assert layout.returncode == 0, layout.stdout + layout.stderr


def test_there_are_listings():
    assert len(list(listings())) > 15


def test_every_lint_is_explained():
    text = (ROOT / "grammar/LANGUAGE.md").read_text()
    lints = [line.split()[0] for line in rekey("help", "lints").stdout.splitlines() if line.strip()]
    assert len(lints) > 5
    missing = [lint for lint in lints if f"`{lint}`" not in text]
    assert not missing


def test_every_operation_is_in_the_table():
    text = (ROOT / "grammar/LANGUAGE.md").read_text().replace("\\|", "|")
    signatures = [line for line in rekey("help", "ops").stdout.splitlines() if line[:1].strip()]
    assert len(signatures) > 25
    missing = [signature for signature in signatures if f"`{signature}`" not in text]
    assert not missing
