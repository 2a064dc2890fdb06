"""HoodieStreamer instead of the application: from the same properties files."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import fastavro
import pytest

from labctl.lake.bronze_records import Bronze
from labctl.lake.objectstore import LakeStorage
from labctl.promote import Promotion
from labctl.promote.plan import Plan, render
from labctl.promote.rules import check
from labctl.promote.streamer import generated_uploads, write_schemas
from lakecontract.properties import read_properties
from tests.unit.promote.conftest import Promote


def schema(fields: list[str]) -> dict[str, Any]:
    return {
        "type": "record",
        "name": "Value",
        "fields": [{"name": name, "type": "long"} for name in fields],
    }


@pytest.fixture
def streamed(promote: Promote, project: Path) -> Promote:
    """Promotions whose bronze schemas are there."""
    write_schemas(project, promote().tables, lambda _topic: schema(["id", "__kafka_offset"]))
    return promote


def commands(plan: Plan) -> dict[str, list[str]]:
    return {item["Name"]: item["HadoopJarStep"]["Args"] for item in plan.work}


def option(arguments: list[str], name: str) -> str:
    return arguments[arguments.index(name) + 1]


def written(promotion: Promotion, folder: Path) -> Path:
    """What the plan uploads for the streamers, as a folder."""
    for upload in render(promotion, None).uploads:
        if upload.key.startswith("streamer/"):
            assert isinstance(upload.content, bytes)
            path = folder / Path(upload.key).name
            path.write_bytes(upload.content)
    return folder


def test_a_streamer_a_table_of_its_own_type(streamed: Promote) -> None:
    promotion = streamed({"emr.engine": "streamer"})
    found = commands(render(promotion, None))
    assert set(found) == {f"tickit-silver-{table.name}" for table in promotion.tables}
    for table in promotion.tables:
        arguments = found[f"tickit-silver-{table.name}"]
        assert arguments[:3] == ["spark-submit", "--deploy-mode", "cluster"]
        assert option(arguments, "--class") == "org.apache.hudi.utilities.streamer.HoodieStreamer"
        assert option(arguments, "--table-type") == table.properties.table_type
        assert option(arguments, "--source-ordering-field") == "__kafka_offset"
        assert option(arguments, "--target-base-path") == (
            f"s3://tickit-lake-111122223333/silver/{table.properties.path}"
        )
        assert option(arguments, "--props").endswith(f"/aws.{table.name}.properties")
        assert "--continuous" in arguments
    kinds = {option(arguments, "--table-type") for arguments in found.values()}
    assert kinds == {"COPY_ON_WRITE", "MERGE_ON_READ"}


def test_the_multi_table_streamer_runs_once_a_table_type(streamed: Promote) -> None:
    promotion = streamed({"emr.engine": "multi-table-streamer"})
    found = commands(render(promotion, None))
    assert set(found) == {"tickit-silver-copy-on-write", "tickit-silver-merge-on-read"}
    for arguments in found.values():
        class_ = "org.apache.hudi.utilities.streamer.HoodieMultiTableStreamer"
        assert option(arguments, "--class") == class_
        assert option(arguments, "--base-path-prefix") == "s3://tickit-lake-111122223333/silver"


def test_properties_are_the_tables_own_with_awss_values_over_them(
    streamed: Promote, project: Path, tmp_path: Path
) -> None:
    promotion = streamed({"emr.engine": "streamer"})
    folder = written(promotion, tmp_path)
    for table in promotion.tables:
        own = read_properties(project / "spark" / "properties" / f"{table.topic}.properties")
        final = read_properties(folder / f"aws.{table.name}.properties")
        changed = {key for key, value in own.items() if final[key] != value}
        assert changed == {"hoodie.table.services.enabled", "hoodie.streamer.source.dfs.root"}
        assert final["hoodie.streamer.source.dfs.root"] == (
            f"s3://tickit-lake-111122223333/topics/{table.topic}"
        )
        assert final["hoodie.write.table.version"] == "6"
        assert final["hoodie.datasource.write.precombine.field"] == "__kafka_offset"
        assert (folder / f"{table.topic}.avsc").is_file()


def test_multi_table_properties_name_every_table_once(streamed: Promote, tmp_path: Path) -> None:
    promotion = streamed({"emr.engine": "multi-table-streamer"})
    folder = written(promotion, tmp_path)
    named: list[str] = []
    for kind in ("copy_on_write", "merge_on_read"):
        properties = read_properties(folder / f"multi-table.{kind}.properties")
        tables = properties["hoodie.streamer.ingestion.tablesToBeIngested"].split(",")
        for table in tables:
            file = properties[f"hoodie.streamer.ingestion.{table}.configFile"]
            assert (folder / file.rpartition("/")[2]).is_file()
        named += tables
    assert sorted(named) == sorted(table.name for table in promotion.tables)


def test_a_changed_schema_is_another_folder(streamed: Promote, project: Path) -> None:
    def keys() -> set[str]:
        uploads = generated_uploads(streamed({"emr.engine": "streamer"}))
        return {upload.key for upload in uploads.values()}

    before = keys()
    path = project / "schemas" / "tickit.ecomm.sale.avsc"
    path.write_text(json.dumps(schema(["id", "more", "__kafka_offset"])))
    assert not before & keys()


@pytest.mark.parametrize(
    ("engine", "kind"), [("streamer", "serverless"), ("multi-table-streamer", "ec2")]
)
def test_streamers_are_clean_through_every_rule(streamed: Promote, engine: str, kind: str) -> None:
    promotion = streamed({"emr.engine": engine, "emr.kind": kind})
    assert check(promotion, render(promotion, None)) == []


def test_a_bronze_file_tells_its_schema_as_it_was_written(tmp_path: Path) -> None:
    wanted = schema(["id", "__kafka_offset"])
    buffer = io.BytesIO()
    fastavro.writer(buffer, wanted, [{"id": 1, "__kafka_offset": 0}])
    folder = tmp_path / "topics" / "tickit.ecomm.sale" / "year=2026"
    folder.mkdir(parents=True)
    (folder / "tickit.ecomm.sale+0+0.avro").write_bytes(buffer.getvalue())
    assert Bronze(LakeStorage.local(tmp_path)).schema("tickit.ecomm.sale") == wanted
