"""The rules there are, and what each is given and gives."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from labctl.promote.plan import Plan
from labctl.promote.promotion import Promotion

__all__ = ["RULES", "Finding", "Rule", "Subject", "rule"]


@dataclass(frozen=True)
class Finding:
    """Something AWS would refuse, or that would not work there."""

    file: str
    """Relative to the project, or to the plan."""
    key: str
    reason: str
    fix: str
    """What to do."""

    @property
    def where(self) -> str:
        return f"{self.file}: {self.key}"

    def __str__(self) -> str:
        return f"{self.where}: {self.reason}; {self.fix}"


@dataclass(frozen=True)
class Subject:
    """What is checked."""

    promotion: Promotion
    plan: Plan

    def profile(self, key: str, reason: str, fix: str) -> Finding:
        """A finding about a key of the profile."""
        return Finding("lab.toml", self.promotion.key(key), reason, fix)


Rule = Callable[[Subject], Iterator[Finding]]

RULES: dict[str, Rule] = {}
"""By name, in the order in which they are checked."""


def rule(function: Rule) -> Rule:
    """Register a rule under its function's name."""
    name = function.__name__
    if name in RULES:
        raise AssertionError(f"two rules are called {name}")
    RULES[name] = function
    return function
