"""Valkey, a cache for applications on the lake. A lab has it if `lab.toml` enables it."""

from __future__ import annotations

import re
import socket
from collections.abc import Mapping, Sequence

from pydantic import SecretStr

from labctl.config.endpoints import Endpoint
from labctl.services.container import (
    SECRETS,
    ComposeService,
    Container,
    Health,
    Image,
    Recipe,
)
from labctl.services.service import Context, NativeService, Process, Service, Site
from labctl.state.lab_state import write_private

__all__ = ["OPTIONS", "PASSWORD_FILE", "SERVICE", "Cache", "ask", "password_text"]

PASSWORD_FILE = "cache.conf"  # noqa: S105 - a file's name
OPTIONS = (
    *("--maxmemory", "32mb"),
    # Evict rarely used entries first: no client displaces what others request repeatedly.
    *("--maxmemory-policy", "allkeys-lfu"),
    # It always starts empty: an answer from before a restore, or a day old, would be wrong.
    *("--save", ""),
    *("--appendonly", "no"),
    # This folder is not writable, so that no command leaves a file that the next start would read.
    *("--dir", "/proc"),
    # A process title would overwrite the environment, by which a lab recognises its processes.
    *("--set-proc-title", "no"),
)
"""Options that are the same in every runtime, without addresses."""
_TIMEOUT_SECONDS = 3.0


class Cache(Endpoint):
    """The cache's address and password; it speaks the Redis protocol."""

    host: str
    port: int
    password: SecretStr

    @property
    def variables(self) -> Mapping[str, str]:
        return {"REDIS_HOST": self.host, "REDIS_PORT": str(self.port)}

    @property
    def secrets(self) -> Mapping[str, str]:
        return {"REDIS_PASSWORD_FILE": self.password.get_secret_value()}


def password_text(passwords: Mapping[str, str]) -> str:
    """Return the text of the file from which the server reads its password."""
    return f"requirepass {passwords[SERVICE.name]}\n"


def _process(context: Context) -> Process:
    return Process(
        argv=(
            str(context.artifacts.path("valkey") / "valkey-server"),
            str(context.conf / PASSWORD_FILE),
            *("--bind", "127.0.0.1", "--port", str(context.ports["redis"])),
            *OPTIONS,
        ),
    )


def ask(endpoint: Cache, *command: str) -> str:
    """Return the server's raw answer to one command. Raises OSError, also if the server refuses it.

    The pipeline needs no full client, so that its packages include none.
    """
    password = endpoint.password.get_secret_value()
    requests = (("AUTH", password), command, ("QUIT",))
    with socket.create_connection((endpoint.host, endpoint.port), _TIMEOUT_SECONDS) as connection:
        connection.sendall("".join(map(_encoded, requests)).encode())
        answer = b""
        while block := connection.recv(65_536):
            answer += block
    text = answer.decode().removeprefix("+OK\r\n").removesuffix("+OK\r\n")
    if text.startswith("-"):
        raise ConnectionError(text[1:].splitlines()[0])
    return text


def _encoded(command: Sequence[str]) -> str:
    words = (f"${len(word.encode())}\r\n{word}\r\n" for word in command)
    return f"*{len(command)}\r\n{''.join(words)}"


def _probe(context: Context) -> str:
    endpoint = context.endpoints.others[SERVICE.name]
    assert isinstance(endpoint, Cache)  # noqa: S101 - this service's own endpoint
    (version,) = re.findall(r"^valkey_version:(\S+)", ask(endpoint, "INFO", "server"), re.MULTILINE)
    return f"Valkey {version}"


def _endpoint(site: Site) -> Cache:
    host, _, port = site.address("cache", "redis").rpartition(":")
    return Cache(host=host, port=int(port), password=SecretStr(site.passwords["cache"]))


_PORT = 6379
_FILE = str(SECRETS / PASSWORD_FILE)
_CONTAINER = ComposeService(
    "cache",
    Image("cache", "valkey/valkey:9.1.2"),
    memory="64m",
    comment="labctl starts it where lab.toml switches it on. By hand: `docker compose --profile"
    " cache up`.",
    comments={"tmpfs": "Instead of the official image's volume, which would stay behind."},
    command=("valkey-server", _FILE, *OPTIONS),
    temporary=("/data",),
    health=Health(("CMD", "bash", "/probes/cache.sh", str(_PORT), _FILE)),
    profiles=("cache",),
)

SERVICE = Service(
    name="cache",
    title="Cache (Valkey)",
    ports={"redis": _PORT},
    native=NativeService(
        artifacts=("valkey",),
        memory_mib=45,
        prepare=lambda context: write_private(
            context.conf / PASSWORD_FILE, password_text(context.passwords)
        ),
        process=_process,
    ),
    probe=_probe,
    endpoint=_endpoint,
    passwords=("cache",),
    container=Container(
        _CONTAINER,
        recipes=(
            Recipe("cache", "local/cache", "valkey", {"BASE": "base"}, artifacts=("valkey",)),
        ),
        secrets=lambda _, passwords: {"cache": {PASSWORD_FILE: password_text(passwords)}},
    ),
    enabled=lambda config: config.cache.enabled,
    ephemeral=True,
    urls=lambda _endpoints, ports: {"redis": f"redis://127.0.0.1:{ports['redis']}"},
)
