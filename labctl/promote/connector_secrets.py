"""The secrets that the connectors refer to, and their values that are known without an account.

The names and keys come from the connector files. A value is plain text, an output of a stack, or
`GENERATED`: Secrets Manager makes such a value itself, and labctl never shows it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from labctl.config.kafka_clients import login_values
from labctl.promote.broker_logins import connect_authentication, java_client
from labctl.promote.outputs import Output
from labctl.promote.promotion import Promotion
from labctl.sources import CDC_USER
from lakecontract.references import REFERENCE

__all__ = ["GENERATED", "Value", "known_values", "login_of", "referenced", "secret_of_source"]

GENERATED: Final = "(generated)"
Value = str | Output


def secret_of_source(promotion: Promotion, source: str) -> str | None:
    """Return the database secret to which a source's connector file refers; None if it has none."""
    for connector in promotion.connectors:
        if connector.source == source:
            match = REFERENCE.search(connector.file.config.get("database.hostname", ""))
            return match[1] if match else None
    return None


def login_of(promotion: Promotion, source: str) -> str:
    """Return the user as which a source's connector logs in.

    Secrets Manager makes a password for each secret, and one login cannot have two passwords. So a
    further source of an instance that has its own secret also has its own login.
    """
    sources = list(promotion.config.sources_of(promotion.config.sources[source].engine))
    secret = secret_of_source(promotion, source)
    owner = next(name for name in sources if secret_of_source(promotion, name) == secret)
    return CDC_USER if owner == sources[0] else f"{CDC_USER}_{owner}".replace("-", "_")


def referenced(promotion: Promotion) -> dict[str, dict[str, str]]:
    """Return secrets by name: their keys, each with the connector file and key that refers to it.

    The sinks' secrets are included even if Spark, not Connect, reads the sinks' files.
    """
    promoted = {connector.name for connector in promotion.connectors}
    promoted |= {sink.file.name for sink in promotion.sinks}
    found: dict[str, dict[str, str]] = {}
    for file in promotion.files:
        if file.name not in promoted:
            continue
        for key, value in file.config.items():
            for secret, wanted in REFERENCE.findall(value):
                found.setdefault(secret, {}).setdefault(wanted, f"{file.path.name}: {key}")
    return {name: found[name] for name in sorted(found)}


def known_values(promotion: Promotion) -> dict[str, dict[str, Value]]:
    """Return each secret's future values by name and key; a password is `GENERATED`."""
    profile = promotion.profile
    values: dict[str, Mapping[str, Value]] = {
        "demo/kafka": {
            "bootstrap.servers": Output("kafka", "BootstrapServers"),
            **login_values(java_client(connect_authentication(profile.msk))),
        },
        "demo/registry": {"url": profile.registry.url.rstrip("/")},
        "demo/objectstore": {
            "bucket": profile.lake.bucket,
            "region": profile.region,
            "url": f"https://s3.{profile.region}.amazonaws.com"
            + (".cn" if profile.partition == "aws-cn" else ""),
            # Empty keys: clients use their own role, which is better than any key.
            "access.key": "",
            "secret.key": "",
            "rotate.schedule.interval.ms": str(profile.lake.rotation_ms),
        },
    }
    for source, database in promotion.captured.items():
        engine = promotion.config.sources[source].engine
        host = Output("data", f"{engine.capitalize()}Host") if database.create else database.host
        name = secret_of_source(promotion, source)
        if name is None or name in values:
            continue
        values[name] = {
            "hostname": host or "",
            "port": str(database.port),
            "database": promotion.database_of(source),
            "username": login_of(promotion, source),
            "password": GENERATED,
        }
    return {name: dict(known) for name, known in values.items()}
