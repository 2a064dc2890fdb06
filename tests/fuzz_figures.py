"""What the long fuzz runs share: their options, and where their figures go."""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

__all__ = ["fuzz_options", "write_figures"]


def fuzz_options(doc: str | None, kinds: Sequence[str] = ()) -> argparse.Namespace:
    """Read count, seed and output file from the command line, and one of `kinds` if there are any.

    The seed is printed, so that whatever falls can be run again.
    """
    parser = argparse.ArgumentParser(description=doc)
    if kinds:
        parser.add_argument("kind", choices=kinds)
    parser.add_argument("--count", type=int, required=True)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(2**32))
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    print(f"seed {options.seed}", file=sys.stderr)
    return options


def write_figures(figures: Mapping[str, object], out: Path | None) -> None:
    """Print the figures as JSON, and write them to a file where one is given."""
    text = json.dumps(figures, indent=2) + "\n"
    print(text, end="")
    if out is not None:
        out.parent.mkdir(parents=True, exist_ok=True)
        out.write_text(text, encoding="utf-8")
