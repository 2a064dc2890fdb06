"""A PostgreSQL and a stand-in of their own for these tests, and the clients that talk to it."""

from __future__ import annotations

import contextlib
import ctypes
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from labctl.artifacts import ArtifactStore
from labctl.config.services import ServiceSettings
from labctl.engines.postgres.postgres_service import SERVICE, unprivileged_prefix, unprivileged_user
from labctl.runtimes.native.native_limits import data_limit_mib
from tests.ports import free_port

PASSWORD = "Str0ng_for_tests"  # noqa: S105 - of a server that lives as long as the tests
_START_SECONDS = 120.0


def eventually(check: Callable[[], bool], what: str, seconds: float = _START_SECONDS) -> None:
    """Wait until `check` holds."""
    deadline = time.monotonic() + seconds
    while not check():
        assert time.monotonic() < deadline, f"not within {seconds} s: {what}"
        time.sleep(0.05)


def postgres_binaries() -> Path:
    """The folder of the lab's own PostgreSQL programs, fetched when they are not there."""
    store = ArtifactStore()
    store.fetch(["postgres"])
    return store.postgres_bin()


@dataclass
class Postgres:
    """A PostgreSQL server of the tests."""

    binaries: Path
    data: Path
    port: int
    process: subprocess.Popen[bytes] | None = None

    def dsn(self, database: str = "postgres") -> str:
        return f"host=127.0.0.1 port={self.port} user=postgres dbname={database}"

    def create(self) -> None:
        self.data.mkdir()
        if user := unprivileged_user():
            os.chown(self.data, user.pw_uid, user.pw_gid)
        self.data.chmod(0o700)
        initdb = [self.binaries / "initdb", "-D", self.data, "-U", "postgres", "-A", "trust"]
        options = ["-E", "UTF8", "--locale=C", "--no-sync"]
        subprocess.run(
            [*unprivileged_prefix(), *map(str, initdb), *options], check=True, capture_output=True
        )

    def start(self) -> None:
        settings = {
            "port": self.port, "listen_addresses": "127.0.0.1", "unix_socket_directories": "",
            "max_connections": 300, "fsync": "off", "logging_collector": "off",
        }  # fmt: skip
        flags = [part for key, value in settings.items() for part in ("-c", f"{key}={value}")]
        postgres = [str(self.binaries / "postgres"), "-D", str(self.data)]
        # As a lab's has it.
        most = data_limit_mib(SERVICE, ServiceSettings()) * 1024**2
        limit = ["prlimit", f"--data={most}", "--"]
        command = [*limit, *unprivileged_prefix(), *postgres, *flags]
        log = self.data.parent / "postgres.log"

        def ready() -> bool:
            # after a kill it may end at once: its own children have its shared memory still
            if self.process is None or self.process.poll() is not None:
                with log.open("ab") as out:
                    self.process = subprocess.Popen(command, stdout=out, stderr=out)
            return self._answers()

        try:
            eventually(ready, "PostgreSQL accepts connections")
        except AssertionError as error:
            error.add_note("\n".join(log.read_text().splitlines()[-10:]))
            raise

    def _answers(self) -> bool:
        import psycopg

        with contextlib.suppress(psycopg.OperationalError), psycopg.connect(self.dsn()):
            return True
        return False

    def sql(self, text: str, database: str = "postgres") -> list[tuple[Any, ...]]:
        """Run SQL as a client of PostgreSQL."""
        import psycopg

        with psycopg.connect(self.dsn(database), autocommit=True) as connection:
            cursor = connection.execute(text)
            return cursor.fetchall() if cursor.description else []

    def stop(self, number: int = signal.SIGINT) -> None:
        if self.process is not None:
            self.process.send_signal(number)
            self.process.wait(20)
            self.process = None


@dataclass
class StandIn:
    """A running stand-in."""

    postgres: Postgres
    database: str
    folder: Path
    options: list[str] = field(default_factory=list)
    port: int = 0
    process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        if not self.port:
            self.port = free_port()
        password, ready = self.folder / "password", self.folder / "port"
        password.write_text(PASSWORD)
        password.chmod(0o600)
        ready.unlink(missing_ok=True)
        command = [
            sys.executable, "-m", "labctl", "tools", "sqlserver", "serve",
            "--dsn", self.postgres.dsn(self.database), "--port", str(self.port),
            "--password-file", str(password), "--port-file", str(ready), *self.options,
        ]  # fmt: skip
        with (self.folder / "server.log").open("ab") as log:
            self.process = subprocess.Popen(command, stdout=log, stderr=log)
        eventually(ready.exists, f"the stand-in is ready: {self.log()}")

    def log(self) -> str:
        path = self.folder / "server.log"
        return path.read_text() if path.exists() else ""

    def stop(self, number: int = signal.SIGTERM) -> None:
        if self.process is not None:
            self.process.send_signal(number)
            self.process.wait(20)
            self.process = None

    def connect(self, database: str = "master", **options: Any) -> Any:
        """A pymssql connection."""
        import pymssql

        given: dict[str, Any] = {"autocommit": True, "login_timeout": 10, "timeout": 30}
        return pymssql.connect(
            server="127.0.0.1", port=str(self.port), user="sa", database=database,
            **{"password": PASSWORD, **given, **options},
        )  # fmt: skip


@pytest.fixture(scope="session")
def postgres(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Postgres]:
    """PostgreSQL for the whole test run."""
    binaries = postgres_binaries()
    folder = Path(tmp_path_factory.mktemp("postgres"))
    for parent in (folder, *folder.parents):
        mode = parent.stat().st_mode
        if parent.stat().st_uid == os.geteuid() and mode & 0o111 != 0o111:
            parent.chmod(parent.stat().st_mode | 0o111)
    server = Postgres(binaries, folder / "data", free_port())
    server.create()
    server.start()
    yield server
    server.stop()


@pytest.fixture(scope="session")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A self-signed certificate with its key, in one file."""
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import rsa

    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "localhost")])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .sign(key, hashes.SHA256())
    )
    path = tmp_path_factory.mktemp("tls") / "server.pem"
    form = serialization.PrivateFormat.PKCS8
    secret = key.private_bytes(serialization.Encoding.PEM, form, serialization.NoEncryption())
    path.write_bytes(secret + made.public_bytes(serialization.Encoding.PEM))
    return Path(path)


@pytest.fixture(scope="session")
def standin(
    postgres: Postgres, certificate: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[StandIn]:
    """The stand-in most tests share."""
    postgres.sql("CREATE DATABASE standin")
    folder = Path(tmp_path_factory.mktemp("standin"))
    server = StandIn(postgres, "standin", folder, ["--tls-cert", str(certificate)])
    server.start()
    yield server
    server.stop()


class Sql:
    """A pymssql connection with short forms for tests."""

    def __init__(self, connection: Any) -> None:
        self.connection = connection

    def sets(self, text: str, *values: Any) -> list[list[tuple[Any, ...]]]:
        """Run a batch; every result set's rows."""
        cursor = self.connection.cursor()
        cursor.execute(text, values or None)
        found = []
        while True:
            if cursor.description is not None:
                found.append(cursor.fetchall())
            if not cursor.nextset():
                return found

    def __call__(self, text: str, *values: Any) -> list[tuple[Any, ...]]:
        """Run a batch; the last result set's rows."""
        found = self.sets(text, *values)
        return found[-1] if found else []

    def error(self, text: str) -> int:
        """Run a batch that must fail; the error's number."""
        import pymssql

        with pytest.raises(pymssql.Error) as caught:
            self.sets(text)
        number: int = caught.value.args[0]
        return number


@pytest.fixture
def sql(standin: StandIn) -> Iterator[Sql]:
    """A connection to a database of this test alone."""
    name = f"test_{time.time_ns()}"
    connection = standin.connect()
    run = Sql(connection)
    run(f"CREATE DATABASE {name}")
    run(f"USE {name}")
    yield run
    with contextlib.suppress(Exception):
        run("IF @@TRANCOUNT > 0 ROLLBACK")
        run("USE master")
        run(f"DROP DATABASE {name}")
    connection.close()


@pytest.fixture(scope="session")
def odbc_driver(tmp_path_factory: pytest.TempPathFactory) -> str:
    """FreeTDS's ODBC driver, installed or unpacked from Debian's packages into a folder."""
    installed = Path("/usr/lib/x86_64-linux-gnu/odbc/libtdsodbc.so")
    if installed.exists():
        return str(installed)
    if shutil.which("apt-get") is None or shutil.which("dpkg-deb") is None:
        pytest.skip("FreeTDS's ODBC driver is neither installed nor available with apt-get")
    folder = tmp_path_factory.mktemp("odbc")
    packages = ["tdsodbc", "libodbc2", "libodbcinst2", "libltdl7", "freetds-common"]
    got = subprocess.run(
        ["apt-get", "download", *packages], cwd=folder, capture_output=True, check=False
    )
    if got.returncode:
        pytest.skip(f"FreeTDS's ODBC driver cannot be fetched: {got.stderr.decode()[-200:]}")
    for package in folder.glob("*.deb"):
        subprocess.run(["dpkg-deb", "-x", package, folder / "tree"], check=True)
    libraries = folder / "tree/usr/lib/x86_64-linux-gnu"
    for name in ("libltdl.so.7", "libodbcinst.so.2", "libodbc.so.2"):
        ctypes.CDLL(str(libraries / name), mode=ctypes.RTLD_GLOBAL)
    return str(libraries / "odbc/libtdsodbc.so")
