"""The files that containers read their secrets from, one folder a service.

`python -m labctl.runtimes.compose.secrets FOLDER` makes them inside a container, for a lab that
was started by `docker compose` alone; `labctl` makes the same before it starts anything. Every
folder is mounted into one service. What is in it must be readable by whichever user that service
runs as; the folder around them is closed to everyone but this user.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path

from labctl.config.endpoints import Endpoints
from labctl.config.kafka_clients import java_settings
from labctl.config.model import LabConfig
from labctl.home.secrets import SECRET_PREFIX, load_passwords, properties_text, reference_values
from labctl.runtimes.compose.network import network_endpoints
from labctl.services import connect, kafka, sqlserver
from labctl.services.endpoints import capture_logins

__all__ = ["main", "write_service_secrets"]

PASSWORDS_OF: Mapping[str, tuple[str, ...]] = {
    "postgres": ("postgres", "cdc", "registry"),
    "mysql": ("mysql", "cdc"),
    "sqlserver": ("sqlserver",),
    "objectstore": ("objectstore",),
    "silver": ("connect", "kafka", "silver"),
}
"""Roles whose passwords a service reads, each from a file of that name."""
PROJECT = Path("/lab")
"""Where a container finds the project."""
READERS = ("connect", "silver")
"""Services that resolve the references in connector files."""


def write_service_secrets(folder: Path, config: LabConfig, passwords: Mapping[str, str]) -> None:
    """Write every service's files below `folder`, which only this user can enter."""
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    for service, roles in PASSWORDS_OF.items():
        for role in roles:
            _write(folder / service / role, passwords[role])
    endpoints = network_endpoints(config, passwords)
    logins = capture_logins(passwords)
    for name, values in reference_values(endpoints, logins, config.silver.source).items():
        for service in READERS:
            _write(folder / service / SECRET_PREFIX / name, properties_text(values))
    login = properties_text(kafka.login_settings(passwords))
    _write(folder / "kafka" / "login.properties", login)
    _write(folder / "connect" / "rest-users", connect.rest_users(passwords))
    datasource = {"apicurio.datasource.password": passwords["registry"]}
    _write(folder / "registry" / "application.properties", properties_text(datasource))
    _write(
        folder / "kafka-ui" / "application.properties", properties_text(_user_interface(endpoints))
    )
    # What the stand-in needs besides, where it takes SQL Server's place.
    assert endpoints.postgres is not None  # noqa: S101 - every lab has one
    stand_in = folder / "sqlserver"
    _write(stand_in / "dsn", sqlserver.store_dsn(endpoints.postgres))
    if not (stand_in / "server.pem").is_file():
        _write(stand_in / "server.pem", sqlserver.self_signed_certificate())


def _user_interface(endpoints: Endpoints) -> dict[str, str]:
    """Kafka UI's own settings."""
    user, password = endpoints.connect.login or ("", "")
    cluster = "kafka.clusters[0]"
    return {
        f"{cluster}.name": "lab",
        f"{cluster}.bootstrapServers": endpoints.kafka.bootstrap_servers,
        **{f"{cluster}.properties.{k}": v for k, v in java_settings(endpoints.kafka).items()},
        f"{cluster}.kafkaConnect[0].name": "connect",
        f"{cluster}.kafkaConnect[0].address": endpoints.connect.url,
        f"{cluster}.kafkaConnect[0].username": user,
        f"{cluster}.kafkaConnect[0].password": password,
    }


def _write(path: Path, text: str) -> None:
    """Write where the text is another: a file that is right keeps its owner."""
    if path.is_file() and path.read_text(encoding="utf-8") == text:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    staged = path.with_name(f".{path.name}.new")
    staged.write_text(text, encoding="utf-8")
    staged.chmod(0o644)
    staged.replace(path)
    for parent in path.parents[: 2 if path.parent.name == SECRET_PREFIX else 1]:
        parent.chmod(0o755)


def main() -> None:
    """Make what is missing in the folder named on the command line; print nothing secret."""
    folder = Path(sys.argv[1])
    folder.chmod(0o700)
    config = LabConfig.load(PROJECT / "lab.toml")
    write_service_secrets(folder, config, load_passwords(folder))
    print(f"secrets of {', '.join(sorted(PASSWORDS_OF))} and others are in place")


if __name__ == "__main__":
    main()
