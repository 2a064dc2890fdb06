"""Entry point that starts the Spark application inside its container, like the native runtime.

Settings come from the project mounted at /lab; addresses and keys come from the service's secrets.
The command line is the native one (`labctl/services/silver_service.py`).
"""

from __future__ import annotations

import hashlib
import json
import os
import time
import tomllib
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import requests

from labctl.application import require_contract
from labctl.artifacts import ArtifactStore
from labctl.config.endpoints import Connect, Endpoints
from labctl.config.lab_config import LabConfig, lab_file
from labctl.runtimes.compose.container_addresses import network_endpoints
from labctl.services import silver_service
from labctl.services.container import SECRETS
from labctl.services.lab_services import PASSWORDS, SERVICES
from labctl.services.service import Context
from labctl.sinks import require_readable, sink_files, used_sinks
from labctl.state.lab_secrets import SECRET_PREFIX
from labctl.tables import lab_tables
from lakecontract.properties import read_properties
from lakecontract.sink_keys import SINK_CONNECTOR

__all__ = ["ANY_ADDRESS", "main", "silver_context", "silver_digest", "sink_is_installed"]

PROJECT = Path("/lab")
DATA = Path("/data")
CONF = Path("/run/lab")
ANY_ADDRESS = "0.0.0.0"  # noqa: S104 - of the container, published on the host's loopback
CONNECT_SECONDS = 300.0
POLL_SECONDS = 0.5


def sink_is_installed(connect: Connect, connector_class: str, *, seconds: float) -> bool:
    """Return whether Connect has the sink connector's class, so that it writes bronze.

    Waits at most `seconds` until Connect answers, since only one program may write bronze. Raises
    TimeoutError.
    """
    deadline = time.monotonic() + seconds
    while True:
        try:
            url = f"{connect.url}/connector-plugins"
            answer = requests.get(url, auth=connect.login, timeout=5)
            answer.raise_for_status()
            return any(plugin["class"] == connector_class for plugin in answer.json())
        except requests.RequestException as error:
            if time.monotonic() > deadline:
                raise TimeoutError(f"Kafka Connect does not answer: {error}") from None
        time.sleep(POLL_SECONDS)


def silver_context(
    config: LabConfig, lab: str, endpoints: Endpoints, passwords: Mapping[str, str]
) -> Context:
    """Return the application's context inside its container, with the mounted paths."""
    return Context(
        service=silver_service.SERVICE,
        lab=lab,
        project=PROJECT,
        config=config,
        data=DATA,
        conf=CONF,
        temp=DATA / "scratch",
        secrets=SECRETS,
        ports=silver_service.SERVICE.ports,
        passwords=passwords,
        endpoints=endpoints,
        artifacts=ArtifactStore(),
        build=lambda: "",
    )


def silver_digest(
    project: Path, lab: str, config: LabConfig, endpoints: Endpoints, passwords: Mapping[str, str]
) -> str:
    """Return a digest of lab.toml, the application's command line and materialised views.

    The user's own services do not count: an edit of theirs must not restart the application.
    """
    context = replace(silver_context(config, lab, endpoints, passwords), project=project)
    settings = _settings(lab_file(project, lab).read_text(encoding="utf-8"))
    texts = [settings, *silver_service.options(context).argv()]
    if config.gold.materialised:
        texts.append(silver_service.gold_text(project, config))
    return hashlib.sha256("\n".join(texts).encode()).hexdigest()[:12]


def _settings(text: str) -> str:
    """Return lab.toml's settings as JSON, without the sections of the user's own services."""
    settings = tomllib.loads(text)
    sections = settings.get("services", {})
    known = {service.name for service in SERVICES}
    services = {name: section for name, section in sections.items() if name in known}
    return json.dumps(settings | {"services": services}, sort_keys=True, default=str)


def main() -> None:
    """Replace this process by `spark-submit`. Raises LabError for an unfit application."""
    require_contract(PROJECT)
    config = LabConfig.load(PROJECT / "lab.toml").with_source(os.environ["LAB_SILVER_SOURCE"])
    keys = read_properties(SECRETS / SECRET_PREFIX / "objectstore")
    # This service does not get the other passwords.
    passwords = dict.fromkeys(PASSWORDS, "") | {
        "objectstore": keys["secret.key"],
        **{role: (SECRETS / role).read_text("utf-8") for role in silver_service.SERVICE.passwords},
    }
    endpoints = network_endpoints(config, passwords)
    installed = sink_is_installed(endpoints.connect, SINK_CONNECTOR, seconds=CONNECT_SECONDS)
    print(f"bronze is written by {'the sink connector' if installed else 'this application'}")
    sinks = used_sinks(sink_files(PROJECT), lab_tables(PROJECT, config))
    if installed and config.silver.source == "bronze":
        require_readable(sinks)
    context = silver_context(config, os.environ["LAB_NAME"], endpoints, passwords)
    silver_service.SERVICE.native_form.prepare(context)
    process = silver_service.process(context, status_host=ANY_ADDRESS, writes_bronze=not installed)
    os.chdir(DATA)
    os.execvpe(process.argv[0], process.argv, {**os.environ, **process.env})  # noqa: S606


if __name__ == "__main__":
    main()
