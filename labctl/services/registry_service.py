"""Apicurio Registry, with its state in the lab's PostgreSQL.

Its in-memory store would lose the schema ids to which records in Kafka refer in a crash.
"""

from __future__ import annotations

from labctl.config.endpoints import Registry
from labctl.services.container import (
    LAB_FOLDER,
    ComposeService,
    Container,
    Image,
    Port,
    Recipe,
    answers_http,
    mounted,
    published,
)
from labctl.services.jvm import container_flags, java
from labctl.services.service import Context, NativeService, Process, Service, Suspension
from labctl.services.state_database import STATE_SERVICE, state_server
from labctl.state.lab_secrets import properties_text

__all__ = ["ENVIRONMENT", "SERVICE"]

_PORT, _HEAP = 8080, "192m"
_SEARCH = "/apis/registry/v2/search/artifacts"
"""Path that only a usable registry answers."""
ENVIRONMENT = {
    "QUARKUS_BANNER_ENABLED": "false",
    "APICURIO_STORAGE_KIND": "sql",
    "APICURIO_STORAGE_SQL_KIND": "postgresql",
    "APICURIO_DATASOURCE_USERNAME": "registry",
    # For an id from Confluent's clients, return the schema of that global id (docs/topics.md), not
    # of that content id: the converters write global ids, and all readers here expect them.
    "APICURIO_CCOMPAT_LEGACY_ID_MODE_ENABLED": "true",
    "APICURIO_DATASOURCE_JDBC_INITIAL_SIZE": "1",
    "APICURIO_DATASOURCE_JDBC_MIN_SIZE": "1",
    "APICURIO_DATASOURCE_JDBC_MAX_SIZE": "8",
    # Otherwise a connection that PostgreSQL closed at a restart fails a request hours later.
    "QUARKUS_DATASOURCE_POSTGRESQL_JDBC_VALIDATE_ON_BORROW": "true",
}
"""Environment that is the same in every runtime, without addresses and the password."""


def _process(context: Context) -> Process:
    server = state_server(context.endpoints)
    folder = context.artifacts.path("apicurio-registry")
    jar = next(folder.rglob("apicurio-registry-app-*-runner.jar"))
    return Process(
        argv=(*java(context), "-jar", str(jar)),
        env={
            "QUARKUS_HTTP_HOST": "127.0.0.1",
            "QUARKUS_HTTP_PORT": str(context.ports["http"]),
            **ENVIRONMENT,
            "APICURIO_DATASOURCE_URL": (
                f"jdbc:postgresql://{server.host}:{server.port}/{SERVICE.name}"
            ),
            "APICURIO_DATASOURCE_PASSWORD": context.passwords["registry"],
        },
        cwd=context.conf,
    )


def _probe(context: Context) -> str:
    import requests

    url = context.endpoints.registry.url
    requests.get(f"{url}{_SEARCH}", params={"limit": "1"}, timeout=3).raise_for_status()
    info = requests.get(f"{url}/apis/registry/v3/system/info", timeout=3)
    info.raise_for_status()
    return f"Apicurio Registry {info.json()['version']}"


_UI_PORT = Port("REGISTRY_UI_PORT", 8888, 8080)
_HTTP_PORT = published("registry", "http", _PORT)
_CONTAINER = ComposeService(
    "registry",
    Image("registry", "apicurio/apicurio-registry:{version}", artifact="apicurio-registry"),
    memory="320m",
    comments={
        "QUARKUS_HTTP_ACCESS_LOG_ENABLED": "The health check would fill it.",
        "QUARKUS_HTTP_CORS_ORIGINS": "The UI's pages call it from the browser.",
        "SMALLRYE_CONFIG_LOCATIONS": "The password.",
    },
    entrypoint=("bash", f"{LAB_FOLDER}/registry/start.sh"),
    environment={
        "JAVA_HEAP": f"-Xmx{_HEAP}",
        "JAVA_FLAGS": container_flags(),
        "QUARKUS_HTTP_HOST": "0.0.0.0",  # noqa: S104 - of the container
        "QUARKUS_HTTP_PORT": str(_PORT),
        "QUARKUS_HTTP_ACCESS_LOG_ENABLED": "false",
        "QUARKUS_HTTP_CORS_ORIGINS": ",".join(
            f"http://{host}:{_UI_PORT.value}" for host in ("127.0.0.1", "localhost")
        ),
        **ENVIRONMENT,
        "APICURIO_DATASOURCE_URL": f"jdbc:postgresql://{STATE_SERVICE}:5432/registry",
        "SMALLRYE_CONFIG_LOCATIONS": "/run/secrets/application.properties",
    },
    mounts=(mounted("./registry", LAB_FOLDER / "registry"),),
    ports=(_HTTP_PORT,),
    health=answers_http(_PORT, f"{_SEARCH}?limit=1"),
)
_USER_INTERFACE = ComposeService(
    "registry-ui",
    Image("registry_ui", "apicurio/apicurio-registry-ui:{version}", artifact="apicurio-registry"),
    memory="64m",
    environment={"REGISTRY_API_URL": f"http://127.0.0.1:{_HTTP_PORT.value}/apis/registry/v3"},
    reads_secrets=False,
    ports=(_UI_PORT,),
    depends_on=("registry",),
)

SERVICE = Service(
    name="registry",
    title="Apicurio Registry",
    ports={"http": _PORT},
    native=NativeService(
        artifacts=("jre", "apicurio-registry"),
        memory_mib=230,
        prepare=lambda context: context.conf.mkdir(parents=True, exist_ok=True, mode=0o700),
        process=_process,
    ),
    probe=_probe,
    endpoint=lambda site: Registry(url=f"http://{site.address('registry', 'http')}"),
    passwords=("registry",),
    own_database=True,
    heap=_HEAP,
    container=Container(
        _CONTAINER,
        beside=(_USER_INTERFACE,),
        recipes=(
            Recipe(
                "registry",
                "local/registry",
                "apicurio-registry",
                artifacts=("apicurio-registry",),
            ),
        ),
        sidecars=(_USER_INTERFACE.name,),
        secrets=lambda _, passwords: {
            "registry": {
                "application.properties": properties_text(
                    {"apicurio.datasource.password": passwords["registry"]}
                )
            }
        },
    ),
    depends_on=(STATE_SERVICE,),
    # It keeps no data itself, and checks each connection to PostgreSQL before it uses it, so that
    # the data there may be replaced while it runs.
    suspension=Suspension(suspend=lambda _: None, resume=lambda _: None),
    urls=lambda endpoints, _ports: {"api": f"{endpoints.registry.url}/apis/registry/v3"},
)
