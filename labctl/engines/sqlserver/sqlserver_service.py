"""SQL Server's stand-in: a source whose data is in the lab's PostgreSQL.

SQL Server itself is not available as an ordinary package. Compose runs SQL Server's own image.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path

from labctl.config.endpoints import Database, Endpoints, client_url
from labctl.engines.postgres.postgres_service import STAND_IN_DATABASE
from labctl.engines.sqlserver import ADMIN
from labctl.services.container import (
    BUILT_SILVER_IMAGE,
    ComposeService,
    Container,
    Files,
    Health,
    Image,
)
from labctl.services.service import Context, NativeService, Process, Service
from labctl.services.state_database import STATE_SERVICE, state_server
from labctl.state.lab_state import write_private

__all__ = [
    "ADMIN",
    "SERVICE",
    "self_signed_certificate",
    "serve_argv",
    "store_dsn",
]

LOOPBACK = "127.0.0.1"
CERTIFICATE_DAYS = 3650


def _prepare(context: Context) -> None:
    from labctl.engines.postgres.postgres_client import ensure_database

    postgres = state_server(context.endpoints)
    ensure_database(postgres, STAND_IN_DATABASE)
    write_private(context.conf / "dsn", store_dsn(postgres))
    write_private(context.conf / "password", context.passwords["sqlserver"])
    certificate = context.conf / "server.pem"
    if not certificate.is_file():
        write_private(certificate, self_signed_certificate())


def store_dsn(postgres: Database) -> str:
    """Return the DSN with which the stand-in connects to its database. It holds a password."""
    return (
        f"host={postgres.host} port={postgres.port} dbname={STAND_IN_DATABASE} "
        f"user={postgres.user} password={postgres.password.get_secret_value()}"
    )


def self_signed_certificate() -> str:
    """Return a new key and a certificate for this machine, as PEM."""
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "localhost")])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=CERTIFICATE_DAYS))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), critical=False)
        .sign(key, hashes.SHA256())
    )
    secret = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    return (secret + certificate.public_bytes(serialization.Encoding.PEM)).decode()


def _process(context: Context) -> Process:
    argv = serve_argv(
        dsn=context.conf / "dsn",
        password=context.conf / "password",
        certificate=context.conf / "server.pem",
        port=context.ports["tds"],
    )
    return Process(argv=tuple(argv), cwd=context.conf)


def serve_argv(
    *, dsn: Path, password: Path, certificate: Path, port: int, host: str = LOOPBACK
) -> list[str]:
    """Return the stand-in's command line. Each file holds what the parameter's name says."""
    return [
        *(sys.executable, "-m", "labctl", "tools", "sqlserver", "serve"),
        *("--dsn-file", str(dsn), "--password-file", str(password)),
        *("--tls-cert", str(certificate), "--user", ADMIN),
        *("--host", host, "--port", str(port)),
        *(() if host == LOOPBACK else ("--in-container",)),
    ]


def _setup(context: Context) -> None:
    from labctl.engines.sqlserver.sqlserver_client import ensure_database

    for source in context.config.sources_of("sqlserver").values():
        assert source.database is not None  # noqa: S101 - lab.toml must name it
        ensure_database(_endpoint(context), source.database)


def _endpoint(context: Context) -> Database:
    return context.endpoints.servers[SERVICE.name]


def _probe(context: Context) -> str:
    import pymssql

    endpoint = _endpoint(context)
    with pymssql.connect(
        server=endpoint.host,
        port=str(endpoint.port),
        user=endpoint.user,
        password=endpoint.password.get_secret_value(),
        login_timeout=3,
        timeout=10,
    ) as connection:
        cursor = connection.cursor()
        cursor.execute("SELECT SERVERPROPERTY('ProductVersion')")
        row = cursor.fetchone()
    version = row[0] if row else "?"
    return f"stand-in for SQL Server {version!s}"


def _secrets(endpoints: Endpoints, passwords: Mapping[str, str]) -> dict[str, Files]:
    """Return the password for SQL Server's own image, and the files for the stand-in's image."""
    return {
        "sqlserver": {
            "sqlserver": passwords["sqlserver"],
            "dsn": store_dsn(state_server(endpoints)),
            "server.pem": self_signed_certificate,
        }
    }


_CONTAINER = ComposeService(
    "sqlserver",
    Image(
        "sqlserver",
        "mcr.microsoft.com/mssql/server:2022-CU26-ubuntu-22.04"
        "@sha256:ba4c8329f48fb8f02e1416be6a930ebfd71268caee78aa985f3af4315e457c89",
    ),
    memory="2048m",
    comment="Developer edition; starting it accepts Microsoft's licence. There is no image for"
    " arm64, and none can be built: compose/stand-in.yaml puts the lab's own stand-in here.",
    comments={
        "MSSQL_MEMORY_LIMIT_MB": "It refuses to start on less than 2,000 MB; what it keeps"
        " for data is limited below that.",
    },
    command=(
        "bash",
        "-c",
        'export MSSQL_SA_PASSWORD="$$(cat /run/secrets/sqlserver)" && exec /opt/mssql/bin/sqlservr',
    ),
    environment={
        "ACCEPT_EULA": "${ACCEPT_EULA:-Y}",
        "MSSQL_PID": "${MSSQL_PID:-Developer}",
        "MSSQL_AGENT_ENABLED": "true",
        "MSSQL_MEMORY_LIMIT_MB": "1536",
        "TZ": "UTC",
    },
    data="/var/opt/mssql",
    health=Health(
        (
            "CMD-SHELL",
            "SQLCMDPASSWORD=$$(cat /run/secrets/sqlserver) /opt/mssql-tools18/bin/sqlcmd"
            f" -C -b -S 127.0.0.1 -U {ADMIN} -Q 'SELECT 1'",
        ),
        timeout_seconds=10,
    ),
    depends_on=(),
    stop_seconds=30,
)
_STAND_IN = ComposeService(
    "sqlserver",
    BUILT_SILVER_IMAGE,
    memory="384m",
    comment="The lab's own stand-in, which is not SQL Server: docs/sqlserver-stand-in.md says what"
    " it can do. Microsoft's image has no build for arm64, either.",
    command=("python", "-m", "labctl.runtimes.compose.stand_in_container"),
    health=Health(
        (
            "CMD",
            "python",
            "-c",
            "import pathlib, pymssql;"
            ' password = pathlib.Path("/run/secrets/sqlserver").read_text();'
            f' pymssql.connect("127.0.0.1", "{ADMIN}", password, login_timeout=3)'
            '.cursor().execute("SELECT 1")',
        )
    ),
    reads_secrets=False,
)

SERVICE = Service(
    name="sqlserver",
    title="SQL Server stand-in",
    ports={"tds": 1433},
    native=NativeService(artifacts=(), memory_mib=70, prepare=_prepare, process=_process),
    probe=_probe,
    endpoint=lambda site: site.server("sqlserver", "tds", ADMIN, "sqlserver", without="master"),
    passwords=("sqlserver",),
    container=Container(_CONTAINER, without_hub=_STAND_IN, secrets=_secrets, x86_only=True),
    setup=_setup,
    enabled=lambda config: bool(config.sources_of("sqlserver")),
    depends_on=(STATE_SERVICE,),
    urls=lambda endpoints, ports: {
        "tds": client_url("sqlserver", endpoints.client_of("sqlserver"), ports["tds"])
    },
)
