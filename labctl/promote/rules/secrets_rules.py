"""Rules for secrets: every reference resolves, and no secret is in clear text."""

from __future__ import annotations

import re
from collections.abc import Iterator

from labctl.promote.connector_secrets import known_values, referenced
from labctl.promote.msk_connectors import worker_properties
from labctl.promote.rules.rule import Finding, Subject, rule

__all__: list[str] = []

_SECRET_KEY = re.compile(
    r"password|secret[._]?(access[._]?)?key|access\.key|token|credential", re.I
)
_REFERENCE = re.compile(r"\$\{(?P<provider>[^:}]+):(?P<path>[^}]*)\}")


@rule
def references_answered(subject: Subject) -> Iterator[Finding]:
    """Check that each `${secretManager:name:key}` has a secret that will hold the key."""
    known = known_values(subject.promotion)
    for name, keys in referenced(subject.promotion).items():
        for key, origin in keys.items():
            file, _, option = origin.partition(": ")
            if name not in known:
                yield Finding(
                    f"connectors/{file}",
                    option,
                    f"no secret {name!r} will be there",
                    f"use one of {', '.join(sorted(known))}",
                )
            elif key not in known[name]:
                yield Finding(
                    f"connectors/{file}",
                    option,
                    f"the secret {name!r} will have no {key!r}",
                    f"use one of {', '.join(sorted(known[name]))}",
                )


@rule
def provider_known(subject: Subject) -> Iterator[Finding]:
    """Check that each reference names a config provider of the workers' configuration."""
    for connector in subject.promotion.connectors:
        providers = worker_properties(subject.promotion, connector)["config.providers"].split(",")
        for key, value in connector.file.config.items():
            for match in _REFERENCE.finditer(value):
                if match["provider"] not in providers:
                    yield Finding(
                        f"connectors/{connector.file.path.name}",
                        key,
                        f"no config provider is called {match['provider']!r}",
                        f"use {', '.join(providers)}",
                    )


@rule
def no_written_secret(subject: Subject) -> Iterator[Finding]:
    """Check for secrets in connector files: the plan, MSK Connect and its logs would show them."""
    for file in subject.promotion.files:
        for key, value in file.config.items():
            if _SECRET_KEY.search(key) and value and not _is_reference(value):
                yield Finding(
                    f"connectors/{file.path.name}",
                    key,
                    "it holds a secret in clear",
                    "put it into a secret and write ${secretManager:<name>:<key>}",
                )


def _is_reference(value: str) -> bool:
    return value.lower() in ("true", "false") or _REFERENCE.search(value) is not None
