"""Connectors as the pages show them: states, why one failed, settings and positions.

The functions run in a process of `lake_workers`, as those of `table_reading` do.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from labctl.kafkaconnect.connect_client import ConnectClient
    from labctl.lab.lab import Lab

__all__ = ["ConnectorDetail", "ConnectorLine", "Setting", "connector", "connectors"]


@dataclass(frozen=True)
class ConnectorLine:
    """A connector."""

    name: str
    state: str
    """The worst of its own and its tasks': Kafka Connect's word, or `not applied`."""
    tone: str
    """`good`, `busy`, `bad` or `off`."""
    tasks: int
    why: tuple[str, ...]
    """Why its tasks failed, with the way back."""


@dataclass(frozen=True)
class Setting:
    """A key of its configuration, in the form that may be shown."""

    key: str
    applied: str | None
    file: str | None
    """The file's value, where it is another."""
    differs: bool


@dataclass(frozen=True)
class ConnectorDetail:
    """A connector with its settings and its position in its database's log."""

    line: ConnectorLine
    settings: tuple[Setting, ...]
    positions: Mapping[str, str]


def connectors(lab: Lab) -> list[ConnectorLine]:
    """Return the connectors that Connect runs, and those of files that it does not, worst first."""
    from labctl.lab.connectors.connector_states import lab_files

    client = _client(lab)
    statuses = client.statuses()
    names = statuses.keys() | {file.name for file in lab_files(lab)}
    lines = [_line(lab, name, statuses.get(name)) for name in sorted(names)]
    return sorted(lines, key=lambda line: line.tone != "bad")


def connector(lab: Lab, name: str) -> ConnectorDetail:
    """Return one connector. Raises LabError (USAGE) if there is neither one nor a file."""
    from labctl.errors import ExitCode, LabError
    from labctl.kafkaconnect.apply import applied_config, setting_changes
    from labctl.kafkaconnect.redaction import shown_value
    from labctl.lab.connectors.connector_states import lab_files

    client = _client(lab)
    files = {file.name: file for file in lab_files(lab)}
    held = client.config(name)
    if held is None and name not in files:
        raise LabError(
            f"There is no connector {name}",
            hint=f"there are: {', '.join(sorted(files))}",
            exit_code=ExitCode.USAGE,
        )
    held = held or {}
    wanted = applied_config(files[name]) if name in files else held
    changed = setting_changes(held, wanted)
    settings = tuple(
        Setting(
            key,
            shown_value(key, held.get(key)),
            changed[key]["file"] if key in changed else None,
            key in changed,
        )
        for key in sorted(held.keys() | wanted.keys())
    )
    line = _line(lab, name, client.status(name) if held else None)
    return ConnectorDetail(line, settings, _positions(client, name) if held else {})


def _client(lab: Lab) -> ConnectClient:
    from labctl.kafkaconnect.opening import connect_client

    return connect_client(lab.require_running().endpoints.connect)


def _line(lab: Lab, name: str, status: Mapping[str, Any] | None) -> ConnectorLine:
    from labctl.lab.connectors.failed_capture import why_failed

    if status is None:
        way_back = f"Kafka Connect does not have it. labctl connectors apply {name}"
        return ConnectorLine(name, "not applied", "off", 0, (way_back,))
    tasks = status["tasks"]
    states = [status["connector"]["state"], *(task["state"] for task in tasks)]
    state = next((one for one in states if one != "RUNNING"), "RUNNING" if tasks else "no task")
    tone = "good" if state == "RUNNING" else "bad" if state == "FAILED" else "busy"
    traces = [part["trace"] for part in (status["connector"], *tasks) if "trace" in part]
    why = tuple(why_failed(lab, trace, name) for trace in traces)
    return ConnectorLine(name, state, tone, len(tasks), why)


def _positions(client: ConnectClient, name: str) -> dict[str, str]:
    return {
        key: str(value)
        for entry in client.offsets(name)
        for key, value in (entry["offset"] or {}).items()
    }
