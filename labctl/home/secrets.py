"""Generated passwords, and the files in which connectors find values by reference.

`${secretManager:demo/mysql:password}` in a connector names the key `password` of the secret
`demo/mysql`. Here that secret is a properties file only this user can read; on AWS it is a
secret of the same name in Secrets Manager. Values that differ between profiles without being
secret (a URL, a bucket) come the same way, so that connector files never differ.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import MappingProxyType

from pydantic import SecretStr, TypeAdapter

from labctl.config.endpoints import Endpoints
from labctl.config.kafka_clients import java_settings, login_values
from labctl.config.model import SilverSource, SourceEngine
from labctl.errors import ExitCode, LabError
from labctl.home.state import write_private

__all__ = [
    "SECRET_PREFIX",
    "load_passwords",
    "properties_text",
    "reference_values",
    "write_connector_secrets",
]

SECRET_PREFIX = "demo"  # noqa: S105 - a folder's name
SECRET_NAMES: Mapping[SourceEngine, str] = MappingProxyType(
    {"postgres": "postgres", "mysql": "mysql", "sqlserver": "mssql"}
)
"""What connector files call the secret of a source."""
BRONZE_ROTATION_MS: Mapping[SilverSource, str] = MappingProxyType(
    {"kafka": "1000", "bronze": "250"}
)
"""How long a change waits for its bronze file at most, by where silver reads. A lab shows it at
once, at the price of small files; shortest where silver waits for it."""
_PASSWORDS = TypeAdapter(dict[str, str])


def load_passwords(folder: Path, roles: Iterable[str]) -> dict[str, str]:
    """The passwords by role that `folder` keeps; those of `roles` that it lacks are generated.

    Raises LabError (ENVIRONMENT) when the file is damaged: others would not open what is there.
    """
    path = folder / "passwords.json"
    try:
        known = _PASSWORDS.validate_json(path.read_bytes()) if path.is_file() else {}
    except ValueError:
        raise LabError(
            f"{path} is damaged: the databases' passwords cannot be read",
            hint="put a copy of that file back, or remove the lab with `labctl destroy`",
            exit_code=ExitCode.ENVIRONMENT,
        ) from None
    missing = [role for role in roles if role not in known]
    if missing:
        known |= {role: secrets.token_urlsafe(24) for role in missing}
        write_private(path, json.dumps(known, indent=2))
    return known


def write_connector_secrets(
    folder: Path,
    endpoints: Endpoints,
    logins: Mapping[SourceEngine, tuple[str, str]],
    source: SilverSource,
) -> None:
    """Write one properties file a secret below `folder`/demo, of what `reference_values` says."""
    for name, values in reference_values(endpoints, logins, source).items():
        write_private(folder / SECRET_PREFIX / name, properties_text(values))


def reference_values(
    endpoints: Endpoints, logins: Mapping[SourceEngine, tuple[str, str]], source: SilverSource
) -> dict[str, dict[str, str]]:
    """What connectors refer to, by the secret's name below `demo/` and by key.

    A source's values are found under its own name, and those of the first source of each engine
    under the engine's, too. `logins` are user and password that Debezium connects to each engine
    with; `source` is where silver reads.
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
        user, password = logins[database.engine]
        values = {
            "hostname": database.host,
            "port": str(database.port),
            "username": user,
            "password": password,
            "database": database.database,
        }
        files[name] = values
        of_engines.setdefault(SECRET_NAMES[database.engine], values)
    return of_engines | files


def properties_text(values: Mapping[str, str]) -> str:
    """`values` as a java.util.Properties file holds them."""
    return "".join(f"{key}={_escape(value)}\n" for key, value in values.items())


def _plain(secret: SecretStr | None) -> str:
    return secret.get_secret_value() if secret else ""


def _escape(value: str) -> str:
    return value.replace("\\", "\\\\").replace("\n", "\\n")
