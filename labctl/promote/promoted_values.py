"""Every value that a profile gives the lab's parts, and each value's source."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from labctl.artifacts import ArtifactStore
from labctl.artifacts.lock import load_lock
from labctl.config.endpoints import Endpoints
from labctl.config.lab_config import LabConfig
from labctl.errors import ExitCode, LabError
from labctl.kafkaconnect.connector_files import connector_files
from labctl.promote.connector_secrets import GENERATED, known_values
from labctl.promote.emr import release_of
from labctl.promote.emr_application import application_arguments, spark_conf
from labctl.promote.hudi_overrides import hudi_version, overrides
from labctl.promote.msk_connectors import worker_properties
from labctl.promote.outputs import Output
from labctl.promote.promotion import Promotion, load_promotion
from labctl.runtimes.compose.container_addresses import network_endpoints
from labctl.runtimes.compose.docker_engine import COMPOSE_FOLDER
from labctl.runtimes.compose.silver_container import ANY_ADDRESS, silver_context
from labctl.services import connect_service, silver_service
from labctl.services.connect_service import WORKER_FILE, worker_settings
from labctl.services.lab_services import PASSWORDS, services_of
from labctl.services.local_endpoints import loopback_endpoints
from labctl.services.reference_files import reference_values
from labctl.services.service import Context, Service
from labctl.shipped import own_or_shipped
from labctl.state.lab_secrets import SECRET_PREFIX
from labctl.state.sockets import LOOPBACK
from labctl.tables import CONNECTORS, lab_tables
from lakecontract.properties import read_properties

__all__ = ["Setting", "Settings", "profile_values", "read_values", "render_values"]

SECRET = "(secret)"  # noqa: S105 - what is shown instead of one
_HIDDEN = dict.fromkeys(PASSWORDS, SECRET)
_STATE = "(state)"
_SILVER = "labctl/services/silver_service.py"


@dataclass(frozen=True)
class Setting:
    value: str
    source: str
    """The file that sets the value, followed by the key if it differs from the setting's."""


Settings = dict[str, Setting]
"""Settings by name: the part and its key, joined by ` / `."""


def profile_values(project: Path, config: LabConfig, profile: str) -> Settings:
    """Return the settings of `profile`. Raises LabError (USAGE) if it does not exist."""
    if profile not in config.profiles:
        raise LabError(
            f"There is no profile {profile!r} in {project / 'lab.toml'}",
            hint=f"defined: {', '.join(sorted(config.profiles))}",
            exit_code=ExitCode.USAGE,
        )
    runtime = config.profiles[profile].runtime
    own = _RUNTIMES[runtime](project, config, profile)
    found = dict(_shared(project, config))
    found.update(own)
    return {name: found[name] for name in sorted(found)}


def render_values(settings: Settings) -> bytes:
    """Return the settings as JSON for a plan's folder, for a later comparison."""
    plain = {name: [setting.value, setting.source] for name, setting in settings.items()}
    return (json.dumps(plain, indent=2, ensure_ascii=False) + "\n").encode()


def read_values(path: Path) -> Settings:
    """Read the output of `render_values`. Raises LabError (USAGE) if the folder lacks it."""
    try:
        plain = json.loads(path.read_text(encoding="utf-8"))
        return {name: Setting(*pair) for name, pair in plain.items()}
    except (OSError, ValueError, TypeError, AttributeError):
        raise LabError(
            f"{path.parent} holds no plan that can be compared",
            hint="`labctl promote plan` makes one",
            exit_code=ExitCode.USAGE,
        ) from None


def _shared(project: Path, config: LabConfig) -> Iterator[tuple[str, Setting]]:
    """Yield the settings that all runtimes share: the project's files, unchanged."""
    for file in connector_files(project / CONNECTORS):
        path = f"{CONNECTORS}/{file.path.name}"
        yield from _part(f"connector {file.name}", file.config, path)
    yield from _part("worker", read_properties(own_or_shipped(project, WORKER_FILE)), WORKER_FILE)
    for table in lab_tables(project, config):
        source = table.properties.file.relative_to(project).as_posix()
        yield from _part(f"hudi {table.name}", table.properties.hoodie, source)


def _part(
    part: str, values: Mapping[str, str], source: str | Callable[[str], str]
) -> Iterator[tuple[str, Setting]]:
    for key, value in values.items():
        yield f"{part} / {key}", Setting(value, source if isinstance(source, str) else source(key))


def _native(project: Path, config: LabConfig, profile: str) -> Iterable[tuple[str, Setting]]:
    """Return the settings of a lab on this machine with its preferred ports.

    `labctl status` shows the actual ports.
    """
    del profile
    ports = {s.name: {**s.ports, **config.settings(s.name).ports} for s in services_of(config)}
    endpoints = loopback_endpoints(config, ports, _HIDDEN)
    folder = Path(_STATE)

    def context(service: Service) -> Context:
        return Context(
            service=service,
            lab=config.name,
            project=project,
            config=config,
            data=Path("/", folder, "data", service.name),
            conf=folder / "conf" / service.name,
            temp=folder / "tmp" / service.name,
            secrets=folder / "secrets",
            ports=ports[service.name],
            passwords=_HIDDEN,
            endpoints=endpoints,
            artifacts=ArtifactStore(),
            build=lambda: "",
        )

    worker = worker_settings(context(connect_service.SERVICE))
    yield from _part("worker", worker, "labctl/services/connect_service.py")
    yield from _lab_here(project, endpoints, context(silver_service.SERVICE))


def _compose(project: Path, config: LabConfig, profile: str) -> Iterable[tuple[str, Setting]]:
    """Return the settings of a lab in containers, as its services see them."""
    del profile
    endpoints = network_endpoints(config, _HIDDEN)
    path = COMPOSE_FOLDER / "connect" / "worker.properties"
    yield from _part("worker", read_properties(path), "compose/connect/worker.properties")
    context = silver_context(config, config.name, endpoints, _HIDDEN)
    yield from _lab_here(project, endpoints, context, status_host=ANY_ADDRESS)


def _lab_here(
    project: Path, endpoints: Endpoints, context: Context, *, status_host: str = LOOPBACK
) -> Iterable[tuple[str, Setting]]:
    """Yield the settings that local runtimes share. `context` is the Spark application's."""
    source = context.config.silver.source
    for name, values in reference_values(endpoints, _HIDDEN, source).items():
        yield from _part(
            f"reference {SECRET_PREFIX}/{name}",
            _hidden(values),
            "labctl/services/reference_files.py",
        )
    shared = own_or_shipped(project, silver_service.SPARK_DEFAULTS)
    yield from _part("spark conf", _pairs(shared), "spark/spark-defaults.conf")
    yield from _part("spark conf", _hidden(silver_service.spark_settings(context)), _SILVER)
    argv = silver_service.options(replace(context, project=project), status_host=status_host).argv()
    yield from _part("spark argument", _arguments(argv), _SILVER)
    artifacts = load_lock().artifacts
    lock = "labctl/artifacts/lock.json"
    hudi = next(
        file.version
        for file in artifacts["spark-packages"].files  # type: ignore[union-attr]
        if file.name.startswith("org.apache.hudi:")
    )
    versions = {
        "kafka": artifacts["kafka"].version,
        "kafka connect": artifacts["kafka"].version,
        "spark": ".".join(artifacts["spark-packages"].version.split(".")[:2]),
        "hudi": hudi,
    }
    yield from _part("version", versions, lock)


def _aws(project: Path, config: LabConfig, profile: str) -> Iterable[tuple[str, Setting]]:
    promotion = load_promotion(project, config, profile)
    key = promotion.key

    def toml(name: str) -> str:
        return f"lab.toml: {key(name)}"

    for connector in promotion.connectors:
        own = {
            name: value
            for name, value in worker_properties(promotion, connector).items()
            if name not in promotion.worker
        }
        offsets = own.pop("offset.storage.topic")
        yield f"worker of {connector.name} / offset.storage.topic", Setting(offsets, toml("prefix"))
        yield from _part("worker", own, toml("connect.provider"))
    for name, values in known_values(promotion).items():
        plain = {k: _shown(v) for k, v in values.items()}
        yield from _part(f"reference {name}", plain, _reference_source(promotion, name))
    shared = own_or_shipped(project, silver_service.SPARK_DEFAULTS)
    yield from _part("spark conf", _pairs(shared), "spark/spark-defaults.conf")
    conf = {k: v for k, v in spark_conf(promotion).items() if _pairs(shared).get(k) != v}
    yield from _part("spark conf", conf, toml("emr"))
    arguments = [_shown(argument) for argument in application_arguments(promotion)]
    yield from _part(
        "spark argument",
        {k: v for k, v in _arguments(arguments).items() if not k.startswith("--hoodie-conf")},
        toml("lake"),
    )
    yield from _part("hudi, every table", overrides(promotion), toml("glue"))
    limits = promotion.profile.athena.model_dump()
    workgroup = {"workgroup": promotion.profile.workgroup, "results": promotion.profile.results}
    yield from _part("athena", workgroup | {k: str(v) for k, v in limits.items()}, toml("athena"))
    yield from _part("guard", _guards(promotion), toml)
    yield from _versions(promotion, toml)


def _guards(promotion: Promotion) -> dict[str, str]:
    """Return the settings that protect data and connections, by profile key."""
    profile = promotion.profile
    guards: dict[str, object] = {
        f"rds.{engine}.deletion_protection": database.deletion_protection
        for engine, database in promotion.rds.items()
        if database.create
    }
    if profile.lake.create:
        guards["lake.version_days"] = profile.lake.version_days
    if promotion.config.api.enabled:
        guards["api.certificate"] = profile.api.certificate or "(none)"
        guards["api.plain_http"] = profile.api.plain_http
    return {key: str(value).lower() for key, value in guards.items()}


def _versions(promotion: Promotion, toml: Callable[[str], str]) -> Iterator[tuple[str, Setting]]:
    profile = promotion.profile
    release = release_of(profile.emr.release)
    kafka = "serverless" if profile.msk.kind == "serverless" else profile.msk.kafka_version
    yield "version / kafka", Setting(kafka, toml("msk.kafka_version"))
    yield "version / kafka connect", Setting(profile.connect.version, toml("connect.version"))
    yield "version / spark", Setting(release.spark if release else "?", toml("emr.release"))
    hudi = ".".join(map(str, hudi_version(promotion))) or "?"
    yield "version / hudi", Setting(hudi, toml("emr.hudi"))


def _reference_source(promotion: Promotion, name: str) -> Callable[[str], str]:
    sections = {"demo/kafka": "msk", "demo/registry": "registry.url", "demo/objectstore": "lake"}

    def source(_key: str) -> str:
        return f"lab.toml: {promotion.key(sections.get(name, 'rds'))}"

    return source


def _shown(value: str | Output) -> str:
    if isinstance(value, Output):
        return f"({value}, once it is there)"
    return SECRET if value == GENERATED else value


def _hidden(values: Mapping[str, str]) -> dict[str, str]:
    """Return `values` with access keys, secret keys and passwords hidden.

    In the native lab the access key is a fixed user name, which `_HIDDEN` does not replace.
    """
    secret = ("access.key", "secret.key", "password")
    return {k: SECRET if k.endswith(secret) and v else v for k, v in values.items()}


def _pairs(path: Path) -> dict[str, str]:
    lines = path.read_text(encoding="utf-8").splitlines()
    pairs = (line.split(None, 1) for line in lines if line.strip() and not line.startswith("#"))
    return {key: value.strip() for key, value in pairs}


def _arguments(argv: list[str]) -> dict[str, str]:
    """Return the arguments by key, from `--key=value` and `--key value` alike."""
    found: dict[str, str] = {}
    rest = iter(argv)
    for argument in rest:
        key, equals, value = argument.partition("=")
        if key == "--hoodie-conf":
            key, _, value = value.partition("=")
            key = f"--hoodie-conf {key}"
        found[key] = value if equals else next(rest)
    return found


_RUNTIMES: dict[str, Callable[[Path, LabConfig, str], Iterable[tuple[str, Setting]]]] = {
    "native": _native,
    "compose": _compose,
    "aws": _aws,
}
