"""Runs the program (environment REKEY) for the tests of the command line.

  result = rekey("run", "-e", 'strip "module."', source, "-o", out, cwd=tmp_path)
  assert result.status == 0, result.err
"""

import collections
import functools
import hashlib
import json
import os
import pathlib
import re
import subprocess

ROOT = pathlib.Path(os.environ["REKEY_SOURCE_DIR"])
SCHEMAS = ROOT / "cli" / "schemas"

Result = collections.namedtuple("Result", "status out err")


def rekey(*arguments, status=None, **options):
    """With `status`, asserts that the program ends with it. Other options go to subprocess.run."""
    environment = {**os.environ, **options.pop("env", {})}
    done = subprocess.run(
        [os.environ["REKEY"], *map(str, arguments)],
        capture_output=True, text=True, timeout=300, env=environment, **options)
    if status is not None:
        assert done.returncode == status, (arguments, done.returncode, done.stdout, done.stderr)
    return Result(done.returncode, done.stdout, done.stderr)


@functools.cache
def _validator(name):
    import jsonschema
    import referencing

    resources = []
    for path in SCHEMAS.glob("*.json"):
        schema = json.loads(path.read_text())
        jsonschema.Draft202012Validator.check_schema(schema)
        resources.append((schema["$id"], referencing.Resource.from_contents(schema)))
    registry = referencing.Registry().with_resources(resources)
    schema = json.loads((SCHEMAS / f"{name}.json").read_text())
    return jsonschema.Draft202012Validator(schema, registry=registry)


def parse_json(text, schema):
    """The JSON value of `text`, which must fit cli/schemas/SCHEMA.json."""
    value = json.loads(text)
    _validator(schema).validate(value)
    return value


def rekey_json(schema, *arguments, status=0, **options):
    return parse_json(rekey(*arguments, "--json", status=status, **options).out, schema)


def hash_of(path):
    """Of a file, or of all files of a folder with their names."""
    path = pathlib.Path(path)
    digest = hashlib.sha256()
    for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
        if file.is_file():
            digest.update(str(file).encode() + b"\0" + file.read_bytes())
    return digest.hexdigest()


def messages(result):
    """The names in brackets of all messages on stderr."""
    return re.findall(r"\[([a-z0-9-]+)\]$", result.err, re.MULTILINE)
