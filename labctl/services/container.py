"""The container form of a service, from which the files in `compose/` are written.

`make compose` writes `compose/compose.yaml` and the settings' files beside it (`docs/compose.md`).
Texts are in Compose's own syntax: `${NAME:-default}` is a variable, and `$$` is a dollar sign.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from labctl.config.endpoints import Endpoints
from labctl.config.lab_config import LabConfig

__all__ = [
    "BUCKET",
    "BUILT_SILVER_IMAGE",
    "LAB_FILE",
    "LAB_FOLDER",
    "LAB_NAME",
    "REGION",
    "SECRETS",
    "SILVER_IMAGE",
    "ComposeService",
    "Container",
    "Files",
    "Health",
    "Image",
    "Port",
    "Recipe",
    "answers_http",
    "mounted",
    "port_variable",
    "published",
    "written_file",
]

SECRETS = Path("/run/secrets")
"""Folder of a container in which its secret files are."""
LAB_FOLDER = Path("/lab")
"""Folder of a container into which folders of `compose/` are mounted."""
BUCKET = "${LAB_BUCKET:-tickit-lake}"
REGION = "${LAB_REGION:-us-east-1}"
_WRITTEN = "# Written by `make compose` from the service's record in labctl: change it there."


@dataclass(frozen=True)
class Recipe:
    """A Dockerfile below compose/images, and the other contents of its build context."""

    name: str
    folder: str
    """Folder of the Dockerfile, below compose/images."""
    version: str | None = None
    """The artefact whose version the image carries; None: labctl's own."""
    parents: Mapping[str, str] = field(default_factory=lambda: {"BASE": "jre"})
    """Build arguments that name another recipe's image."""
    artifacts: tuple[str, ...] = ()
    """Artefacts unpacked below `artifacts/` in the context."""
    shared: tuple[str, ...] = ()
    """Other folders of compose/images/local in the context."""
    cached: tuple[str, ...] = ()
    """Artefacts below `cache/` in the context, in the form of labctl's own cache."""
    wheels: bool = False
    """True if the context has the Python packages of requirements.lock below `wheels/`."""
    project: bool = False
    """True if the context is the project itself."""


@dataclass(frozen=True)
class Image:
    """An image and the variables that replace it."""

    name: str
    """Prefix of its variables: the image `kafka` is replaced by `KAFKA_IMAGE`."""
    reference: str
    """The default. `{version}` in it, or in `build`, is the locked version of `artifact`."""
    artifact: str | None = None
    """The artefact whose version it has; None: its tag is its own."""
    build: Mapping[str, object] | None = None
    """Compose's `build`; None for a service that does not build its image."""
    is_built_here: bool = False
    """True if it is never pulled, whoever builds it: someone else may own its name on a hub."""


SILVER_IMAGE = Image(
    "silver",
    "labctl/silver:local",
    build={
        "context": "${LAB_SOURCES:-..}",
        "dockerfile": "compose/images/silver/Dockerfile",
        "args": {"SILVER_BASE": "${SILVER_BASE:-python:3.11-slim-bookworm}"},
    },
    is_built_here=True,
)
"""The image with Python, Spark and labctl."""
BUILT_SILVER_IMAGE = replace(SILVER_IMAGE, build=None)
"""The same image for a service that does not build it."""


def port_variable(service: str, endpoint: str) -> str:
    """Return the name of the variable with the host's port of a service's endpoint."""
    return f"{service}_{endpoint}_PORT".upper()


@dataclass(frozen=True)
class Port:
    """A port that is published on the host's loopback address."""

    variable: str
    """Name of the variable with the host's port."""
    preferred: int
    """The host's port if the variable is not set."""
    inside: int

    @property
    def value(self) -> str:
        """The host's port, as a variable."""
        return f"${{{self.variable}:-{self.preferred}}}"


def published(service: str, endpoint: str, port: int) -> Port:
    """Return the port of a lab's service that is published under its own number."""
    return Port(port_variable(service, endpoint), port, port)


@dataclass(frozen=True)
class Health:
    """A container's health check."""

    test: tuple[str, ...]
    """Compose's `test`: CMD or CMD-SHELL first."""
    timeout_seconds: int = 5


def answers_http(port: int, path: str, *login: str) -> Health:
    """Return the check that `path` answers with status 200; `login` is a file with a login."""
    return Health(("CMD", "bash", "/probes/http.sh", str(port), path, *login))


def mounted(source: str, target: str | Path) -> str:
    """Return the mount of a file or folder that the container only reads."""
    return f"{source}:{target}:ro"


LAB_NAME = "${LAB_NAME:-tickit}"
LAB_FILE = mounted("${LAB_FILE:-../lab.toml}", LAB_FOLDER / "lab.toml")
"""The mount of the lab's file."""


def written_file(text: str, comment: str = "") -> str:
    """Return the text of a file in `compose/` below comments: what writes it, and `comment`."""
    said = f"# {comment}\n" if comment else ""
    return f"{_WRITTEN}\n{said}{text}"


@dataclass(frozen=True)
class ComposeService:
    """A service of the Compose file."""

    name: str
    image: Image
    memory: str
    """Its memory limit, such as `64m`."""
    comment: str = ""
    comments: Mapping[str, str] = field(default_factory=dict)
    """Comments before its keys and variables, by their names."""
    command: tuple[str, ...] = ()
    entrypoint: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    working_dir: str = ""
    data: str = ""
    """Folder of its volume, which has the service's name; empty: it has none."""
    reads_secrets: bool = True
    """True if its secret files are mounted at `SECRETS`."""
    mounts: tuple[str, ...] = ()
    """Its other mounts."""
    temporary: tuple[str, ...] = ()
    """Folders that are in memory."""
    files: Mapping[str, str] = field(default_factory=dict)
    """Texts that are written below `compose/`, by path."""
    ports: tuple[Port, ...] | None = None
    """Ports that are published; None: each endpoint of the lab's service."""
    health: Health | None = None
    depends_on: tuple[str, ...] | None = None
    """Services that must be usable first; None: those of the lab's service."""
    profiles: tuple[str, ...] = ()
    """Compose profiles that it belongs to; empty: it always runs."""
    replicas: str = ""
    """Number of its containers; empty: one."""
    shared_memory: str = ""
    """Size of its `/dev/shm`, such as `128m`; empty: the engine's default."""
    stop_seconds: int | None = None
    """Seconds that it may take to stop; None: as long as the lab's service."""


Files = Mapping[str, str | Callable[[], str]]
"""Texts by file name. A function makes a text only if the file does not exist yet."""


@dataclass(frozen=True)
class Container:
    """The container form of a service: its part of the Compose file, and what varies by lab."""

    service: ComposeService
    beside: tuple[ComposeService, ...] = ()
    """Other services of the Compose file that belong to it alone."""
    without_hub: ComposeService | None = None
    """The container that replaces it where no image can be pulled; None: the same container, with
    the image of its recipes."""
    recipes: tuple[Recipe, ...] = ()
    """Recipe of its image from packages alone, after those of its base images; empty if it has
    none."""
    sidecars: tuple[str, ...] = ()
    """Services of the Compose file that are started with it, in addition to its dependencies."""
    x86_only: bool = False
    """True if its image is for x86-64 only."""
    reads_references: bool = False
    """True if it resolves the references in connector files."""
    secrets: Callable[[Endpoints, Mapping[str, str]], Mapping[str, Files]] | None = None
    """Function that returns the secret files of it and its sidecars, by Compose service.

    None: it reads each of its passwords from a file with the role's name.
    """
    variables: Callable[[Path, LabConfig], Mapping[str, str]] = lambda *_: {}
    """Function that returns its variables for the Compose file; they hold no secret.

    It is called only for a lab that has the service. Ports and image need no variable here.
    """
