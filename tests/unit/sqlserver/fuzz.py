"""Long runs of what the unit tests fuzz briefly; `make fuzz` writes their figures.

python -m tests.unit.sqlserver.fuzz tsql --count 100000 --seed 1 --out FILE
python -m tests.unit.sqlserver.fuzz tds --count 10000 --seed 1 --out FILE
"""

from __future__ import annotations

import asyncio
import platform
import random
import sys
import time
from collections.abc import Callable
from importlib.metadata import version

import pglast

from labctl.sqlserver.wire.reader import ProtocolError
from tests.fuzz_figures import fuzz_options, write_figures
from tests.unit.hanging import Watch
from tests.unit.sqlserver.postgres_grammar import EscapeError
from tests.unit.sqlserver.test_wire_fuzz import CORPUS, HEADERS, PARSERS
from tests.unit.sqlserver.tsql_batches import batch, run_batch

Figures = dict[str, object]


def fuzz_tsql(count: int, chance: random.Random) -> Figures:
    """Run `count` batches. What escapes, and what the session does not answer, is printed.

    Raises HangError for a batch that hangs.
    """
    watch = Watch()
    sent = parsed = refused = escapes = crashes = 0
    loop = asyncio.new_event_loop()
    for _ in range(count):
        text = batch(chance)
        try:
            with watch.one(text):
                outcome = run_batch(loop, text)
        except EscapeError as error:
            escapes += 1
            print(f"escape: {text!r}: {error}", file=sys.stderr)
            continue
        except Exception as error:
            crashes += 1
            print(f"crash: {text!r}: {error!r}", file=sys.stderr)
            continue
        sent, parsed = sent + outcome.sent, parsed + outcome.parsed
        refused += outcome.refused
    loop.close()
    return {
        "batches": count,
        "escapes": escapes,
        "crashes": crashes,
        "hangs": 0,
        "longest, ms": round(watch.longest_ms, 1),
        "answered with an error": refused,
        "statements sent to PostgreSQL": sent,
        "of them parsed by PostgreSQL's parser": parsed,
        "parser": f"pglast {pglast.__version__}",
        "sqlglot": version("sqlglot"),
    }


def fuzz_tds(count: int, chance: random.Random) -> Figures:
    """Give `count` malformed packets to the parsers: each answers or raises `ProtocolError`.

    Raises what a parser raises besides, with the packet, and HangError.
    """
    watch = Watch()
    corpus = {name: [HEADERS] for name in PARSERS}
    for path in sorted(CORPUS.glob("*.hex")):
        corpus[path.stem.split("-", 1)[0]].append(bytes.fromhex(path.read_text()))
    refused = 0
    for _ in range(count):
        name = chance.choice(list(PARSERS))
        data = _mutated(chance.choice(corpus[name]), chance)
        try:
            with watch.one(data):
                PARSERS[name](data)
        except ProtocolError:
            refused += 1
        except Exception as error:
            error.add_note(f"{name}: {data.hex()}")
            raise
    return {
        "packets": count,
        "crashes": 0,
        "hangs": 0,
        "refused": refused,
        "read nevertheless": count - refused,
        "longest, ms": round(watch.longest_ms, 1),
    }


def _mutated(data: bytes, chance: random.Random) -> bytes:
    """A packet with some bytes changed, cut off, repeated, or all by chance."""
    if not data or chance.random() < 0.3:
        return chance.randbytes(chance.randint(0, 300))
    changed = bytearray(data)
    for _ in range(chance.randint(1, 8)):
        at = chance.randrange(len(changed))
        changed[at] = chance.choice((0, 1, 0x7F, 0x80, 0xFF, chance.randrange(256)))
    start = chance.randrange(len(changed))
    kind = chance.random()
    if kind < 0.2:
        return bytes(changed[:start])
    if kind < 0.4:
        return bytes(changed[:start] + changed[start // 2 :])
    return bytes(changed)


_RUNS: dict[str, Callable[[int, random.Random], Figures]] = {"tsql": fuzz_tsql, "tds": fuzz_tds}


def main() -> None:
    """Run one kind of input and write the figures as JSON."""
    options = fuzz_options(__doc__, tuple(_RUNS))
    began = time.process_time()
    chance = random.Random(options.seed)  # noqa: S311 - chance, not secrets
    figures: Figures = {
        "seed": options.seed,
        **_RUNS[options.kind](options.count, chance),
        "CPU seconds": round(time.process_time() - began, 1),
        "python": platform.python_version(),
    }
    write_figures(figures, options.out)
    if figures.get("escapes") or figures.get("crashes"):
        sys.exit(1)


if __name__ == "__main__":
    main()
