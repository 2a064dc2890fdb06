"""Services of the user's own: records made from sections of `lab.toml`."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Mapping
from functools import partial
from graphlib import TopologicalSorter
from pathlib import Path

from labctl.config.endpoints import Endpoint, Endpoints
from labctl.config.lab_config import LabConfig
from labctl.config.services import Command, OwnService, mebibytes
from labctl.errors import ExitCode, LabError
from labctl.services.placeholders import Values, endpoint_values, fill, lab_values, uses
from labctl.services.service import PASSED_ON, Context, NativeService, Process, Service, Site
from labctl.state.sockets import LOOPBACK

__all__ = [
    "OwnEndpoint",
    "container_port",
    "keeps_data",
    "own_environment",
    "own_services",
    "own_words",
]

_PROGRAMS = Path(sys.executable).parent
_TIMEOUT_SECONDS = 5.0
_ESTIMATE_MIB = 256
"""Memory that a service of the user's own is expected to take, unless it may have less."""
_CLOSED_SECONDS = 0.3
"""Seconds within which the engine's proxy closes a connection that nothing behind it takes."""


class OwnEndpoint(Endpoint):
    """The addresses of a service of the user's own."""

    name: str
    addresses: Mapping[str, str]
    """`host:port` by endpoint."""

    @property
    def variables(self) -> Mapping[str, str]:
        prefix = self.name.replace("-", "_")
        return {f"{prefix}_{key}".upper(): address for key, address in self.addresses.items()}


def own_services(config: LabConfig) -> tuple[Service, ...]:
    """Return the records of the user's own services, each after those that it needs.

    The sections must not depend on each other in a circle.
    """
    sections = config.own_services
    order = TopologicalSorter({name: one.depends_on for name, one in sections.items()})
    return tuple(
        _service(name, sections[name]) for name in order.static_order() if name in sections
    )


def _service(name: str, section: OwnService) -> Service:
    native = None
    if section.command is not None:
        native = NativeService(
            artifacts=(),
            memory_mib=min(_ESTIMATE_MIB, mebibytes(section.memory)),
            prepare=partial(_prepare, section),
            process=partial(_process, section),
        )
    return Service(
        name=name,
        title=name,
        ports=section.ports,
        native=native,
        probe=partial(_probe, section),
        endpoint=partial(_endpoint, name, section),
        depends_on=section.depends_on,
        is_own=True,
        checked_by_container=section.ready is not None and section.ready.command is not None,
        ephemeral=not keeps_data(section),
        urls=partial(_urls, section),
    )


def _endpoint(name: str, section: OwnService, site: Site) -> OwnEndpoint:
    addresses = {endpoint: site.address(name, endpoint) for endpoint in section.ports}
    return OwnEndpoint(name=name, addresses=addresses)


def _urls(section: OwnService, _: Endpoints, ports: Mapping[str, int]) -> dict[str, str]:
    return {
        endpoint: f"{_scheme(endpoint)}{LOOPBACK}:{ports[endpoint]}" for endpoint in section.ports
    }


def _scheme(endpoint: str) -> str:
    """Return the scheme of an address for people, by the endpoint's name; empty if unknown."""
    return f"{endpoint}://" if endpoint in ("http", "https") else ""


def keeps_data(section: OwnService) -> bool:
    """Return whether a service uses its data folder, `{self.data}`."""
    ready = (section.ready.command if section.ready else None) or ()
    words = (*(section.command or ()), *(section.image_command or ()), *ready)
    texts = (*words, *section.environment.values())
    return any(uses(text, "self.data") for text in texts)


def container_port(section: OwnService, endpoint: str) -> int:
    """Return the port of an endpoint inside the service's container."""
    return section.container_ports.get(endpoint, section.ports[endpoint])


def own_words(name: str, key: str, command: Command, values: Values) -> list[str]:
    """Return a command's words with the lab's values; no secret may be among them."""
    place = f"services.{name}.{key}"
    return [fill(word, values, place=place, secrets=False) for word in command]


def own_environment(name: str, section: OwnService, values: Values) -> dict[str, str]:
    """Return a service's environment with the lab's values, secrets included."""
    return {
        variable: fill(text, values, place=f"services.{name}.environment.{variable}")
        for variable, text in section.environment.items()
    }


def _values(context: Context) -> Values:
    own = {"lab.name": context.lab, "self.data": str(context.data)}
    for endpoint, port in context.ports.items():
        own |= endpoint_values(f"self.{endpoint}", f"{LOOPBACK}:{port}")
    return {**lab_values(context.endpoints), **own}


def _environment(section: OwnService, context: Context) -> dict[str, str]:
    """Return the variables of the native process, without those that every process has."""
    return {
        # What a Python program prints is in its log at once.
        "PYTHONUNBUFFERED": "1",
        **own_environment(context.service.name, section, _values(context)),
    }


def _path() -> str:
    """Return the folders of programs: labctl's own, which an inactive environment hides, first."""
    return os.pathsep.join([str(_PROGRAMS), os.environ.get("PATH", os.defpath)])


def _prepare(section: OwnService, context: Context) -> None:
    if keeps_data(section):
        context.data.mkdir(parents=True, exist_ok=True, mode=0o700)


def _process(section: OwnService, context: Context) -> Process:
    assert section.command is not None  # noqa: S101 - it has a native form
    name = context.service.name
    argv = own_words(name, "command", section.command, _values(context))
    return Process(
        argv=(_program(context, argv[0]), *argv[1:]),
        env=_environment(section, context),
        cwd=context.project,
        programs=_PROGRAMS,
    )


def _program(context: Context, word: str) -> str:
    """Return a program's path. Raises LabError (USAGE) if there is no such program."""
    # Relative to the project's folder, not to the folder of whoever runs `up`.
    named = str(context.project / word) if os.sep in word else word
    if found := shutil.which(named, path=_path()):
        return found
    raise LabError(
        f"lab.toml: services.{context.service.name}.command: there is no program {word!r}",
        hint="give its path, relative to the project's folder or absolute, or put it on PATH",
        exit_code=ExitCode.USAGE,
    )


def _probe(section: OwnService, context: Context) -> str:
    ready = section.ready
    if ready is not None and ready.http is not None:
        return _answers(next(iter(context.ports.values())), ready.http)
    if ready is not None and ready.command is not None:
        return _ends_well(section, ready.command, context)
    endpoint = ready.tcp if ready is not None else next(iter(section.ports), None)
    return "runs" if endpoint is None else _takes_connections(context.ports[endpoint])


def _answers(port: int, path: str) -> str:
    import requests

    answer = requests.get(
        f"http://{LOOPBACK}:{port}{path}", timeout=_TIMEOUT_SECONDS, allow_redirects=False
    )
    if answer.status_code >= requests.codes.bad_request:
        raise ConnectionError(f"{path} answers with status {answer.status_code}")
    return f"{path} answers with {answer.status_code}"


def _takes_connections(port: int) -> str:
    """Check that a program takes connections; the engine's proxy in between would do so as well."""
    with socket.create_connection((LOOPBACK, port), _TIMEOUT_SECONDS) as connection:
        connection.settimeout(_CLOSED_SECONDS)
        try:
            if not connection.recv(1):
                raise ConnectionError(f"port {port} closes every connection")
        except TimeoutError:
            pass  # it waits for a request
    return f"takes connections on port {port}"


def _inherited() -> dict[str, str]:
    """Return the variables of this process that the supervisor passes on, too."""
    return {name: os.environ[name] for name in PASSED_ON if name in os.environ}


def _ends_well(section: OwnService, command: Command, context: Context) -> str:
    name = context.service.name
    argv = own_words(name, "ready.command", command, _values(context))
    done = subprocess.run(
        [_program(context, argv[0]), *argv[1:]],
        cwd=context.project,
        env={**_inherited(), "PATH": _path(), **_environment(section, context)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        timeout=_TIMEOUT_SECONDS,
        check=False,
    )
    if done.returncode != 0:
        said = (done.stdout + done.stderr).strip().splitlines()
        last = f": {said[-1]}" if said else ""
        raise ConnectionError(f"{argv[0]} exited with {done.returncode}{last}")
    return f"{argv[0]} exited with 0"
