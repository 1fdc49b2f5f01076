"""Writes pickles of plain objects in every protocol, and what they hold as text.

    python write_pickles.py FOLDER      -> FOLDER/N_PROTOCOL.pkl, FOLDER/N_PROTOCOL.txt

Protocol "0py" and so on are written by Python's own pickler in Python instead of the one in C, whose
choice of opcodes differs.
"""
import io
import pathlib
import pickle
import struct
import sys


def show(o):
    """One spelling of an object; the test prints its graph the same way."""
    if o is None or isinstance(o, bool):
        return str(o)
    if isinstance(o, int):
        return f"{o}"
    if isinstance(o, float):
        return "f" + struct.pack(">d", o).hex()
    if isinstance(o, str):
        return "t" + o.encode("utf-8").hex()
    if isinstance(o, (bytes, bytearray)):
        return "b" + bytes(o).hex()
    if isinstance(o, list):
        return "[" + " ".join(map(show, o)) + "]"
    if isinstance(o, tuple):
        return "(" + " ".join(map(show, o)) + ")"
    if isinstance(o, dict):
        return "{" + " ".join(f"{show(k)}:{show(v)}" for k, v in o.items()) + "}"
    if isinstance(o, (set, frozenset)):
        return "<" + " ".join(sorted(map(show, o))) + ">"
    raise TypeError(type(o))


shared = ["shared", 1]
OBJECTS = [
    None, True, False, 0, 1, 255, 256, 65535, 65536, 2**31 - 1, 2**31, -1, -128, -2**31, -2**31 - 1,
    2**63 - 1, 2**63, -2**63, -2**63 - 1, 2**64, 0x1950A86A20F9469CFC6C, 10**300, -10**300,
    0.0, -0.0, 1.5, -2.25e-300, float("inf"), float("nan"),
    "", "plain", "tabs\tand\nlines\\and 'quotes' \"", "é ü 漢字 \U0001f600", "nul\0inside", "x" * 300,
    "\\u0041 is no escape", [], [1], list(range(1100)), (), (1,), (1, 2), (1, 2, 3), (1, 2, 3, 4),
    {}, {"a": 1}, {i: str(i) for i in range(1100)}, {(1, 2): "tuple key"},
    [shared, shared, {"again": shared}], [[[[[]]]]],
    {"args": {"layers": 12, "rope": None}, "steps": [1, 2.5, "three"]},
]
FROM_3 = [b"", b"\0\xff bytes", b"y" * 300, [b"in a list", ("in a tuple", b"\x80")]]
FROM_4 = [set(), {1, "two", 3.0}, frozenset({(1, 2)}), {"s": {5}}]
FROM_5 = [bytearray(b"array of bytes")]

folder = pathlib.Path(sys.argv[1])
number = 0
for first, objects in ((0, OBJECTS), (3, FROM_3), (4, FROM_4), (5, FROM_5)):
    for o in objects:
        for protocol in range(first, 6):
            for kind in ("", "py"):
                buffer = io.BytesIO()
                (pickle._Pickler if kind else pickle.Pickler)(buffer, protocol).dump(o)
                name = f"{number:03}_{protocol}{kind}"
                (folder / f"{name}.pkl").write_bytes(buffer.getvalue())
                (folder / f"{name}.txt").write_text(show(o))
        number += 1
