"""Synchronisation of Connect's connectors with the connector files."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from labctl.errors import ExitCode, LabError
from labctl.kafkaconnect.connect_client import ConnectClient
from labctl.kafkaconnect.connector_files import ConnectorFile
from labctl.kafkaconnect.keys import wrong_keys
from labctl.kafkaconnect.redaction import shown_value

__all__ = [
    "Applied",
    "applied_config",
    "apply_connectors",
    "check_keys",
    "runs_otherwise",
    "setting_changes",
    "validate_connectors",
]


@dataclass(frozen=True)
class Applied:
    name: str
    change: Literal["created", "updated", "unchanged"]
    without_table: tuple[str, ...] = ()
    """For a source connector, messages about tables that its database does not have."""


def check_keys(files: Iterable[ConnectorFile], allowed: Collection[str] = ()) -> None:
    """Check for keys that nothing would read, and for missing keys, without Kafka Connect.

    Keys in `allowed` pass. Raises LabError (USAGE) that lists file, key and the correction.
    """
    problems = [
        f"{_place(file, problem.partition(':')[0])}: {problem}"
        for file in files
        for problem in wrong_keys(file.config, allowed)
    ]
    if problems:
        raise _refused(
            f"A connector file would not do what it says: {problems[0]}",
            problems,
            "nothing was changed; correct the file, or list a key you want to keep in lab.toml: "
            "[connectors] allow = […]",
        )


def validate_connectors(
    client: ConnectClient, files: Iterable[ConnectorFile], allowed: Collection[str] = ()
) -> None:
    """Check every file: its keys by `check_keys`, its values by the connector that it names.

    Raises LabError (USAGE) that lists file, field and reason; nothing is changed.
    """
    files = list(files)
    check_keys(files, allowed)
    _have_checked(client, files)


def _have_checked(client: ConnectClient, files: list[ConnectorFile]) -> None:
    """Let each file's connector check the file's values."""
    problems: list[str] = []
    installed = client.plugins()
    for file in files:
        wanted = file.config["connector.class"]
        if wanted not in installed:
            known = ", ".join(name for name in installed if "mirror" not in name)
            place = _place(file, "connector.class")
            problems.append(f"{place}: connector.class: no {wanted} here; {known}")
            continue
        errors = client.validate({**file.config, "name": file.name})
        problems += [
            f"{_place(file, field)}: {field}: {reason}"
            for field, reasons in errors.items()
            for reason in reasons
        ]
    if problems:
        raise _refused(
            f"Kafka Connect refuses the configuration: {problems[0]}",
            problems,
            "nothing was changed; correct the file and apply again",
        )


def _place(file: ConnectorFile, key: str) -> str:
    """Return the file's name and the line that sets `key`."""
    return f"{file.path.name}:{file.line_of(key)}"


def _refused(what: str, problems: list[str], hint: str) -> LabError:
    return LabError(what, details=tuple(problems[1:]), hint=hint, exit_code=ExitCode.USAGE)


def apply_connectors(
    client: ConnectClient,
    files: list[ConnectorFile],
    allowed: Collection[str] = (),
    *,
    prepare: Callable[[], None] = lambda: None,
) -> list[Applied]:
    """Create or update each connector; leave a connector with the same configuration alone.

    `prepare` is called once the keys of the files are found usable. Connect validates the files
    after that, because a connector then checks its database for what it needs there.
    """
    check_keys(files, allowed)
    prepare()
    _have_checked(client, files)
    return [_apply(client, file) for file in files]


def applied_config(file: ConnectorFile) -> dict[str, str]:
    """Return the configuration that Connect has once the connector's file is applied."""
    return {**file.config, "name": file.name}


def runs_otherwise(client: ConnectClient, file: ConnectorFile) -> bool:
    """Return whether Connect has another configuration than the file; False if it has none."""
    held = client.config(file.name)
    return held is not None and held != applied_config(file)


def setting_changes(
    held: Mapping[str, str], wanted: Mapping[str, str]
) -> dict[str, dict[str, str | None]]:
    """Return the values `applied` and in the `file`, as they may be shown, of keys that differ."""
    return {
        key: {"applied": shown_value(key, held.get(key)), "file": shown_value(key, new)}
        for key in sorted(held.keys() | wanted.keys())
        if held.get(key) != (new := wanted.get(key))
    }


def _apply(client: ConnectClient, file: ConnectorFile) -> Applied:
    held = client.config(file.name)
    if held == applied_config(file):
        return Applied(file.name, "unchanged")
    client.put(file.name, file.config)
    return Applied(file.name, "created" if held is None else "updated")
