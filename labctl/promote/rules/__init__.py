"""Rules that find, before anything is made, what AWS would refuse or what would not work there.

Each rule is one function in the module of its subject; `rule.rule` adds it. A rule sees the
project's files and the plan made from them, yields findings and changes nothing.
"""

from __future__ import annotations

from labctl.errors import ExitCode, LabError
from labctl.promote.plan import Plan
from labctl.promote.promotion import Promotion
from labctl.promote.rules import (  # noqa: F401 - imported for the rules that they register
    api_rules,
    athena_rules,
    brokers_rules,
    connect_rules,
    databases_rules,
    names_rules,
    network_rules,
    policies_rules,
    secrets_rules,
    spark_rules,
    storage_rules,
    validators_rules,
)
from labctl.promote.rules.rule import RULES, Finding, Subject

__all__ = ["RULES", "Finding", "Subject", "check", "require_sound"]


def check(promotion: Promotion, plan: Plan) -> list[Finding]:
    """Return every finding of every rule, in the order of the rules."""
    subject = Subject(promotion, plan)
    return [finding for rule in RULES.values() for finding in rule(subject)]


def require_sound(promotion: Promotion, plan: Plan) -> None:
    """Raise LabError (USAGE) with all findings, if there are any."""
    findings = check(promotion, plan)
    if not findings:
        return
    more = f"; and {len(findings) - 1} more" if len(findings) > 1 else ""
    raise LabError(
        f"The plan would fail on AWS: {findings[0].where}: {findings[0].reason}{more}",
        details=tuple(str(finding) for finding in findings),
        hint=findings[0].fix,
        exit_code=ExitCode.USAGE,
    )
