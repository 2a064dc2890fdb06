"""The records of Hive's metastore and Spark's Thrift server, and the classes they run."""

from __future__ import annotations

import subprocess
from pathlib import Path
from xml.etree import ElementTree

import pytest
from pydantic import SecretStr

from labctl.artifacts import ArtifactStore
from labctl.config.endpoints import Database
from labctl.config.lab_config import LabConfig, MetastoreSettings, ThriftServerSettings
from labctl.engines.postgres.postgres_service import own_databases
from labctl.errors import LabError
from labctl.hive import jars
from labctl.runtimes.compose.container_secrets import write_service_secrets
from labctl.services import jvm, metastore_service, silver_service, thriftserver_service
from labctl.services.lab_services import services_of
from labctl.services.metastore_service import settings
from labctl.services.service import Service
from labctl.state.sockets import LOOPBACK
from lakecontract.options import Options
from tests.unit.jdk import needs_jdk_17
from tests.unit.service_context import PROJECT, SECRET, context_of

WITHOUT = LabConfig.load(PROJECT / "lab.toml")
METASTORE = WITHOUT.model_copy(update={"metastore": MetastoreSettings(enabled=True)})
BOTH = METASTORE.model_copy(update={"thriftserver": ThriftServerSettings(enabled=True)})
DATABASE = Database(
    host=LOOPBACK, port=5432, user="metastore", password=SecretStr("a<b&c"), database="metastore"
)


class _Store(ArtifactStore):
    """Parts that need not be fetched to be named."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self._folder = folder
        (folder / "hive-metastore" / "apache-hive-metastore-3-bin" / "lib").mkdir(parents=True)

    def path(self, name: str) -> Path:
        return self._folder / name

    def java(self) -> Path:
        return Path("/parts/java/bin/java")


@pytest.fixture
def store(tmp_path: Path) -> ArtifactStore:
    return _Store(tmp_path / "parts")


def test_a_lab_has_them_only_where_they_are_switched_on() -> None:
    names = {
        config: [service.name for service in services_of(lab)]
        for config, lab in (("none", WITHOUT), ("metastore", METASTORE), ("both", BOTH))
    }
    assert {"metastore", "thriftserver"}.isdisjoint(names["none"])
    assert set(names["metastore"]) - set(names["none"]) == {"metastore"}
    assert set(names["both"]) - set(names["metastore"]) == {"thriftserver"}
    assert "metastore" not in own_databases(services_of(WITHOUT))
    assert "metastore" in own_databases(services_of(METASTORE))


def test_the_thrift_server_alone_is_refused(tmp_path: Path) -> None:
    text = (PROJECT / "lab.toml").read_text(encoding="utf-8")
    file = tmp_path / "lab.toml"
    file.write_text(f"{text}\n[thriftserver]\nenabled = true\n", encoding="utf-8")
    with pytest.raises(LabError, match=r"write \[metastore\] with enabled = true, too"):
        LabConfig.load(file)
    file.write_text(f"{file.read_text()}\n[metastore]\nenabled = true\n", encoding="utf-8")
    assert LabConfig.load(file).thriftserver.enabled


@pytest.mark.parametrize(
    "service", [metastore_service.SERVICE, thriftserver_service.SERVICE], ids=lambda s: s.name
)
def test_no_secret_is_in_a_command_line_or_in_the_environment(
    service: Service, store: ArtifactStore, tmp_path: Path
) -> None:
    process = service.native_form.process(context_of(service, BOTH, tmp_path, store))
    shown = [*process.argv, *process.env, *process.env.values()]
    assert not [word for word in shown if "secret-of" in word]


def test_the_metastore_listens_on_loopback_and_there_to_its_own_user_alone(
    store: ArtifactStore, tmp_path: Path
) -> None:
    context = context_of(metastore_service.SERVICE, METASTORE, tmp_path, store)
    argv = metastore_service.process(context).argv
    assert argv[-4:] == ("labctl.Metastore", LOOPBACK, "9083", "same-user")
    inside = metastore_service.process(context, host="0.0.0.0").argv  # noqa: S104 - of a container
    assert inside[-3:] == ("0.0.0.0", "9083", "anyone")  # noqa: S104
    class_path = argv[argv.index("-cp") + 1].split(":")
    assert class_path[:2] == [str(context.conf), str(jars.LAB_JAR)]


def test_the_metastore_has_no_file_system_and_no_key() -> None:
    values = settings(DATABASE, "tickit-lake")
    schemes = {key: value for key, value in values.items() if key.startswith("fs.")}
    assert {"fs.file.impl", "fs.s3a.impl", "fs.s3.impl"} <= set(schemes)
    assert set(schemes.values()) == {"labctl.NoFiles"}
    assert not [value for value in values.values() if SECRET["objectstore"] in value]


def test_settings_survive_the_way_into_the_file() -> None:
    values = settings(DATABASE, "tickit-lake")
    document = ElementTree.fromstring(metastore_service.site_text(values))  # noqa: S314 - our own
    found = {prop.findtext("name"): prop.findtext("value") for prop in document.findall("property")}
    assert found == values
    assert found["javax.jdo.option.ConnectionPassword"] == "a<b&c"


def test_the_thrift_server_listens_on_loopback_and_asks_for_the_labs_password(
    store: ArtifactStore, tmp_path: Path
) -> None:
    context = context_of(thriftserver_service.SERVICE, BOTH, tmp_path, store)
    thriftserver_service.SERVICE.native_form.prepare(context)
    argv = thriftserver_service.process(context).argv
    given = dict(word.split("=", 1) for word in argv if word.startswith("hive."))
    assert given["hive.server2.thrift.bind.host"] == LOOPBACK
    assert given["hive.server2.thrift.port"] == "10000"
    assert given["hive.server2.authentication"] == "CUSTOM"
    assert given["hive.server2.custom.authentication.class"] == "labctl.PasswordFile"
    file = context.conf / "password"
    assert file.read_text(encoding="utf-8") == "secret-of-thriftserver"
    properties = (context.conf / "spark.properties").read_text(encoding="utf-8")
    assert f'-Dlabctl.thriftserver.password-file="{file}"' in properties
    assert "spark.hadoop.hive.metastore.uris thrift://127.0.0.1:9083" in properties
    assert "secret-of-kafka" not in properties
    for path in (file, context.conf / "spark.properties"):
        assert path.stat().st_mode & 0o777 == 0o600


def test_the_application_is_told_of_the_metastore_where_there_is_one(
    store: ArtifactStore, tmp_path: Path
) -> None:
    told = silver_service.options(context_of(silver_service.SERVICE, METASTORE, tmp_path, store))
    assert told.catalog == "thrift://127.0.0.1:9083"
    assert Options.parse(told.argv()) == told
    untold = silver_service.options(context_of(silver_service.SERVICE, WITHOUT, tmp_path, store))
    assert untold.catalog is None


def test_containers_have_their_own_passwords_and_no_others(tmp_path: Path) -> None:
    write_service_secrets(tmp_path, BOTH, SECRET)
    found = {
        name: sorted(file.name for file in (tmp_path / name).iterdir())
        for name in ("metastore", "thriftserver")
    }
    assert found == {"metastore": ["metastore"], "thriftserver": ["objectstore", "thriftserver"]}


def test_the_metastore_logs_as_the_other_java_services() -> None:
    lines = jars.LOG4J2.read_text(encoding="utf-8").splitlines()
    pairs = (line.split("=", 1) for line in lines if line and not line.startswith("#"))
    found = {key.strip(): value.strip() for key, value in pairs}
    assert jvm.LOG4J.items() <= found.items()


@needs_jdk_17
def test_the_jar_is_made_of_the_sources_beside_it(tmp_path: Path) -> None:
    try:
        class_path = jars.build_classpath(ArtifactStore())
    except LabError:
        pytest.skip("Hive's metastore is not in the cache")
    made = tmp_path / "made.jar"
    build = jars.LAB_JAR.with_name("build")
    subprocess.run([str(build), class_path, str(made)], check=True)
    assert made.read_bytes() == jars.LAB_JAR.read_bytes()
