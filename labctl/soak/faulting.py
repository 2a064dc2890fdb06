"""Planning faults, their order and their length from a seed, and causing them."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from labctl.lab.lab import Lab
from labctl.lab.lifecycle.starting import SilentReporter
from labctl.lab.lifecycle.up import up
from labctl.testing.lab_faults import Faults

__all__ = ["FaultKind", "PlannedFault", "fitting_kinds", "inject", "plan_faults"]

_SHORTEST, _LONGEST = 3.0, 15.0
"""Shortest and longest time that a fault lasts, in seconds."""


class FaultKind(StrEnum):
    """The kinds of faults. Some affect one service, the others the whole lab."""

    KILL = "kill"
    PAUSE = "pause"
    AWAY = "away"
    CUT_OFF = "cut-off"
    STALL = "stall"
    SUPERVISOR = "supervisor"
    POWER = "power"

    @property
    def explanation(self) -> str:
        """The effect, as a verb in the third person."""
        return _EXPLANATIONS[self]

    @property
    def of_one_service(self) -> bool:
        return self not in (FaultKind.STALL, FaultKind.SUPERVISOR, FaultKind.POWER)

    @property
    def lasts(self) -> bool:
        return self not in (FaultKind.KILL, FaultKind.SUPERVISOR, FaultKind.POWER)


_EXPLANATIONS = {
    FaultKind.KILL: "kills a service",
    FaultKind.PAUSE: "stops a service while its connections stay open",
    FaultKind.AWAY: "kills a service and keeps it from starting",
    FaultKind.CUT_OFF: "keeps all packets from a service (in containers)",
    FaultKind.STALL: "pauses the supervisor",
    FaultKind.SUPERVISOR: "kills the supervisor",
    FaultKind.POWER: "kills everything and starts the lab again",
}


@dataclass(frozen=True)
class PlannedFault:
    """A fault of a run."""

    kind: FaultKind
    service: str
    """Service that the fault affects; `lab` for the whole lab."""
    seconds: float
    """Duration in seconds; 0 for a fault that does not last, such as a kill."""

    def __str__(self) -> str:
        lasting = f" for {self.seconds:.0f} s" if self.seconds else ""
        return f"{self.kind} {self.service}{lasting}"


def fitting_kinds(lab: Lab, wanted: Sequence[FaultKind]) -> list[FaultKind]:
    """Return the kinds of `wanted` that the lab's runtime supports."""
    impossible = set() if lab.runtime.faults.cuts_off else {FaultKind.CUT_OFF}
    if not lab.runtime.faults.owns_supervisor:
        impossible |= {FaultKind.STALL, FaultKind.SUPERVISOR}
    return [kind for kind in wanted if kind not in impossible]


def plan_faults(
    kinds: Sequence[FaultKind], services: Sequence[str], seed: str
) -> Iterator[PlannedFault]:
    """Yield faults without end: shuffled rounds with each kind for each service once.

    In each round, kills come first, then faults of the whole lab, so that even a short run kills
    each service.
    """
    chance = random.Random(seed)  # noqa: S311 - not a secret
    combinations = [
        (kind, service)
        for kind in kinds
        for service in (services if kind.of_one_service else ("lab",))
    ]
    while combinations:
        shuffled = chance.sample(combinations, len(combinations))
        for kind, service in sorted(shuffled, key=_rank):
            seconds = round(chance.uniform(_SHORTEST, _LONGEST), 1) if kind.lasts else 0.0
            yield PlannedFault(kind, service, seconds)


def _rank(combination: tuple[FaultKind, str]) -> int:
    kind, _ = combination
    return 0 if kind is FaultKind.KILL else 2 if kind.of_one_service else 1


def inject(lab: Lab, fault: PlannedFault) -> None:
    """Cause the fault, and return when it is over; the lab then recovers by itself.

    After a supervisor kill or a power cut, this also does what `labctl up` does. Raises LabError if
    the lab does not come up again.
    """
    faults = Faults(lab)
    match fault.kind:
        case FaultKind.KILL:
            faults.kill(fault.service)
        case FaultKind.PAUSE:
            faults.pause(fault.service, fault.seconds)
        case FaultKind.AWAY:
            with faults.away(fault.service):
                time.sleep(fault.seconds)
        case FaultKind.CUT_OFF:
            with faults.cut_off(fault.service):
                time.sleep(fault.seconds)
        case FaultKind.STALL:
            with faults.paused_supervisor():
                time.sleep(fault.seconds)
        case FaultKind.SUPERVISOR:
            faults.kill_supervisor()
            up(lab, SilentReporter())
        case FaultKind.POWER:
            faults.power_cut()
            up(lab, SilentReporter())
