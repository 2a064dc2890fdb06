"""Malformed files of a project: read, or refused with one clear message.

None may hang. `LABCTL_FUZZ_EXAMPLES` sets how many of each are tried, `LABCTL_FUZZ_SEED` repeats a
run, and `LABCTL_FUZZ_WRITE` names a JSON file for the figures, as `make fuzz` does.
"""

from __future__ import annotations

import json
import os
import random
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st

from labctl.config.lab_config import LabConfig
from labctl.errors import LabError
from labctl.kafkaconnect.connector_files import read_connector
from labctl.lake.query_text import read_query
from labctl.latency.scenario import find_scenario
from labctl.sources.scripts import read_script
from lakecontract.errors import ConfigurationError
from lakecontract.properties import load_tables
from tests.unit.hanging import Watch

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
    "scenario": (
        PROJECT / "scenarios" / "mixed.toml",
        lambda path: find_scenario(PROJECT, str(path)),
    ),
    "schema file": (
        PROJECT / "seeds" / "tickit" / "postgres.sql",
        lambda path: read_script(path, "postgres"),
    ),
    "view": (
        PROJECT / "gold" / "tickit_demo" / "view_tickit_sales_by_day_and_category.sql",
        lambda path: read_query(path, "tickit_demo"),
    ),
}
"""By kind of input: a good file, and what reads it."""
TOKENS = (
    *(b"\x00", b"\xff", b"\xef\xbb\xbf", b"\r", b"\n", b"\\", b"\\u", b"#", b"=", b".", b","),
    *(b'"', b"'", b'"""', b"[", b"]", b"[[", b"{", b"}", b"null", b"true", b"nan", b"-1", b"1e999"),
    *(b"[" * 3000, b'{"a":' * 3000, b"(" * 3000, b"9" * 5000, b"x" * 100_000, b"0x", b"1979-05-27"),
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


@dataclass
class Figures:
    """What came of the inputs of one kind."""

    outcomes: Counter[str] = field(default_factory=Counter)
    """How many were `read` and `refused`."""
    watch: Watch = field(default_factory=Watch)

    def written(self) -> dict[str, float]:
        """For the JSON. An input that crashes its reader or hangs fails the test before."""
        return {
            "count": self.outcomes.total(),
            **self.outcomes,
            "crashes": 0,
            "hangs": 0,
            "longest, ms": round(self.watch.longest_ms, 1),
        }


@pytest.fixture(scope="module")
def figures() -> Iterator[dict[str, Figures]]:
    """By kind; written where the environment says."""
    found: dict[str, Figures] = {}
    yield found
    if target := os.environ.get("LABCTL_FUZZ_WRITE"):
        inputs = {kind: figures.written() for kind, figures in found.items()}
        written = {"seed": SEED, "inputs": inputs}
        Path(target).write_text(json.dumps(written, indent=2) + "\n", encoding="utf-8")


@pytest.mark.parametrize("kind", READERS)
def test_a_malformed_file_is_read_or_refused_by_name(
    kind: str, tmp_path: Path, figures: dict[str, Figures]
) -> None:
    good, read = READERS[kind]
    for beside in good.parent.glob("*.properties"):  # what it may include
        (tmp_path / beside.name).write_bytes(beside.read_bytes())
    path = tmp_path / good.name
    found = Figures()
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
            with found.watch.one(content):
                read(path)
        except (LabError, ConfigurationError) as error:
            found.outcomes["refused"] += 1
            assert good.name in str(error) or good.stem in str(error)
        else:
            found.outcomes["read"] += 1

    check()
    figures[kind] = found  # Only a kind that passed is written of.
