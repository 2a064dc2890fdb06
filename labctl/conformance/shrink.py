"""Shrinking a failing table: each round tries many smaller tables in one batch."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from labctl.conformance.cases import Case
from labctl.conformance.judging import End, Result

__all__ = ["shrink"]

Run = Callable[[Sequence[Case]], list[Result]]
Candidates = Callable[[Case], Iterable[Case]]


def shrink(failures: Sequence[Result], run: Run) -> list[Result]:
    """Return a smaller case for each failure, or the failure itself if no smaller case fails.

    Rounds reduce columns, names, keys, rows of the load and steps of the history. Each round is
    one batch for all failures together.
    """
    smallest = list(failures)
    for candidates in (_single_columns, _names, _keys, _single_rows, _shorter_histories):
        tried = [(place, case) for place, r in enumerate(smallest) for case in candidates(r.case)]
        if not tried:
            continue
        results = run([case for _, case in tried])
        for (place, _), result in zip(tried, results, strict=True):
            if result.end is End.FAILED and result.case.size < smallest[place].case.size + _new(
                result.case, smallest[place].case
            ):
                smallest[place] = result
    return smallest


def _new(case: Case, before: Case) -> int:
    """Return 1 if names or key differ: a plainer case of the same size counts as smaller."""
    return int(
        case.name != before.name
        or case.parted != before.parted
        or case.keys != before.keys
        or _names_of(case) != _names_of(before)
    )


def _names_of(case: Case) -> list[str]:
    return [column.name for column in case.columns]


def _more(case: Case, kept: str) -> str:
    return f"{case.of}, {kept}" if case.of else kept


def _single_columns(case: Case) -> Iterable[Case]:
    """Yield cases with only the key, or with the key and one column."""
    others = [column.name for column in case.columns if column.name not in case.keys]
    if not others or not case.keys:
        return
    yield replace(case.with_columns([]), of="its key alone")
    if len(others) > 1:
        for name in others:
            yield replace(case.with_columns([name]), of=f"column {name} alone")


def _names(case: Case) -> Iterable[Case]:
    """Yield the case with a plain table name and without partitions, if it has others."""
    if case.name != "{0}":
        yield replace(case, name="{0}", of=_more(case, "plain name"))
    if case.parted:
        yield replace(case, parted=False, of=_more(case, "no partitions"))


def _keys(case: Case) -> Iterable[Case]:
    """Yield the case with only the number as its key, if the number is part of the key."""
    if len(case.keys) > 1 and "id" in case.keys:
        dropped = {key for key in case.keys if key != "id"}
        smaller = replace(case, keys=("id",))
        kept = [c.name for c in case.columns if c.name not in dropped]
        yield replace(smaller.with_columns(kept), of=_more(case, "key id alone"))


def _single_rows(case: Case) -> Iterable[Case]:
    """Yield cases with one row of the load and no history, or with nothing loaded."""
    for number, _ in case.rows:
        yield replace(case.with_rows([number]).with_history(()), of=_more(case, f"row {number}"))
    if case.history:
        yield replace(case.with_rows([]), of=_more(case, "nothing loaded"))


def _shorter_histories(case: Case) -> Iterable[Case]:
    """Yield cases with the first steps of the history, or with a single step."""
    steps = case.history
    if len(steps) < 2:
        return
    for length in sorted({len(steps) // 2, len(steps) // 4}):
        if length:
            yield replace(case.with_history(steps[:length]), of=_more(case, f"{length} steps"))
    for place, step in enumerate(steps):
        yield replace(case.with_history((step,)), of=_more(case, f"step {place}: {step.what}"))
