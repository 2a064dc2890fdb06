"""The files in `compose/` that are written from the services' records.

`make compose` runs it. It needs PyYAML, which labctl itself does not.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping
from functools import cache
from itertools import chain
from typing import Any

from labctl.artifacts.lock import Lock, load_lock
from labctl.runtimes.compose.docker_engine import COMPOSE_FOLDER
from labctl.services.container import (
    BUILT_SILVER_IMAGE,
    LAB_FILE,
    ComposeService,
    Health,
    Image,
    Port,
    mounted,
    published,
)
from labctl.services.lab_services import SERVICES, container_forms
from labctl.services.service import Service, Stop
from labctl.state.sockets import LOOPBACK

__all__ = ["main", "written_files", "yaml_pair"]

_WIDTH = 100
_HEAD = """\
# The lab in containers: `docker compose up` here, or `labctl --profile compose up`. Ports, volumes,
# variables and how to swap an image are in docs/compose.md. Works with engine 20.10 and Compose v2.
# Written by `make compose` from the services' records in labctl: change them there.
name: ${LAB_NAME:-tickit}

# What all services share. An init process of its own lets a service be killed from inside, as a
# crash would end it; `restart` then starts it again.
x-service: &service
  init: true
  restart: always
  logging:
    driver: json-file
    options: { max-size: 10m, max-file: "3" }

x-health: &often
  interval: 5s
  timeout: 5s
  retries: 36

services:
"""
_STAND_IN_HEAD = """\
# An override for machines that cannot pull images. It replaces or disables services whose images
# cannot be built from packages.
#   docker compose -f compose.yaml -f stand-in.yaml up
# Written by `make compose` from the services' records in labctl: change them there.
services:
"""
_SECRETS = ComposeService(
    "secrets",
    BUILT_SILVER_IMAGE,
    memory="256m",
    comment="Makes the passwords and the files connectors refer to, where they are missing; then it"
    " is done.",
    command=("python", "-m", "labctl.runtimes.compose.container_secrets", "/secrets"),
    mounts=(
        LAB_FILE,
        "${LAB_SECRETS:-./secrets}:/secrets",
    ),
    reads_secrets=False,
    depends_on=(),
)
_REPLACED = ("image", "pull_policy", "command", "healthcheck", "depends_on", "mem_limit")
"""Keys of a container that another image replaces."""
_MERGE = "<<"
"""YAML's key that merges another mapping, which `_HEAD` names."""


def written_files() -> dict[str, str]:
    """Return the texts of all files that are written, by path below `compose/`."""
    files = {"compose.yaml": compose_file(), "stand-in.yaml": stand_in_file()}
    for _, form in container_forms(SERVICES):
        for container in (form.service, *form.beside):
            files |= container.files
    return files


def compose_file() -> str:
    """Return the text of the Compose file."""
    alone = {"user": "0", "network_mode": "none"}
    blocks = [_block(_SECRETS, {**_keys(_SECRETS, None), **alone})]
    volumes: dict[str, None] = {}
    for service, form in container_forms(SERVICES):
        for container in (form.service, *form.beside):
            lab_service = service if container is form.service else None
            blocks.append(_block(container, {_MERGE: "service", **_keys(container, lab_service)}))
            if container.data:
                volumes[container.name] = None
    named = "".join(f"  {name}:\n" for name in volumes)
    return _HEAD + "\n".join(blocks) + f"\nvolumes:\n{named}"


def stand_in_file() -> str:
    """Return the text of the override for machines that can pull no image."""
    blocks = []
    for service, form in container_forms(SERVICES):
        if form.without_hub is not None:
            keys = _keys(form.without_hub, service)
            # The rest is that of the container it replaces.
            keys["healthcheck"] = {"test": keys["healthcheck"]["test"]}
            kept = {key: value for key, value in keys.items() if key in _REPLACED}
            blocks.append(_block(form.without_hub, kept))
        for beside in form.beside:
            if beside.name in form.sidecars and not any(
                recipe.name == beside.name for recipe in form.recipes
            ):
                # Nothing depends on it.
                blocks.append(_block(beside, {"profiles": ["tools"]}))
    return _STAND_IN_HEAD + "\n".join(blocks)


def _keys(container: ComposeService, service: Service | None) -> dict[str, Any]:
    """Return the keys of a service of the Compose file; `service` is the lab's, if it has one."""
    keys: dict[str, Any] = {
        "profiles": list(container.profiles),
        **_image_keys(container.image),
        "entrypoint": list(container.entrypoint),
        "command": list(container.command),
        "stop_signal": _stop_signal(service),
        "working_dir": container.working_dir,
        "environment": dict(container.environment),
        "volumes": list(_volumes(container)),
        "tmpfs": list(container.temporary),
        "ports": [f"{LOOPBACK}:{port.value}:{port.inside}" for port in _ports(container, service)],
        "deploy": {"replicas": container.replicas} if container.replicas else {},
        "healthcheck": _health(container.health),
        "stop_grace_period": _grace(container, service),
        "depends_on": _dependencies(container, service),
        "shm_size": container.shared_memory,
        "mem_limit": container.memory,
    }
    return {key: value for key, value in keys.items() if value}


def _image_keys(image: Image) -> dict[str, Any]:
    variable = image.name.upper()
    keys: dict[str, Any] = {"image": f"${{{variable}_IMAGE:-{_versioned(image.reference, image)}}}"}
    if image.is_built_here:
        keys["pull_policy"] = f"${{{variable}_PULL_POLICY:-never}}"
    if image.build is not None:
        keys["build"] = _versioned(image.build, image)
    return keys


def _versioned(value: Any, image: Image) -> Any:
    """Return a value of the image with the locked version of its artefact."""
    match value:
        case str() if image.artifact is not None:
            return value.replace("{version}", _lock().artifacts[image.artifact].version)
        case Mapping():
            return {key: _versioned(item, image) for key, item in value.items()}
        case _:
            return value


@cache
def _lock() -> Lock:
    return load_lock()


def _stop_signal(service: Service | None) -> str:
    if service is None or service.stop.signal == Stop().signal:
        return ""
    return f"SIG{service.stop.signal}"


def _grace(container: ComposeService, service: Service | None) -> str:
    seconds = container.stop_seconds
    if seconds is None and service is not None:
        seconds = service.stop.seconds
    return "" if seconds is None else f"{seconds}s"


def _volumes(container: ComposeService) -> Iterator[str]:
    if container.data:
        yield f"{container.name}:{container.data}"
    yield from container.mounts
    if container.reads_secrets:
        yield mounted(f"${{LAB_SECRETS:-./secrets}}/{container.name}", "/run/secrets")
    if container.health and any("/probes/" in word for word in container.health.test):
        yield mounted("./probes", "/probes")


def _ports(container: ComposeService, service: Service | None) -> tuple[Port, ...]:
    if container.ports is not None or service is None:
        return container.ports or ()
    return tuple(
        published(service.name, endpoint, port) for endpoint, port in service.ports.items()
    )


def _health(health: Health | None) -> dict[str, Any]:
    if health is None:
        return {}
    keys: dict[str, Any] = {_MERGE: "often", "test": list(health.test)}
    if health.timeout_seconds != Health.timeout_seconds:
        keys["timeout"] = f"{health.timeout_seconds}s"
    return keys


def _dependencies(container: ComposeService, service: Service | None) -> dict[str, Any]:
    names = container.depends_on
    if names is None:
        names = service.depends_on if service else ()
    needed: dict[str, Any] = {}
    if container.reads_secrets:
        needed["secrets"] = {"condition": "service_completed_successfully"}
    return needed | {name: {"condition": "service_healthy"} for name in names}


def _block(container: ComposeService, keys: Mapping[str, Any]) -> str:
    """Return a service's part of the file."""
    if unknown := set(container.comments) - {*keys, *container.environment}:
        raise ValueError(f"{container.name} has comments on {unknown}, which it lacks")
    lines = [*_comment(container.comment, "  "), f"  {container.name}:"]
    for key, value in keys.items():
        lines += _lines(key, value, "    ", container.comments)
    return "\n".join(lines) + "\n"


def _comment(text: str, indent: str) -> list[str]:
    return textwrap.wrap(
        text, _WIDTH, initial_indent=f"{indent}# ", subsequent_indent=f"{indent}# "
    )


def _lines(key: str, value: Any, indent: str, comments: Mapping[str, str]) -> list[str]:
    """Return a key with its comment and its value, which is on one line if there is space."""
    return [*_comment(comments.get(key, ""), indent), *yaml_pair(key, value, indent, comments)]


def yaml_pair(key: str, value: Any, indent: str, comments: Mapping[str, str]) -> list[str]:
    """Return the lines of a key with its value; `comments` are those of keys in the value."""
    if key == _MERGE:
        return [f"{indent}{_MERGE}: *{value}"]
    short = f"{indent}{key}: {_flow(value)}"
    if len(short) <= _WIDTH and not isinstance(value, dict):
        return [short]
    match value:
        case dict():
            deeper = f"{indent}  "
            pairs = (_lines(name, item, deeper, comments) for name, item in value.items())
            return [f"{indent}{key}:", *chain.from_iterable(pairs)]
        case list():
            return [f"{indent}{key}:", *(_item(item, f"{indent}  ") for item in value)]
        case _:
            return [f"{indent}{key}: {_folded(str(value), f'{indent}  ')}"]


def _item(item: str, indent: str) -> str:
    line = f"{indent}- {_flow(item)}"
    return line if len(line) <= _WIDTH else f"{indent}- {_folded(item, f'{indent}  ')}"


def _folded(text: str, indent: str) -> str:
    """Return a long text as a folded block, or as it is where it has nowhere to break."""
    wrapped = textwrap.wrap(
        text,
        _WIDTH,
        initial_indent=indent,
        subsequent_indent=indent,
        break_long_words=False,
        break_on_hyphens=False,
    )
    # YAML makes one blank of each end of a line, and nothing else.
    if len(wrapped) == 1 or " ".join(line.strip() for line in wrapped) != text:
        return _flow(text)
    return "\n".join([">-", *wrapped])


def _flow(value: Any) -> str:
    """Return a value as YAML on one line."""
    import yaml

    text: str = yaml.safe_dump(
        value, default_flow_style=True, sort_keys=False, width=10_000, allow_unicode=True
    )
    return text.removesuffix("\n").removesuffix("\n...")


def main() -> None:
    """Write the files."""
    for path, text in written_files().items():
        (COMPOSE_FOLDER / path).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
