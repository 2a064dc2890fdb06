"""Checks of the sections `[services.NAME]`, with those that installed packages bring."""

from __future__ import annotations

import re
from collections.abc import Collection
from difflib import get_close_matches
from graphlib import CycleError, TopologicalSorter
from importlib.metadata import entry_points
from pathlib import Path

from pydantic import ValidationError

from labctl.config.config_reading import line_of_key
from labctl.config.lab_config import LabConfig
from labctl.config.services import OwnService, ServiceSettings
from labctl.entry_points import load_entry_point
from labctl.errors import ExitCode, LabError

__all__ = ["check_services", "refused"]

GROUP = "labctl.services"
"""Group of entry points. Each is a dictionary with the keys of a section `[services.NAME]`."""
_NAME = re.compile(r"[a-z][a-z0-9-]{0,29}")
_TAKEN = {
    *("front", "kafka-ui", "registry-ui", "secrets"),  # the Compose file's own
    *("events", "mending"),  # the supervisor's own
    *("lab", "self"),  # placeholders
    *("addresses", "others", "sources"),  # of the lab's endpoints
}
_TAKEN_PREFIX = "supervisor"
"""Prefix of the supervisor's own log files."""


def check_services(path: Path, config: LabConfig, known: Collection[str]) -> LabConfig:
    """Return `config` with the sections of its services complete; `known` are the lab's own.

    Raises LabError (USAGE) naming the line in `path`, the key and a hint.
    """
    services = {
        name: section if name in known else _own(path, config, name, section, known)
        for name, section in config.services.items()
    }
    for name, section in services.items():
        if name in known and isinstance(section, OwnService):
            raise refused(
                path, ["services", name], "this service is the lab's: give yours another name"
            )
    complete = config.model_copy(update={"services": services})
    if complete.own_services:
        _check_sources(path, config, known)
    _check_dependencies(path, complete, known)
    return complete


def refused(path: Path, key: list[str], why: str) -> LabError:
    """Return the error for a key of `lab.toml`."""
    return LabError(
        f"{path}:{line_of_key(path, key)} is not usable: {'.'.join(key)}: {why}",
        hint="docs/configuration.md lists every key",
        exit_code=ExitCode.USAGE,
    )


def _own(
    path: Path,
    config: LabConfig,
    name: str,
    section: ServiceSettings | OwnService,
    known: Collection[str],
) -> OwnService:
    """Return the definition of a service that is not the lab's."""
    key = ["services", name]
    points = entry_points(group=GROUP, name=name)
    packaged = load_entry_point(next(iter(points)), dict) if points else None
    if packaged is None and isinstance(section, ServiceSettings):
        close = get_close_matches(name, known, n=1)
        meant = f"did you mean {close[0]!r}?" if close else f"known: {', '.join(known)}"
        raise refused(
            path,
            key,
            f"there is no such service; {meant} A service of your own has `command` or `image`",
        )
    if not _NAME.fullmatch(name) or name in _TAKEN or name.startswith(_TAKEN_PREFIX):
        raise refused(
            path,
            key,
            "it cannot be called so: use another name of lower-case letters, digits and dashes, a "
            "letter first, 30 at most",
        )
    if name in config.sources:
        raise refused(path, key, f"sources.{name} has this name; give the service another one")
    try:
        definition = OwnService.model_validate(
            {**(packaged or {}), **section.model_dump(exclude_unset=True)}
        )
    except ValidationError as error:
        first = error.errors()[0]
        at = [*key, *map(str, first["loc"])]
        raise refused(path, at, f"{first['msg']}, with the package's {GROUP}") from None
    if (problem := definition.problem()) is not None:
        raise refused(path, [*key, problem[0]], problem[1])
    return definition


def _check_sources(path: Path, config: LabConfig, known: Collection[str]) -> None:
    """Refuse a source whose values would be those of a service that is not its engine's."""
    for name, source in config.sources.items():
        if name in known and name != source.engine:
            raise refused(
                path,
                ["sources", name],
                f"services of your own would get its values for those of the service {name}: "
                "rename the source",
            )


def _check_dependencies(path: Path, config: LabConfig, known: Collection[str]) -> None:
    own = config.own_services
    for name, section in own.items():
        for needed in section.depends_on:
            if needed not in own and needed not in known:
                close = get_close_matches(needed, [*known, *own], n=1)
                meant = f"; did you mean {close[0]!r}?" if close else ""
                key = ["services", name, "depends_on"]
                raise refused(path, key, f"there is no service {needed!r}{meant}")
    try:
        TopologicalSorter({name: one.depends_on for name, one in own.items()}).prepare()
    except CycleError as error:
        circle = error.args[1]
        key = ["services", circle[0], "depends_on"]
        raise refused(path, key, f"a circle: {' needs '.join(reversed(circle))}") from None
