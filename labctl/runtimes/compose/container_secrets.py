"""The files from which containers read their secrets, one folder per service.

`python -m labctl.runtimes.compose.container_secrets FOLDER` writes them inside a container, for
a lab that was started by `docker compose` alone. `labctl` writes the same files before it starts
anything. Each folder is mounted into one service, and any user may read the files in it, because
services run as different users. Only this user can enter the parent folder.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path

from labctl.config.endpoints import Endpoints
from labctl.config.lab_config import LabConfig
from labctl.runtimes.compose.container_addresses import network_endpoints
from labctl.services.container import Container, Files
from labctl.services.lab_services import PASSWORDS, SERVICES, container_forms
from labctl.services.reference_files import reference_values
from labctl.services.service import Service
from labctl.state.lab_secrets import SECRET_PREFIX, load_passwords, properties_text

__all__ = ["main", "write_service_secrets"]

PROJECT = Path("/lab")
"""Path of the project inside a container."""


def write_service_secrets(folder: Path, config: LabConfig, passwords: Mapping[str, str]) -> None:
    """Write every service's files below `folder`, which only this user can enter."""
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    endpoints = network_endpoints(config, passwords)
    for service, form in container_forms(SERVICES):
        for container, files in _secrets(service, form, endpoints, passwords).items():
            for name, text in files.items():
                path = folder / container / name
                if isinstance(text, str):
                    _write(path, text)
                elif not path.is_file():
                    _write(path, text())
    for name, values in reference_values(endpoints, passwords, config.silver.source).items():
        for service, form in container_forms(SERVICES):
            if form.reads_references:
                _write(folder / service.name / SECRET_PREFIX / name, properties_text(values))


def _secrets(
    service: Service, form: Container, endpoints: Endpoints, passwords: Mapping[str, str]
) -> Mapping[str, Files]:
    if form.secrets is not None:
        return form.secrets(endpoints, passwords)
    return {service.name: {role: passwords[role] for role in service.passwords}}


def _write(path: Path, text: str) -> None:
    """Write the file if its text differs; an unchanged file keeps its owner."""
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
    """Write the secrets to the folder named on the command line, without printing them."""
    folder = Path(sys.argv[1])
    folder.chmod(0o700)
    config = LabConfig.load(PROJECT / "lab.toml")
    write_service_secrets(folder, config, load_passwords(folder, PASSWORDS))
    print(f"secrets of {', '.join(service.name for service in SERVICES)} are in place")


if __name__ == "__main__":
    main()
