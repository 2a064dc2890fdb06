"""Tables of several databases, some in partitions, from two databases of one engine."""

from __future__ import annotations

import io
import json
import re
import zipfile
from pathlib import Path

import pytest

from labctl.config.lab_config import LabConfig
from labctl.errors import LabError
from labctl.promote import Promotion, load_promotion
from labctl.promote.artifacts import project_archive
from labctl.promote.plan import render
from labctl.promote.rules import check
from labctl.promote.streamer import generated_uploads, write_schemas
from lakecontract.options import Options
from lakecontract.properties import load_tables
from tests.unit.promote.test_streamer import schema

PROJECT = Path(__file__).parents[3]
DATABASES = ("moma_cow", "moma_mor", "tickit")


def with_moma(project: Path, engine: str = "application") -> Promotion:
    """The example's promotion with the source of MoMA's lab beside TICKIT's."""
    own, moma = LabConfig.load(project / "lab.toml"), LabConfig.load(PROJECT / "labs/moma.toml")
    aws = own.profiles["aws"]
    emr = aws.emr.model_copy(update={"engine": engine})  # type: ignore[union-attr]
    config = own.model_copy(
        update={
            "sources": {**own.sources, **moma.sources},
            "silver": moma.silver.model_copy(
                update={"properties": (*own.silver.properties, *moma.silver.properties)}
            ),
            "profiles": own.profiles | {"aws": aws.model_copy(update={"emr": emr})},
        }
    )
    return load_promotion(project, config, "aws")


def test_each_database_is_one_of_glues(project: Path) -> None:
    promotion = with_moma(project)
    plan = render(promotion, None)
    resources = plan.templates["foundation"]["Resources"].values()
    found = {
        one["Properties"]["DatabaseInput"]["Name"]: one["Properties"]["DatabaseInput"]
        for one in resources
        if one["Type"] == "AWS::Glue::Database"
    }
    assert set(found) == {*DATABASES, "tickit_demo", "tickit_gold"}
    assert found["moma_mor"]["LocationUri"].endswith("/silver/moma_mor")
    policies = json.dumps(plan.templates["foundation"])
    for name in DATABASES:
        assert f"table/{name}/*" in policies
    assert check(promotion, plan) == []
    # Two silver tables of each source table are one table of the publication.
    (published,) = re.findall("SET TABLE (.*);", plan.texts["sql/moma.sql"].decode())
    assert published == '"public"."artists", "public"."artworks", "labctl"."signal"'


def test_the_application_gets_the_folders_of_all_tables(project: Path, tmp_path: Path) -> None:
    promotion = with_moma(project)
    upload = project_archive(promotion)
    assert isinstance(upload.content, bytes)
    with zipfile.ZipFile(io.BytesIO(upload.content)) as archive:
        archive.extractall(tmp_path / "lab")
    (step,) = render(promotion, None).work
    arguments = [str(argument) for argument in step["HadoopJarStep"]["Args"]]
    entry = next(i for i, argument in enumerate(arguments) if argument.endswith(".py"))
    options = Options.parse(arguments[entry + 1 :])
    tables = load_tables(
        [tmp_path / folder for folder in options.properties],
        only=options.tables,
        overrides=options.hoodie_conf,
    )
    assert {table.name for table in tables} == {table.name for table in promotion.tables}
    assert {table.database for table in tables} == set(DATABASES)
    for table in tables:
        assert table.hoodie["hoodie.datasource.hive_sync.database"] == table.database


def test_a_streamer_has_an_index_that_moves_rows_between_partitions(project: Path) -> None:
    promotion = with_moma(project, "streamer")
    write_schemas(project, promotion.tables, lambda _topic: schema(["id", "__kafka_offset"]))
    texts = {
        Path(upload.key).name: upload.content.decode()
        for upload in generated_uploads(promotion).values()
        if isinstance(upload.content, bytes)
    }
    artists = texts["aws.moma_mor.artists.properties"].splitlines()
    assert artists[0] == "include=moma/moma_mor.artists.properties"
    assert "hoodie.index.type=GLOBAL_SIMPLE" in artists
    assert "hoodie.datasource.write.hive_style_partitioning=true" in artists
    assert "hoodie.datasource.hive_sync.database=moma_mor" in artists
    assert "GLOBAL" not in texts["aws.tickit.sale.properties"]
    assert check(promotion, render(promotion, None)) == []


def test_a_database_in_the_profile_is_refused(project: Path) -> None:
    path = project / "lab.toml"
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace("athena = true", 'athena = true\ndatabase = "x"'), "utf-8")
    with pytest.raises(LabError, match="remove `database`: the tables' properties name it"):
        LabConfig.load(path)
