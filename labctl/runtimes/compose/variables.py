"""Variables of the Compose file for one lab. None of them is secret."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from labctl.artifacts import ArtifactStore
from labctl.config.lab_config import ComposeProfile, LabConfig, lab_file
from labctl.images import image_work, references, source_digest, sources
from labctl.runtimes.compose.silver_container import silver_digest
from labctl.services import connect_service
from labctl.services.container import port_variable
from labctl.services.lab_services import compose_variables, services_of
from labctl.services.local_endpoints import loopback_endpoints
from labctl.shipped import own_or_shipped
from labctl.state.lab_state import LabState

__all__ = ["lab_variables"]


def lab_variables(
    project: Path,
    config: LabConfig,
    profile: ComposeProfile,
    state: LabState,
    lab_ports: Mapping[str, Mapping[str, int]],
    passwords: Mapping[str, str],
    *,
    store: ArtifactStore,
) -> dict[str, str]:
    """Return the variables by name. `lab_ports` are by service and endpoint."""
    name = f"labctl-{state.name}"
    ports = {
        port_variable(service, endpoint): str(port)
        for service, endpoints in lab_ports.items()
        if service not in config.own_services
        for endpoint, port in endpoints.items()
    }
    root = sources(image_work(store))
    if profile.images == "local":
        images = references(store)
    else:
        # The tag is a digest of the code: another version of the code is another image.
        images = {"silver": f"labctl/silver:{source_digest(root)}"}
    images |= profile.image
    endpoints = loopback_endpoints(config, lab_ports, passwords)
    return {
        "COMPOSE_PROJECT_NAME": name,
        # Each optional service has a profile of the same name in the Compose file.
        "COMPOSE_PROFILES": ",".join(service.name for service in services_of(config)),
        "LAB_NAME": name,
        "LAB_PROJECT": str(project),
        "LAB_SOURCES": str(root),
        "LAB_WORKER": str(own_or_shipped(project, connect_service.WORKER_FILE)),
        "LAB_FILE": str(lab_file(project, state.name)),
        "LAB_SECRETS": str(state.secrets),
        "LAB_BUCKET": config.lake.bucket,
        "LAB_REGION": config.lake.region,
        "LAB_SILVER": silver_digest(project, state.name, config, endpoints, passwords),
        "LAB_SILVER_SOURCE": config.silver.source,
        **compose_variables(project, config),
        **ports,
        **{f"{service}_IMAGE".upper(): image for service, image in images.items()},
    }
