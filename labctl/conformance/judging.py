"""Judging how a table ended, from the product's reports and the independent comparison."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from labctl.conformance.cases import Case
from labctl.kafkaconnect.arrival_forecast import silver_column
from labctl.verify import State, TableVerdict

__all__ = ["End", "Phase", "Result", "equal_but_for", "judged"]


class End(StrEnum):
    """The possible ends of a table."""

    EQUAL = "equal"
    UNCOMPARED = "uncompared"
    """Equal, except for columns that `labctl verify` names as ones that it cannot compare, or that
    the second comparison has no form for."""
    REFUSED = "refused"
    PUT_ASIDE = "put aside"
    FAILED = "failed"
    INVALID = "invalid"
    """The database itself refused the table, which is a defect of the generator."""


class Phase(StrEnum):
    """The phase in which a table was compared."""

    LOAD = "load"
    STREAM = "stream"


@dataclass
class Result:
    """The result of one case."""

    case: Case
    end: End
    phase: Phase | None = None
    """The last phase that it was judged in."""
    reason: str = ""
    declined: list[str] = field(default_factory=list)
    """Statements that the database itself refused."""
    seconds: float = 0.0


def judged(
    names: Sequence[str],
    verdict: TableVerdict | None,
    independent: Sequence[str],
    state: Mapping[str, object],
    letters: Sequence[str],
    seen_once: Sequence[str] = (),
) -> tuple[End, str]:
    """Return how a table ended, and the reason, from all findings about it.

    `seen_once` names the columns that only `labctl verify` has compared.
    """
    unreadable = verdict.reason if verdict is not None and verdict.diff is None else None
    said = [str(text) for text in (state.get("error"), *letters, unreadable) if text]
    left_out = equal_but_for(verdict)
    if left_out is not None and independent:
        return End.FAILED, f"verify finds no difference; the other: {independent[0]}"
    if left_out is not None:
        unread = verdict.diff.columns_incomparable if verdict and verdict.diff else ()
        by_none = {column.rpartition(": ")[0] for column in unread}
        only = [f"{n}: compared by verify alone" for n in seen_once if n not in by_none]
        reason = ", ".join(filter(None, [left_out, *only]))
        return (End.UNCOMPARED, reason) if reason else (End.EQUAL, "")
    if unreadable is not None and not independent and _named(names, [unreadable]):
        return End.UNCOMPARED, unreadable
    wrong = verdict.diff.rows if verdict is not None and verdict.diff is not None else 0
    if (named := _named(names, said)) and (state.get("error") or wrong <= len(letters)):
        return End.PUT_ASIDE, named
    words = list(said)
    if verdict is not None:
        words = [str(verdict.state), verdict.reason or "", _difference(verdict), *said]
    return End.FAILED, "; ".join(word for word in [*words, *independent[:2]] if word)


def equal_but_for(verdict: TableVerdict | None) -> str | None:
    """Return the columns that verify did not compare; None if it did not find the rest equal."""
    if verdict is None:
        return None
    diff = verdict.diff
    left_out = [f"{name}: not captured" for name in diff.columns_uncaptured] if diff else []
    if verdict.state is State.EQUAL:
        return ", ".join(left_out)
    if verdict.state is State.CANNOT_COMPARE and diff is not None and diff.rows_equal:
        return ", ".join([*diff.columns_incomparable, *left_out])
    return None


def _named(names: Sequence[str], said: Sequence[str]) -> str | None:
    """Return the product's first message if all its messages name a column; None otherwise."""
    if not said:
        return None
    called = {*names, *map(silver_column, names)}
    for text in said:
        if not any(re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text) for name in called):
            return None
    return said[0]


def _difference(verdict: TableVerdict) -> str:
    diff = verdict.diff
    if diff is None or diff.rows_equal:
        return ""
    parts = [
        f"{number} {word}"
        for word, number in (
            ("missing", diff.missing),
            ("extra", diff.extra),
            ("different", diff.different),
            ("duplicated", diff.duplicated),
        )
        if number
    ]
    if diff.columns_missing:
        parts.append(f"silver lacks columns {', '.join(diff.columns_missing)}")
    for change in diff.changes[:1]:
        for name, (left, right) in list(change.columns.items())[:2]:
            parts.append(f"{name}: {str(left)[:60]!r} became {str(right)[:60]!r}")
    return ", ".join(parts)
