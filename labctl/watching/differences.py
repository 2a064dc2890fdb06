"""Finding differences between what a lab runs with and its files."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime
from pathlib import Path

import requests

from labctl.errors import ExitCode, LabError
from labctl.kafkaconnect.apply import runs_otherwise
from labctl.kafkaconnect.opening import connect_client
from labctl.lab.connectors.connector_states import lab_files
from labctl.lab.lab import Lab
from labctl.lab.lifecycle.own_schema import is_schema_applied, sources_with_schema
from labctl.lab.observe.pipeline_state import silver_status
from labctl.watching.places import Places, Role

__all__ = ["differences", "drift", "relative"]


_SECONDS = 5.0
"""Seconds that Connect may take to answer a request."""


def differences(lab: Lab, places: Places) -> list[str]:
    """Return one sentence per difference, each with the command that resolves it.

    A service that does not run or does not answer is one, too.
    """
    found = list(_services(lab))
    try:
        found += _connectors(lab)
    except LabError as error:
        found.append(f"connectors: {error}")
    try:
        found += _silver(lab, places)
    except requests.RequestException:
        found.append("the Spark application does not answer: labctl status")
    return [*found, *_schemas(lab)]


def drift(lab: Lab, places: Places) -> list[str]:
    """Return one sentence per file that the lab does not run by, as far as services answer."""
    found: list[str] = []
    try:
        found += _connectors(lab)
    except LabError as error:
        if error.exit_code is not ExitCode.NOT_READY:  # a file that cannot be used
            found.append(f"{error}: labctl connectors validate")
    with suppress(requests.RequestException):
        found += _silver(lab, places)
    return [*found, *_schemas(lab)]


def relative(lab: Lab, path: Path) -> str:
    """Return a file's path relative to the project; the full path of a file outside of it."""
    return str(path.relative_to(lab.project)) if path.is_relative_to(lab.project) else str(path)


def _services(lab: Lab) -> Iterator[str]:
    states = lab.runtime.states()
    for service in lab.services:
        if service.name not in states or not states[service.name].running:
            yield f"{service.name} does not run: labctl up"


def _connectors(lab: Lab) -> Iterator[str]:
    """Yield a sentence per connector. Raises LabError if Kafka Connect does not answer."""
    client = connect_client(lab.endpoints.connect, seconds=_SECONDS)
    for file in [file for file in lab_files(lab) if runs_otherwise(client, file)]:
        yield (
            f"{relative(lab, file.path)}: Kafka Connect runs another configuration; "
            f"labctl connectors apply {file.name}"
        )


def _silver(lab: Lab, places: Places) -> Iterator[str]:
    """Yield a sentence per file. Raises requests' errors if the application does not answer."""
    status = silver_status(lab)
    for table in lab.tables:
        running = status["tables"].get(table.name)
        file = relative(lab, table.properties.file)
        if running is None:
            yield f"{file}: the Spark application does not know {table.name}: labctl up"
        elif running.get("configuration") != table.properties.digest:
            yield f"{file}: {table.name} runs by other properties: labctl up"
    began = datetime.fromisoformat(status["started_at"]).timestamp()
    for path, use in places.uses.items():
        if use.role in (Role.CODE, Role.SPARK) and path.stat().st_mtime > began:
            yield f"{relative(lab, path)}: saved since the application began: labctl restart silver"


def _schemas(lab: Lab) -> Iterator[str]:
    for name in sources_with_schema(lab):
        if not is_schema_applied(lab, name):
            file = lab.config.sources[name].schema_file
            yield f"{file}: not what was applied to {name} last: labctl up"
