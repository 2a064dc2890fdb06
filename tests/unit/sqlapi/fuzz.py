"""A long run of what `test_translator_fuzz.py` does briefly; `make fuzz` writes its figures.

python -m tests.unit.sqlapi.fuzz --count 100000 --seed 1 --out FILE
"""

from __future__ import annotations

import platform
import random
import resource
import sys
import time
from collections import Counter
from importlib.metadata import version

from tests.fuzz_figures import fuzz_options, write_figures
from tests.unit.hanging import Watch
from tests.unit.sqlapi.athena_statements import asked
from tests.unit.sqlapi.translating import Translator

_MEMORY = 3 << 30
"""Bytes of address space that the whole run may take."""


def main() -> None:
    """Translate statements by chance and write the figures as JSON."""
    options = fuzz_options(__doc__)
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    began, first = time.process_time(), _peak()
    chance = random.Random(options.seed)  # noqa: S311 - chance, not secrets
    watch, translator, outcomes = Watch(), Translator(), Counter[str]()
    for _ in range(options.count):
        given = asked(chance)
        try:
            with watch.one(given):
                outcome = translator.outcome(given)
        except Exception as error:
            outcome = "escape or crash"
            print(f"{given!r}: {error!r}", file=sys.stderr)
        outcomes[outcome] += 1
    figures = {
        "seed": options.seed,
        "statements": options.count,
        "escapes and crashes": outcomes["escape or crash"],
        "hangs": 0,
        "longest, ms": round(watch.longest_ms, 1),
        "refused": outcomes["refused"],
        "other statements than queries": outcomes["no query"],
        "one SELECT of known functions": outcomes["one SELECT"],
        "longest translation, characters": translator.longest,
        "memory at the start, MB": first,
        "most memory, MB": _peak(),
        "duckdb": version("duckdb"),
        "sqlglot": version("sqlglot"),
        "CPU seconds": round(time.process_time() - began, 1),
        "python": platform.python_version(),
    }
    write_figures(figures, options.out)
    if outcomes["escape or crash"]:
        sys.exit(1)


def _peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


if __name__ == "__main__":
    main()
