"""Sections of `lab.toml` for services: settings of the lab's own, and services of the user's."""

from __future__ import annotations

import shlex
from difflib import get_close_matches
from typing import Annotated, Any, Literal, Self

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Discriminator,
    Field,
    StringConstraints,
    Tag,
    model_validator,
)

from labctl.config.section import Section

__all__ = [
    "Memory",
    "OwnService",
    "Port",
    "Ready",
    "ServiceSection",
    "ServiceSettings",
    "mebibytes",
]

Port = Annotated[int, Field(ge=1024, le=65535)]
ContainerPort = Annotated[int, Field(ge=1, le=65535)]
Memory = Annotated[str, Field(pattern=r"^[1-9][0-9]*[mg]$")]
"""A JVM-style size: `256m`, `2g`."""
ServiceName = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9-]{0,29}$")]
EndpointName = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9]{0,29}$")]
Variable = Annotated[str, StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")]


def mebibytes(size: Memory) -> int:
    """Return a size in MiB."""
    return int(size[:-1]) * (1024 if size.endswith("g") else 1)


def _words(command: object) -> object:
    """Return a command line's words, as a shell splits them; a list stays as it is."""
    if not isinstance(command, str | list | tuple):
        raise ValueError("write a command line, or the list of its words")
    return shlex.split(command) if isinstance(command, str) else command


def _without_nul(text: str) -> str:
    if "\0" in text:
        raise ValueError("it has a NUL character, which no process can be given")
    return text


Text = Annotated[str, AfterValidator(_without_nul)]
Command = Annotated[
    tuple[Text, ...], BeforeValidator(_words, json_schema_input_type=str), Field(min_length=1)
]
"""A command line, or the list of its words; no shell interprets it."""


class ServiceSettings(Section):
    """Settings of a lab's service (`[services.kafka]`). The section and each key are optional."""

    ports: dict[str, Port] = Field(default_factory=dict)
    """Fixed ports by endpoint. A fixed port that is taken is an error; labctl does not move it."""
    heap: Memory | None = None
    """Its JVM's heap, `512m` or `2g`. Without it, the service's own."""
    memory: Memory | None = None
    """Memory that the kernel allows each of its processes, natively. Without it, twice what the
    service takes and what `heap` adds, 448 MiB, and 32 MiB for each core."""
    start_seconds: Annotated[int, Field(ge=1, le=86_400)] | None = None
    """Time that it may take from its start until it is usable. Without it 60 s, for Connect and the
    Spark application 120 s; up to five times longer on a machine that has more to run than it has
    cores."""
    quick_start: bool = False
    """For Connect and the Spark application, natively: the JVM's first compiler alone. They are
    usable, and a first change arrives, in four fifths of the time; a load of a million rows
    takes one and a half times as long."""


class Ready(Section):
    """The test of whether a service of your own is usable: one of `http`, `tcp` and `command`."""

    http: Annotated[str, Field(pattern=r"^/\S*$")] | None = None
    """Path that the first of its ports has to answer with a status below 400."""
    tcp: EndpointName | None = None
    """Endpoint whose port has to take a connection."""
    command: Command | None = None
    """Command that has to end with 0: natively in the project's folder, in a container inside
    it."""

    @model_validator(mode="after")
    def _is_one(self) -> Self:
        if len(self.model_fields_set) != 1:
            raise ValueError('name one of http = "/path", tcp = "ENDPOINT" and command = "…"')
        return self


class OwnService(Section):
    """A service of your own, under a name of yours (`[services.shop]`).

    It has a form for each runtime that it is to run in: `command` natively, `image` in containers.
    """

    command: Command | None = None
    """Command line that becomes its process natively, in the project's folder. No shell interprets
    it."""
    image: Annotated[Text, Field(min_length=1)] | None = None
    """Image of its container. The engine has it, or pulls it."""
    image_command: Command | None = None
    """Command line in the container; without it, the image's own."""
    ports: dict[EndpointName, Port] = Field(default_factory=dict)
    """Port on this machine by endpoint, `{ http = 8000 }`. If another program or lab has it, labctl
    chooses another one and keeps that."""
    container_ports: dict[EndpointName, ContainerPort] = Field(default_factory=dict)
    """Port inside the container by endpoint, where it is not the one in `ports`."""
    environment: dict[Variable, Text] = Field(default_factory=dict)
    """Its environment, in which `{kafka.broker}` and the like become the lab's values."""
    ready: Ready | None = None
    """Test of whether it is usable. Without it, its first port has to take a connection; without
    ports, its process has to run."""
    depends_on: tuple[ServiceName, ...] = ()
    """Services that must be usable before it starts. It starts after `up` has made the sources'
    tables and applied their connectors."""
    memory: Memory = "1g"
    """Memory that each of its processes may have natively, and the container as a whole."""
    start_seconds: Annotated[int, Field(ge=1, le=86_400)] | None = None
    """Time that it may take from its start until it is usable. Without it 60 s, up to five times
    longer on a busy machine."""

    def problem(self) -> tuple[str, str] | None:
        """Return a key that does not go with the others, and why; None if all go together.

        A section may lack keys that a package's definition has, so only the whole is checked.
        """
        named = dict.fromkeys(self.container_ports, "container_ports")
        if self.ready is not None and self.ready.tcp is not None:
            named[self.ready.tcp] = "ready"
        unknown = next((name for name in named if name not in self.ports), None)
        if unknown is not None:
            return named[unknown], f"`ports` has no endpoint {unknown!r}"
        if self.ready is not None and self.ready.http is not None and not self.ports:
            return "ready", "`http` needs a port: write ports = { http = 8000 }"
        if self.image_command is not None and self.image is None:
            return "image_command", "it is for a container: name its `image`"
        if self.command is None and self.image is None:
            return "command", (
                "name its `command`, which runs it natively, or its `image`, which runs it in a "
                "container"
            )
        return None

    @property
    def settings(self) -> ServiceSettings:
        """The settings that it has in common with the lab's services; its ports are not fixed."""
        return ServiceSettings(memory=self.memory, start_seconds=self.start_seconds)

    def has_form(self, runtime: str) -> bool:
        """Return whether it can run in `runtime`: `native` or `compose`."""
        return {"native": self.command, "compose": self.image}.get(runtime) is not None


_OWN_KEYS = set(OwnService.model_fields) - set(ServiceSettings.model_fields)


def _kind(section: Any) -> Literal["lab", "own"]:
    """Return which of the two models a section is of, by its keys, also by a misspelt one."""
    if not isinstance(section, dict):
        return "own" if isinstance(section, OwnService) else "lab"
    unknown = (str(key) for key in section if key not in ServiceSettings.model_fields)
    return "own" if any(get_close_matches(key, _OWN_KEYS, n=1) for key in unknown) else "lab"


ServiceSection = Annotated[
    Annotated[ServiceSettings, Tag("lab")] | Annotated[OwnService, Tag("own")],
    Discriminator(_kind),
]
"""A section `[services.NAME]`: one with a key of a service of the user's own defines such a one."""
