"""A folder of older files goes into a project with the edits it needs, or nothing is written."""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner

import labctl.cli.connectors
import labctl.cli.table  # noqa: F401 - both register their commands
from labctl.cli.app import root
from labctl.config.lab_config import LabConfig
from labctl.errors import ExitCode
from labctl.importing import import_connectors, open_project
from labctl.kafkaconnect.apply import check_keys
from labctl.kafkaconnect.connector_files import read_connector
from labctl.lab.connectors.reference_keys import offered_keys
from labctl.lake.hudi_keys import unknown_key
from labctl.tables import lab_tables
from lakecontract.properties import read_properties
from lakecontract.references import REFERENCE
from lakecontract.sink_config import sink_problems, topics_taken
from tests.unit.killing import kill_at_every_change

OLDER = Path(__file__).parent / "older_files"
"""TICKIT's pipeline as it was written for Debezium 1.x, Hudi 0.9 and AWS; in `moma`, MoMA's."""
TYPE = ("--table-type", "merge_on_read")
SHARED = Path(__file__).parents[2] / "spark" / "properties" / "base.properties"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder, and the working directory."""
    folder = tmp_path / "project"
    folder.mkdir()
    monkeypatch.chdir(folder)
    for name in ("LABCTL_PROJECT", "LABCTL_LAB_NAME", "LABCTL_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    return folder


@pytest.fixture
def older(tmp_path: Path) -> Path:
    """A copy of the older files, to change."""
    return Path(shutil.copytree(OLDER, tmp_path / "older"))


def run(*arguments: object, code: ExitCode = ExitCode.OK) -> str:
    done = CliRunner().invoke(root, [str(argument) for argument in arguments])
    assert done.exit_code == code, done.output
    return done.output


def import_all(older: Path, *options: str) -> None:
    run("connectors", "import", older / "kafka_connect", "--write", *options)
    run("table", "import", older / "deltastreamer", *TYPE, "--write", *options)


def contents(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def test_a_whole_pipeline_becomes_a_project_that_a_lab_can_run(project: Path, older: Path) -> None:
    run("connectors", "import", older / "kafka_connect")
    run("table", "import", older / "deltastreamer", code=ExitCode.USAGE)
    assert contents(project) == {}, "shown, and nothing written"
    import_all(older)
    config = LabConfig.load(project / "lab.toml")
    assert {(s.engine, s.database, s.schemas) for s in config.sources.values()} == {
        ("postgres", "tickit", ("ems",)),
        ("mysql", None, ("ecomm",)),
        ("sqlserver", "tickit", ("crm",)),
    }
    files = [read_connector(path) for path in sorted((project / "connectors").glob("*.json"))]
    check_keys(files)
    offered = offered_keys(config)
    for file in files:
        assert file.older_keys == ()
        for value in file.config.values():
            for secret, key in REFERENCE.findall(value):
                assert key in offered[secret]
    (sink,) = (file for file in files if not file.is_source)
    assert sink_problems(sink.config) == []
    tables = lab_tables(project, config)
    assert [table.topic for table in tables] == [
        "tickit.crm.user",
        "tickit.ecomm.date",
        "tickit.ecomm.listing",
        "tickit.ecomm.sale",
        "tickit.ems.category",
        "tickit.ems.event",
        "tickit.ems.venue",
    ]
    topics = [table.topic for table in tables]
    assert list(topics_taken(sink.config, topics)) == topics
    for table in tables:
        small = table.properties.table in ("category", "date", "venue")
        properties = table.properties
        assert properties.table_type == ("COPY_ON_WRITE" if small else "MERGE_ON_READ")
        assert properties.bronze_root == f"{sink.config['topics.dir']}/{table.topic}"
        assert properties.ordering_field == "__kafka_offset"
        assert properties.older_keys == ()
        assert properties.hoodie["hoodie.upsert.shuffle.parallelism"] == "2"
    before = contents(project)
    import_all(older)
    assert contents(project) == before, "a second time changes nothing"


def test_tables_in_partitions_keep_them_and_tombstones_stay(project: Path, older: Path) -> None:
    import_all(older / "moma")
    config = LabConfig.load(project / "lab.toml")
    ((name, source),) = config.sources.items()
    assert (source.engine, source.database, source.schemas) == ("postgres", "moma", ("public",))
    files = [read_connector(path) for path in sorted((project / "connectors").glob("*.json"))]
    check_keys(files)
    sink, connector = files
    assert (sink.older_keys, connector.older_keys) == ((), ())
    assert connector.config["topic.prefix"] == "moma"
    assert connector.config["tombstones.on.delete"] == "true"
    assert connector.config["transforms.unwrap.delete.tombstone.handling.mode"] == (
        "rewrite-with-tombstone"
    )
    assert connector.config["database.hostname"] == f"${{secretManager:demo/{name}:hostname}}"
    assert sink_problems(sink.config) == []
    tables = lab_tables(project, config)
    assert [(t.name, t.topic, t.properties.partition_fields) for t in tables] == [
        ("moma_mor.artists", "moma.public.artists", ("nationality",)),
        ("moma_mor.artworks", "moma.public.artworks", ("classification",)),
    ]
    for table in tables:
        assert table.properties.older_keys == ()
        assert table.properties.bronze_root == f"{sink.config['topics.dir']}/{table.topic}"
        assert not [key for key in table.properties.hoodie if key.endswith("partition_fields")]
    assert list(topics_taken(sink.config, [t.topic for t in tables])) == [t.topic for t in tables]
    before = contents(project)
    import_all(older / "moma")
    assert contents(project) == before, "a second time changes nothing"


def test_a_pipeline_without_a_sink_gets_one_for_its_own_topics(project: Path, older: Path) -> None:
    (older / "kafka_connect" / "sink_connector_kafka_s3_avro_tickit.json").unlink()
    for path in (older / "kafka_connect").glob("*.json"):
        path.write_text(path.read_text().replace('"tickit"', '"box-office"'))
    run("connectors", "import", older / "kafka_connect", "--write")
    (path,) = (project / "connectors").glob("sink_*.json")
    topics = ["box-office.crm.user", "tickit.crm.user"]
    assert list(topics_taken(read_connector(path).config, topics)) == topics[:1]


def test_every_edit_is_told_with_its_line_and_shown(project: Path) -> None:
    shown = json.loads(run("table", "import", OLDER / "deltastreamer", *TYPE, "-o", "json"))
    (sale,) = (f for f in shown["files"] if f["to"].endswith("tickit.ecomm.sale.properties"))
    lines = read_properties(OLDER / "deltastreamer" / "tickit.ecomm.sale.properties")
    after = {line[1:].split("=")[0] for line in sale["diff"].splitlines() if line[:1] in "+ "}
    for key in lines:
        told = [edit for edit in sale["edits"] if f": {key} is " in edit]
        assert bool(told) != (key in after), key
    assert any("base.properties:12: hoodie.index.type is left out" in e for e in sale["edits"])
    assert shown["written"] is False
    text = run("connectors", "import", OLDER / "kafka_connect")
    assert '-        "database.server.name": "tickit",' in text
    assert "[sources.sqlserver]" in text
    assert "Nothing was written: --write does it" in text


def test_a_file_with_other_content_is_replaced_by_force_alone(project: Path, older: Path) -> None:
    import_all(older)
    path = project / "spark" / "properties" / "tickit.ecomm.sale.properties"
    path.write_text(path.read_text() + "lab.deletes=hard\n")
    before = contents(project)
    options = ("table", "import", older / "deltastreamer", *TYPE, "--write")
    (older / "deltastreamer" / "tickit.ems.venue.properties").write_text("hoodie.x=1\n")
    run(*options, code=ExitCode.USAGE)
    shutil.copy(OLDER / "deltastreamer" / "tickit.ems.venue.properties", older / "deltastreamer")
    assert "is there, with other content" in str(run_error(*options))
    assert contents(project) == before
    run(*options, "--force")
    assert "lab.deletes" not in path.read_text()


def run_error(*arguments: object) -> str:
    done = CliRunner().invoke(root, [str(argument) for argument in arguments])
    assert done.exit_code == ExitCode.USAGE, done.output
    return done.output + done.stderr


@pytest.mark.parametrize(
    ("file", "old", "new", "said"),
    [
        ("sale", "recordkey.field=salesid", "recordkey.field=", "recordkey.field: missing"),
        ("sale", "hive_sync.table=sale", "hive_sync.tabel=sale\nhoodie.indx.type=A",
         "did you mean hoodie.index.type?"),
        ("sale", "# sale", "hoodie.deltastreamer.transformer.sql=SELECT 1 #", "remove the key"),
        ("sale", "# sale", "my.key=1 #", "my.key: it is no key of Hudi's"),
        ("sale", "recordkey.field=salesid", "recordkey.field=<your_key>", "instead of <…>"),
        ("sale", "tickit.ecomm.sale-value", "tickit.ecomm.date-value", "correct one of them"),
        ("sale", "partitionpath.field=__table",
         "partitionpath.field=dateid\nhoodie.index.type=BLOOM", "BLOOM leaves a row whose"),
    ],
)  # fmt: skip
def test_what_a_table_leaves_to_decide_is_told_and_nothing_written(
    project: Path, older: Path, file: str, old: str, new: str, said: str
) -> None:
    path = older / "deltastreamer" / f"tickit.ecomm.{file}.properties"
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))
    assert said in run("table", "import", path.parent, *TYPE, "--write", code=ExitCode.USAGE)
    assert contents(project) == {}


@pytest.mark.parametrize(
    ("engine", "changes", "said"),
    [
        ("mysql", {"database.user": "${secretManager:demo/mysql:username}x",
                   "topic.regex": "${secretManager:demo/other:thing}"}, "demo/other:thing"),
        ("postgres", {"database.dbname": "a,b"}, "the name of the one database"),
        ("postgres", {"slot.nmae": "x"}, "did you mean slot.name?"),
        ("postgres", {"value.converter": "org.apache.kafka.connect.json.JsonConverter"},
         "silver reads Avro"),
        ("mysql", {"database.whitelist": "ec.*", "table.whitelist": ".*[.]sale"}, "name each"),
        ("mysql", {"connector.class": "io.debezium.connector.mongodb.MongoDbConnector"},
         "no connector that a lab runs"),
        ("mysql", {"transforms.unwrap.delete.handling.mode": "none"}, '"rewrite"'),
        ("mysql", {"database.server.name": "<your_name>"}, "instead of <…>"),
        ("mysql", {"name": "source_connector_postgres_kafka_avro_tickit"}, "name one connector"),
    ],
)  # fmt: skip
def test_what_a_connector_leaves_to_decide_is_told_and_nothing_written(
    project: Path, older: Path, engine: str, changes: dict[str, str], said: str
) -> None:
    path = older / "kafka_connect" / f"source_connector_{engine}_kafka_avro_tickit.json"
    content = json.loads(path.read_text())
    if "name" in changes:
        content["name"] = changes["name"]
    else:
        content["config"] |= changes
    path.write_text(json.dumps(content, indent=2))
    assert said in run("connectors", "import", path.parent, "--write", code=ExitCode.USAGE)
    assert contents(project) == {}


def test_the_lab_is_called_as_the_folder_is(project: Path, older: Path) -> None:
    """Two labs of one name would be the same lab."""
    import_all(older)
    assert LabConfig.load(project / "lab.toml").name == "project"


def test_a_type_for_some_of_the_files(project: Path, older: Path) -> None:
    folder = older / "deltastreamer"
    run("connectors", "import", older / "kafka_connect", "--write")
    some = ("--table-type", "*.ecomm.*=copy_on_write")
    run("table", "import", folder, *TYPE, *some, "--write")
    tables = lab_tables(project, LabConfig.load(project / "lab.toml"))
    types = {table.topic: table.properties.table_type for table in tables}
    assert types["tickit.ecomm.sale"] == "COPY_ON_WRITE"
    assert types["tickit.ems.event"] == "MERGE_ON_READ"
    said = run("table", "import", folder, "--table-type", "*=both", code=ExitCode.USAGE)
    assert "'both' is no table type" in said


def test_an_ordering_of_ones_own_and_decimals_as_text_are_pointed_out(older: Path) -> None:
    table = older / "deltastreamer" / "tickit.ecomm.sale.properties"
    table.write_text(table.read_text() + "hoodie.datasource.write.precombine.field=saletime\n")
    shown = json.loads(run("table", "import", table.parent, *TYPE, "-o", "json"))
    (note,) = (note for note in shown["notes"] if "ordered by saletime" in note)
    assert re.search(r"tickit\.ecomm\.sale\.properties:\d+: .* never arrives", note)
    file = older / "kafka_connect" / "source_connector_mysql_kafka_avro_tickit.json"
    content = json.loads(file.read_text())
    content["config"]["decimal.handling.mode"] = "string"
    file.write_text(json.dumps(content))
    shown = json.loads(run("connectors", "import", file.parent, "-o", "json"))
    assert any("decimal numbers are text in silver" in note for note in shown["notes"])


def test_passwords_are_shown_nowhere(project: Path, older: Path) -> None:
    path = older / "kafka_connect" / "source_connector_mysql_kafka_avro_tickit.json"
    text = path.read_text().replace("${secretManager:demo/mysql:password}", "hunter2")
    path.write_text(text.replace('"AWS_MSK_IAM"', '"PLAIN"', 1))
    table = older / "deltastreamer" / "tickit.ecomm.sale.properties"
    table.write_text(
        table.read_text().replace("http://registry", "http://u:hunter2@registry")
        + "sasl.jaas.config=x password=hunter2;\n"
    )
    for output in ("text", "json"):
        shown = run("connectors", "import", path.parent, "-o", output)
        shown += run("table", "import", table.parent, "--table-type", "MERGE_ON_READ", "-o", output)
        assert "hunter2" not in shown


def test_confluents_converter_becomes_apicurios_in_confluents_form(
    project: Path, older: Path
) -> None:
    path = older / "kafka_connect" / "source_connector_postgres_kafka_avro_tickit.json"
    content = json.loads(path.read_text())
    config = {k: v for k, v in content["config"].items() if ".converter" not in k}
    for side in ("key", "value"):
        config[f"{side}.converter"] = "io.confluent.connect.avro.AvroConverter"
        config[f"{side}.converter.schema.registry.url"] = "http://registry:8081"
    path.write_text(json.dumps({**content, "config": config}))
    run("connectors", "import", path.parent, "--write")
    imported = read_connector(project / "connectors" / path.name).config
    for side in ("key", "value"):
        registry = f"{side}.converter.apicurio.registry."
        assert imported[f"{registry}as-confluent"] == "true"
        assert imported[f"{registry}headers.enabled"] == "false"
        assert imported[f"{registry}url"] == "${secretManager:demo/registry:url}/apis/registry/v2"


def test_a_project_that_has_sources_is_told_what_to_add(project: Path, older: Path) -> None:
    (project / "lab.toml").write_text(
        '[sources.postgres]\nengine = "postgres"\ndatabase = "shop"\nschemas = ["public"]\n'
        'connector = "source_orders"\n'
    )
    before = (project / "lab.toml").read_bytes()
    shown = json.loads(
        run("connectors", "import", older / "kafka_connect", "--write", "-o", "json")
    )
    assert (project / "lab.toml").read_bytes() == before
    assert "[sources.tickit]" in shown["lab_toml"], "the engine's name is taken"
    file = project / "connectors" / "source_connector_postgres_kafka_avro_tickit.json"
    assert read_connector(file).config["database.hostname"] == (
        "${secretManager:demo/tickit:hostname}"
    )


def test_folders_without_such_files_are_refused(project: Path, tmp_path: Path) -> None:
    for kind in ("connectors", "table"):
        assert "is no folder" in run_error(kind, "import", tmp_path / "nowhere")
        assert "holds no *." in run_error(kind, "import", project)


def test_the_keys_of_every_shared_property_are_hudis_own() -> None:
    for key in read_properties(SHARED):
        assert not key.startswith("hoodie.") or unknown_key(key) is None


@pytest.mark.usefixtures("project")
def test_killed_at_any_file_an_import_is_repaired_by_repeating(
    state_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """lab.toml is among the files, and no folder may have it without the connectors."""
    monkeypatch.setattr(os, "fsync", lambda _: None)
    folder = state_home / "project"

    def prepare() -> None:
        monkeypatch.chdir(state_home)
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        monkeypatch.chdir(folder)

    def run(_: object = None) -> None:
        project = open_project()
        import_connectors(OLDER / "moma" / "kafka_connect", project).write(project.folder)

    prepare()
    run()
    whole = contents(folder)
    assert "lab.toml" in whole
    for _ in kill_at_every_change(state_home, prepare, run):
        open_project()
        assert contents(folder) in ({}, whole)
        run()
        assert contents(folder) == whole


def _name_outside(older: Path) -> None:
    file = older / "kafka_connect" / "moma.json"
    config = json.loads(next((OLDER / "moma" / "kafka_connect").glob("*.json")).read_text())
    config = config.get("config", config)
    file.write_text(json.dumps({"name": "../../outside", "config": config}))


def _topic_outside(older: Path) -> None:
    file = next(
        file
        for file in (older / "deltastreamer").rglob("*.properties")
        if "topic" in file.read_text()
    )
    file.write_text(re.sub(r"(kafka\.topic=).*", r"\1x/../../../../outside", file.read_text()))


def _device(older: Path) -> None:
    for folder, name in (
        ("kafka_connect", "endless.json"),
        ("deltastreamer", "endless.properties"),
    ):
        (older / folder / name).symlink_to("/dev/zero")
        os.mkfifo(older / folder / f"fifo{name}")
    (older / "deltastreamer" / "zero.properties").write_text("include=/dev/zero")


def _large(older: Path) -> None:
    for folder, name in (("kafka_connect", "large.json"), ("deltastreamer", "large.properties")):
        with (older / folder / name).open("wb") as file:
            file.truncate(5 * 1024**2)


def _bomb(older: Path) -> None:
    """Each file includes the next ten times."""
    for number in range(12):
        text = f"include={','.join([f'bomb{number + 1}.properties'] * 10)}\n"
        (older / "deltastreamer" / f"bomb{number}.properties").write_text(text)
    (older / "deltastreamer" / "bomb12.properties").touch()


def _link(older: Path) -> None:
    (older / "kafka_connect" / "mine.json").symlink_to(older.parent / "mine.json")
    (older.parent / "mine.json").write_text("{}")


@pytest.mark.parametrize(
    ("spoil", "command", "message"),
    [
        (_name_outside, "connectors", "no file can be called '../../outside'"),
        (_topic_outside, "table", "no file can be called"),
        (_device, "table", "/dev/zero cannot be read: it is a pipe, a device or a socket"),
        (_large, "connectors", "has 5,242,880 bytes"),
        (_large, "table", "has 5,242,880 bytes"),
        (_bomb, "table", "includes more than 1000 files"),
        (_link, "connectors", "is a link to"),
    ],
)
def test_someone_elses_folder_writes_and_reads_nothing_outside(
    project: Path,
    older: Path,
    spoil: Callable[[Path], None],
    command: str,
    message: str,
) -> None:
    spoil(older)
    folder = {"connectors": "kafka_connect", "table": "deltastreamer"}[command]
    before = contents(project.parent)
    said = run(command, "import", older / folder, "--write", code=ExitCode.USAGE)
    assert message in " ".join(said.split())
    assert contents(project.parent) == before
