"""The values to which connectors refer, and the files that hold them.

`${secretManager:demo/mysql:password}` in a connector names the key `password` of the secret
`demo/mysql`. Here that secret is a properties file that only this user can read; on AWS it is a
secret of the same name in Secrets Manager. Values that differ between profiles but are not secret
(a URL, a bucket) are provided in the same way, so that connector files never differ.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from pydantic import SecretStr

from labctl.config.endpoints import Endpoints
from labctl.config.kafka_clients import java_settings, login_values
from labctl.config.lab_config import SilverSource
from labctl.sources import ENGINES
from labctl.state.lab_secrets import SECRET_PREFIX, properties_text
from labctl.state.lab_state import write_private

__all__ = ["reference_values", "write_connector_secrets"]

BRONZE_ROTATION_MS: Mapping[SilverSource, str] = MappingProxyType(
    {"kafka": "1000", "bronze": "250"}
)
"""Longest time in ms that a change waits for its bronze file, by where silver reads. A lab shows
changes soon, at the price of small files; the time is shortest if silver waits for the file."""


def write_connector_secrets(
    folder: Path,
    endpoints: Endpoints,
    passwords: Mapping[str, str],
    source: SilverSource,
) -> None:
    """Write one properties file per secret of `reference_values`, below `folder`/demo."""
    for name, values in reference_values(endpoints, passwords, source).items():
        write_private(folder / SECRET_PREFIX / name, properties_text(values))


def reference_values(
    endpoints: Endpoints, passwords: Mapping[str, str], source: SilverSource
) -> dict[str, dict[str, str]]:
    """Return the values to which connectors refer, by the secret's name below `demo/` and by key.

    A source's values are under its own name; those of each engine's first source are under the
    engine's name, too. `source` is where silver reads.
    """
    files: dict[str, dict[str, str]] = {
        "kafka": {
            "bootstrap.servers": endpoints.kafka.bootstrap_servers,
            **login_values(java_settings(endpoints.kafka)),
        },
        "registry": {"url": endpoints.registry.url},
        "objectstore": {
            "bucket": endpoints.objectstore.bucket,
            "region": endpoints.objectstore.region,
            "url": endpoints.objectstore.endpoint_url or "",
            "access.key": _plain(endpoints.objectstore.access_key),
            "secret.key": _plain(endpoints.objectstore.secret_key),
            "rotate.schedule.interval.ms": BRONZE_ROTATION_MS[source],
        },
    }
    of_engines: dict[str, dict[str, str]] = {}
    for name, database in endpoints.sources.items():
        engine = ENGINES[database.engine]
        values = {
            "hostname": database.host,
            "port": str(database.port),
            "username": engine.capture_user,
            "password": passwords[engine.capture_role],
            "database": database.database,
        }
        files[name] = values
        of_engines.setdefault(engine.reference, values)
    return of_engines | files


def _plain(secret: SecretStr | None) -> str:
    return secret.get_secret_value() if secret else ""
