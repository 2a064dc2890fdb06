"""What a service is made for: a lab of this project, in folders of the test."""

from __future__ import annotations

from pathlib import Path

from labctl.artifacts import ArtifactStore
from labctl.config.lab_config import LabConfig
from labctl.services.lab_services import PASSWORDS, SERVICES
from labctl.services.local_endpoints import loopback_endpoints
from labctl.services.service import Context, Service

__all__ = ["PORTS", "PROJECT", "SECRET", "NamedParts", "context_of"]

PROJECT = Path(__file__).parents[2]
SECRET = {role: f"secret-of-{role}" for role in PASSWORDS}
PORTS = {service.name: service.ports for service in SERVICES}


class NamedParts(ArtifactStore):
    """Parts that need not be fetched to be named."""

    def path(self, name: str) -> Path:
        return Path("/parts") / name


def context_of(
    service: Service, config: LabConfig, folder: Path, artifacts: ArtifactStore | None = None
) -> Context:
    own = {name: section.ports for name, section in config.own_services.items()}
    return Context(
        service=service,
        lab="one",
        project=PROJECT,
        config=config,
        data=folder / "data",
        conf=folder / "conf",
        temp=folder / "tmp",
        secrets=folder / "secrets",
        ports=service.ports,
        passwords=SECRET,
        endpoints=loopback_endpoints(config, PORTS | own, SECRET),
        artifacts=artifacts or ArtifactStore(),
        build=lambda: "",
    )
