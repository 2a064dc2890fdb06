"""What connectors refer to, and the files in which they find it.

`${secretManager:demo/mysql:password}` in a connector names the key `password` of the secret
`demo/mysql`. Here that secret is a properties file only this user can read; on AWS it is a
secret of the same name in Secrets Manager. Values that differ between profiles without being
secret (a URL, a bucket) come the same way, so that connector files never differ.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from pydantic import SecretStr

from labctl.config.endpoints import Endpoints
from labctl.config.kafka_clients import java_settings, login_values
from labctl.config.model import SilverSource
from labctl.home.secrets import SECRET_PREFIX, properties_text
from labctl.home.state import write_private
from labctl.sources import ENGINES

__all__ = ["reference_values", "write_connector_secrets"]

BRONZE_ROTATION_MS: Mapping[SilverSource, str] = MappingProxyType(
    {"kafka": "1000", "bronze": "250"}
)
"""How long a change waits for its bronze file at most, by where silver reads. A lab shows it at
once, at the price of small files; shortest where silver waits for it."""


def write_connector_secrets(
    folder: Path,
    endpoints: Endpoints,
    passwords: Mapping[str, str],
    source: SilverSource,
) -> None:
    """Write one properties file a secret below `folder`/demo, of what `reference_values` says."""
    for name, values in reference_values(endpoints, passwords, source).items():
        write_private(folder / SECRET_PREFIX / name, properties_text(values))


def reference_values(
    endpoints: Endpoints, passwords: Mapping[str, str], source: SilverSource
) -> dict[str, dict[str, str]]:
    """What connectors refer to, by the secret's name below `demo/` and by key.

    A source's values are found under its own name, and those of the first source of each engine
    under the engine's, too. `source` is where silver reads.
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
