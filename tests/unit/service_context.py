"""What a service is made for: a lab of this project, in folders of the test."""

from __future__ import annotations

from pathlib import Path

from labctl.artifacts import ArtifactStore
from labctl.config.model import LabConfig
from labctl.services import PASSWORDS, SERVICES, Context, Service
from labctl.services.endpoints import loopback_endpoints

__all__ = ["PORTS", "PROJECT", "SECRET", "context_of"]

PROJECT = Path(__file__).parents[2]
SECRET = {role: f"secret-of-{role}" for role in PASSWORDS}
PORTS = {service.name: service.ports for service in SERVICES}


def context_of(
    service: Service, config: LabConfig, folder: Path, artifacts: ArtifactStore | None = None
) -> Context:
    return Context(
        service=service,
        lab="one",
        project=PROJECT,
        config=config,
        data=folder / "data",
        conf=folder / "conf",
        secrets=folder / "secrets",
        ports=service.ports,
        passwords=SECRET,
        endpoints=loopback_endpoints(config, PORTS, SECRET),
        artifacts=artifacts or ArtifactStore(),
        build=lambda: "",
    )
