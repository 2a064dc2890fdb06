"""Malformed `lab.toml`, connector and properties files: read, or refused with one clear message.

`LABCTL_FUZZ_EXAMPLES` sets how many of each are tried, `LABCTL_FUZZ_SEED` repeats a run, and
`LABCTL_FUZZ_WRITE` names a JSON file for the figures.
"""

from __future__ import annotations

import json
import os
import random
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st

from labctl.config.model import LabConfig
from labctl.errors import LabError
from labctl.kafkaconnect.files import read_connector
from lakehouse.errors import ConfigurationError
from lakehouse.properties import load_tables

PROJECT = Path(__file__).parents[2]
EXAMPLES = int(os.environ.get("LABCTL_FUZZ_EXAMPLES", "150"))
SEED = int(os.environ.get("LABCTL_FUZZ_SEED", random.randrange(2**32)))  # noqa: S311 - no secret

Read = Callable[[Path], object]
READERS: dict[str, tuple[Path, Read]] = {
    "lab.toml": (PROJECT / "lab.toml", LabConfig.load),
    "connector JSON": (
        PROJECT / "connectors" / "source_connector_mysql_kafka_avro_tickit.json",
        read_connector,
    ),
    "properties": (
        PROJECT / "spark" / "properties" / "tickit.ecomm.sale.properties",
        lambda path: load_tables([path]),
    ),
}
"""By kind of input: a good file, and what reads it."""
TOKENS = (
    *(b"\x00", b"\xff", b"\xef\xbb\xbf", b"\r", b"\n", b"\\", b"\\u", b"#", b"=", b".", b","),
    *(b'"', b"'", b'"""', b"[", b"]", b"[[", b"{", b"}", b"null", b"true", b"nan", b"-1", b"1e999"),
    *(b"[" * 3000, b'{"a":' * 3000, b"9" * 5000, b"x" * 100_000, b"0x", b"1979-05-27"),
    *(b"include=", b"include=.\n", b"include=\x00\n", b"name = 7\n", b"[services]\n", b"${a:b:c}"),
    "\N{MATHEMATICAL FRAKTUR CAPITAL U}".encode(),
)


@st.composite
def spoiled(draw: st.DrawFn, good: bytes) -> bytes:
    """`good` after some edits: of bytes, tokens or lines."""
    content = good
    for _ in range(draw(st.integers(1, 6))):
        at = draw(st.integers(0, len(content)))
        match draw(st.sampled_from(("token", "bytes", "cut", "end", "line"))):
            case "token":
                content = content[:at] + draw(st.sampled_from(TOKENS)) + content[at:]
            case "bytes":
                content = content[:at] + draw(st.binary(min_size=1, max_size=8)) + content[at:]
            case "cut":
                content = content[:at] + content[at + draw(st.integers(1, 40)) :]
            case "end":
                content = content[:at]
            case _:
                lines = content.split(b"\n")
                line = draw(st.sampled_from(lines))
                lines.insert(draw(st.integers(0, len(lines))), line)
                content = b"\n".join(lines)
    return content


@pytest.fixture(scope="module")
def figures() -> Iterator[dict[str, Counter[str]]]:
    """How many of each kind were read and refused; written where the environment says."""
    found: dict[str, Counter[str]] = {}
    yield found
    if target := os.environ.get("LABCTL_FUZZ_WRITE"):
        written = {
            "seed": SEED,
            "inputs": {kind: {"count": c.total(), **c, "crashes": 0} for kind, c in found.items()},
        }
        Path(target).write_text(json.dumps(written, indent=2) + "\n", encoding="utf-8")


@pytest.mark.parametrize("kind", READERS)
def test_a_malformed_file_is_read_or_refused_by_name(
    kind: str, tmp_path: Path, figures: dict[str, Counter[str]]
) -> None:
    good, read = READERS[kind]
    for beside in good.parent.glob("*.properties"):  # what it may include
        (tmp_path / beside.name).write_bytes(beside.read_bytes())
    path = tmp_path / good.name
    counts = figures[kind] = Counter()
    print(f"LABCTL_FUZZ_SEED={SEED}")

    @seed(SEED)
    @settings(
        max_examples=EXAMPLES,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(content=spoiled(good.read_bytes()))
    def check(content: bytes) -> None:
        path.write_bytes(content)
        try:
            read(path)
        except (LabError, ConfigurationError) as error:
            counts["refused"] += 1
            assert good.name in str(error) or good.stem in str(error)
        else:
            counts["read"] += 1

    check()
