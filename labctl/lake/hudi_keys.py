"""Hudi's own keys, from the constants of its classes.

Hudi accepts any key, and gives no message about a key that it never reads. For maintainers, after a
new version of Hudi: `python -m labctl.lake.hudi_keys JAR` writes `hudi_keys.txt` from the
bundle.
"""

from __future__ import annotations

import re
import struct
import sys
import zipfile
from collections.abc import Iterator
from difflib import get_close_matches
from functools import cache
from importlib.resources import files
from pathlib import Path

__all__ = ["unknown_key"]

_KEY = re.compile(rb"hoodie\.[a-zA-Z0-9_.-]+")
_OPEN = re.compile(r"hoodie\.(?!(delta)?streamer\.)[a-z_.]+\.")
"""Pattern of constants that end in a dot: a plug-in decides which keys may follow."""
_WIDTHS = {3: 4, 4: 4, 5: 8, 6: 8, 7: 2, 8: 2, 9: 4, 10: 4, 11: 4, 12: 4, 15: 3, 16: 2, 17: 4}
_WIDTHS |= {18: 4, 19: 2, 20: 2}
"""Sizes of a class file's constants in bytes, by tag; tag 1 is a text, with its own length.
https://docs.oracle.com/javase/specs/jvms/se17/html/jvms-4.html#jvms-4.4"""


def unknown_key(key: str) -> str | None:
    """Return a message for a `hoodie.*` key that Hudi does not have; None for a key it has."""
    known = _known()
    if key in known or any(
        key.startswith(part) for part in known if _OPEN.fullmatch(part) and part.count(".") > 2
    ):
        return None
    if close := get_close_matches(key, known, n=1, cutoff=0.85):
        return f"Hudi has no such key; did you mean {close[0]}?"
    return "Hudi has no such key, and nothing would read it; remove it"


@cache
def _known() -> frozenset[str]:
    text = (files("labctl.lake") / "hudi_keys.txt").read_text(encoding="utf-8")
    return frozenset(text.split())


def _constants(class_file: bytes) -> Iterator[bytes]:
    count = struct.unpack(">H", class_file[8:10])[0]
    at, number = 10, 1
    while number < count:
        tag = class_file[at]
        if tag == 1:
            end = at + 3 + struct.unpack(">H", class_file[at + 1 : at + 3])[0]
            yield class_file[at + 3 : end]
            at = end
        else:
            at += 1 + _WIDTHS[tag]
        # Constants of eight bytes take two entries.
        number += 2 if tag in (5, 6) else 1


def main(jar: Path) -> None:
    """Write the keys that Hudi's classes in `jar` have to `hudi_keys.txt`."""
    with zipfile.ZipFile(jar) as archive:
        keys = {
            constant.decode()
            for name in archive.namelist()
            if name.startswith("org/apache/hudi/") and name.endswith(".class")
            for constant in _constants(archive.read(name))
            if _KEY.fullmatch(constant)
        }
    target = Path(__file__).with_suffix(".txt")
    target.write_text("\n".join(sorted(keys)) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
