"""The registry of rules, and the types of a rule's input and output."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from labctl.promote.plan import Plan
from labctl.promote.promotion import Promotion

__all__ = ["RULES", "Finding", "Rule", "Subject", "rule"]


@dataclass(frozen=True)
class Finding:
    """A problem that AWS would refuse, or that would not work there."""

    file: str
    """Path relative to the project or to the plan."""
    key: str
    reason: str
    fix: str
    """Advice to the user."""

    @property
    def where(self) -> str:
        return f"{self.file}: {self.key}"

    def __str__(self) -> str:
        return f"{self.where}: {self.reason}; {self.fix}"


@dataclass(frozen=True)
class Subject:
    """The input of a rule."""

    promotion: Promotion
    plan: Plan

    def profile(self, key: str, reason: str, fix: str) -> Finding:
        """Return a finding about a key of the profile."""
        return Finding("lab.toml", self.promotion.key(key), reason, fix)


Rule = Callable[[Subject], Iterator[Finding]]

RULES: dict[str, Rule] = {}
"""All rules by name, in the order in which they are checked."""


def rule(function: Rule) -> Rule:
    """Register a rule under its function's name."""
    name = function.__name__
    if name in RULES:
        raise AssertionError(f"two rules are called {name}")
    RULES[name] = function
    return function
