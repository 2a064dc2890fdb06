"""A run as it goes on, on stderr: a live table in a terminal, lines elsewhere."""

from __future__ import annotations

import time
from collections import deque
from typing import Self

import numpy as np
from rich.console import Group, RenderableType
from rich.live import Live
from rich.table import Table
from rich.text import Text

from labctl.cli.output import stderr
from labctl.latency.growth_report import Step
from labctl.latency.ledger import Ledger, Trace

__all__ = ["LiveView"]

_REFRESH_SECONDS = 0.25
_LINE_SECONDS = 5.0
_RECENT = 200
"""Changes that the percentiles shown meanwhile are of."""
_BARS = " ▁▂▃▄▅▆▇█"
_BAR_COUNT = 60


class LiveView:
    """An `Observer` of a run."""

    def __init__(self) -> None:
        self._words = ""
        self._live = Live(console=stderr, auto_refresh=False, transient=True)
        self._is_terminal = stderr.is_terminal
        self._shown_at = 0.0
        self._bars: deque[float] = deque(maxlen=_BAR_COUNT)

    def __enter__(self) -> Self:
        if self._is_terminal:
            self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._live.stop()

    def phase(self, words: str) -> None:
        """Show the current phase."""
        self._words = words
        if self._is_terminal:
            self._live.update(Text(words), refresh=True)
        else:
            stderr.print(words, highlight=False)

    def progress(self, ledger: Ledger, planned: int, away: str | None) -> None:
        """Show how far the changes have come."""
        now = time.monotonic()
        if now - self._shown_at < (_REFRESH_SECONDS if self._is_terminal else _LINE_SECONDS):
            return
        self._shown_at = now
        recent = _recent(ledger.traces)
        if self._is_terminal:
            self._bars.append(float(np.median(recent)) if recent else 0.0)
            self._live.update(self._table(ledger, planned, away, recent), refresh=True)
        else:
            stderr.print(_line(ledger, planned, away, recent), highlight=False)

    def step(self, step: Step) -> None:
        """Show one size of a growth measurement that is done."""
        took = step.end_to_end
        words = "nothing arrived" if took is None else f"p50 {took.p50:.2f} s, p99 {took.p99:.2f} s"
        stderr.print(f"at {step.at:,}: {words}", highlight=False)

    def service(self, name: str, state: str, detail: str = "") -> None:
        """Show a service's state while the lab is set up for the scenario."""
        if state in ("ready", "failed"):
            stderr.print(f"{name}: {state} ({detail})", highlight=False)

    def begin(self, artifact: str, phase: str, total: int | None, unit: str) -> None:
        """Parts are there already on a lab that runs."""

    def advance(self, artifact: str, amount: int) -> None:
        """See `begin`."""

    def finish(self, artifact: str) -> None:
        """See `begin`."""

    def _table(
        self, ledger: Ledger, planned: int, away: str | None, recent: list[float]
    ) -> RenderableType:
        table = Table(box=None, pad_edge=False, show_header=False)
        table.add_column(min_width=12)
        table.add_column(justify="right")
        for name, count in (
            ("committed", len(ledger.traces)),
            ("in Kafka", ledger.in_kafka),
            ("queryable", ledger.queryable),
        ):
            table.add_row(name, f"{count:,} of {planned:,}")
        parts: list[RenderableType] = [Text(self._words, style="bold"), table]
        if recent:
            p50, p99 = np.percentile(recent, [50, 99])
            parts.append(f"end to end, last {len(recent)}: p50 {p50:.2f} s, p99 {p99:.2f} s")
            parts.append(_sparkline(self._bars))
        if away:
            parts.append(Text(f"{away} is away", style="bold red"))
        return Group(*parts)


def _recent(traces: list[Trace]) -> list[float]:
    """End-to-end seconds of the last changes that are queryable."""
    found: list[float] = []
    for trace in reversed(traces):
        if trace.queryable is not None:
            found.append(trace.queryable - trace.committed)
            if len(found) == _RECENT:
                break
    return found


def _line(ledger: Ledger, planned: int, away: str | None, recent: list[float]) -> str:
    words = (
        f"{len(ledger.traces):,} of {planned:,} committed, {ledger.in_kafka:,} in Kafka, "
        f"{ledger.queryable:,} queryable"
    )
    if recent:
        words += f", p50 of the last {len(recent)} {np.median(recent):.2f} s"
    return f"{words}; {away} is away" if away else words


def _sparkline(values: deque[float]) -> str:
    top = max(values) or 1.0
    return "".join(_BARS[round(value / top * (len(_BARS) - 1))] for value in values)
