"""hudi-rs against Hudi itself: the same rows, column by column, on tables with every past."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from pydantic import SecretStr
from pyspark.errors import IllegalArgumentException
from pyspark.sql import SparkSession

from labctl.config.endpoints import ObjectStore
from labctl.errors import ExitCode, LabError
from labctl.lake import Lake, View
from labctl.lake.silver_table import SilverTable
from labctl.lake.spark_job import answer, shown, write_answer
from labctl.lake.spark_queries import SparkEngine, described, read_answer
from sqlapi.hudi.commit_rows import CommitRows
from sqlapi.hudi.opened import is_unread, stored_rows
from sqlapi.hudi.table_copies import TableCopies
from sqlapi.hudi.timeline import Timeline
from sqlapi.instants import EARLIEST
from tests.integration.lake.tables import (
    BUCKETS,
    CASES,
    COW,
    MOR,
    OVERWRITE,
    Case,
    HudiTable,
    cleaned,
    compacted,
    compacting,
    evolved,
    plain,
)
from tests.ports import free_port

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")

ALWAYS = {"types_mor"}
"""The past that `make test` compares."""
LONG = {
    "plain_cow",
    "evolved_mor",
    "out_of_order_mor",
    "crashed_mor",
    "cleaned_mor",
    "compacting_mor",
    "rebuilt_and_changed_mor",
    "overwritten_buckets_mor",
}
"""Each other way to differ once, for `make test-long`. The rest takes minutes: `make soak`."""
KINDS_OF_VIEWS = 6
"""So many of `_views` differ in kind; those that follow are of other moments."""


def _built(case: Case, spark: SparkSession, lake: Lake) -> SilverTable:
    if f"tickit.{case.name}" not in lake.table_names():
        root = lake.storage.spark_uri
        case.build(HudiTable(spark, root, case.name, case.kind, dict(case.options)))
    return lake.table(case.name)


def _through_spark(spark: SparkSession, table: SilverTable, view: View, folder: Path) -> pa.Table:
    write_answer(shown(spark, described(table, view), view), folder)
    return read_answer(folder, "", [])


def _views(table: SilverTable, kind: str) -> Iterator[View]:
    """Now and every moment of the past, as far as there still is one."""
    yield View()
    yield View(deleted=True)
    yield View(begin=EARLIEST, deleted=True)
    timeline = table.timeline()
    earliest = timeline.earliest_readable() or EARLIEST
    writes = [i for i in timeline.writes if i.requested >= earliest]
    if kind == MOR:
        yield View(deleted=True, read_optimized=True)
        yield View(as_of=writes[0].requested, deleted=True, read_optimized=True)
    yield View(as_of=writes[0].completed, deleted=True)
    yield View(begin=EARLIEST, end=str(int(writes[-1].requested) - 1))
    for write, following in itertools.pairwise(writes):
        yield View(begin=write.requested, end=following.requested, deleted=True)
    for write in writes:
        yield View(as_of=write.requested, deleted=True)
    yield View(begin=writes[0].requested, end="99991231235959999", deleted=True)


@pytest.mark.parametrize(
    "case",
    [
        pytest.param(
            case,
            marks=()
            if case.name in ALWAYS
            else pytest.mark.long
            if case.name in LONG
            else pytest.mark.soak,
            id=case.name,
        )
        for case in CASES
    ],
)
def test_both_engines_read_the_same(
    case: Case, spark: SparkSession, lake: Lake, tmp_path: Path
) -> None:
    table = _built(case, spark, lake)
    kept = replace(table, copies=TableCopies())
    differences = {}
    for number, view in enumerate(_views(table, case.kind)):
        expected = _through_spark(spark, table, view, tmp_path / str(number))
        rows = table.read(view=view)
        for found in (rows, kept.read(view=view)):
            if difference := _difference(expected, found):
                differences[view] = difference
        for key in (5, 22, 125) if view.begin is None else ():
            alone = lake.query(f"select * from {case.name} where salesid = {key}", view)
            if difference := _difference(rows.filter(pc.field("salesid") == key), alone):
                differences[view] = difference
    assert not differences
    assert not _unlike_copies(table)


def _unlike_copies(table: SilverTable) -> dict[str, str]:
    """By where it begins, what the rest of a table's writes is other in than in copied files."""
    timeline = Timeline.of(table.timeline())
    if not timeline.by_completion:
        return {}
    folder = table.storage.folder(table.path)
    reader, unlike = CommitRows(folder), {}
    *marks, end = sorted(w.completed or "" for w in timeline.writes)
    for begin in reversed(["19700101000000000", *marks]):
        try:
            stored = stored_rows(folder, begin, end)
            copied = reader.copied(timeline, begin, end)
        except BaseException as error:  # a panic of hudi-rs is no Exception
            # Files of older writes were cleaned.
            if not is_unread(error) or begin == max(marks, default=""):
                raise
            continue
        if why := "no copy" if copied is None else _difference(stored, copied):
            unlike[begin] = why
    return unlike


def _difference(expected: pa.Table, actual: pa.Table) -> str | None:
    """What is not the same: schema, rows, order apart."""
    if expected.schema != actual.schema:
        return f"{set(expected.schema)} != {set(actual.schema)}"
    wanted, got = (sorted(map(repr, t.to_pylist())) for t in (expected, actual))
    if wanted == got:
        return None
    missing, extra = sorted(set(wanted) - set(got)), sorted(set(got) - set(wanted))
    return f"{len(missing)} missing, e.g. {missing[:1]}; {len(extra)} extra, e.g. {extra[:1]}"


@pytest.mark.long
def test_what_was_cleaned_is_refused_by_both(
    spark: SparkSession, lake: Lake, tmp_path: Path
) -> None:
    table = _built(Case(cleaned, MOR), spark, lake)
    earliest = table.timeline().earliest_readable()
    assert earliest
    view = View(as_of=str(int(earliest) - 1))
    with pytest.raises(LabError, match="has been cleaned") as caught:
        table.read(view=view)
    assert caught.value.exit_code is ExitCode.USAGE
    with pytest.raises(LabError, match="has been cleaned"):
        _through_spark(spark, table, view, tmp_path)
    with pytest.raises(IllegalArgumentException, match="Cleaner cleaned up the timestamp"):
        spark.read.format("hudi").option("as.of.instant", view.as_of).load(
            f"{table.storage.spark_uri}/{table.path}"
        ).collect()


def test_columns_can_be_read_one_by_one(spark: SparkSession, lake: Lake) -> None:
    for case in (Case(evolved, MOR, BUCKETS, "_buckets"), Case(compacting, MOR), Case(plain, COW)):
        table = _built(case, spark, lake)
        whole = table.read()
        for column in whole.column_names:
            alone = table.read(columns=[column])
            assert sorted(map(repr, alone.to_pylist())) == sorted(
                map(repr, whole.select([column]).to_pylist())
            ), f"{case.name}.{column}"


def test_a_read_for_an_unknown_column_names_those_there_are(
    spark: SparkSession, lake: Lake
) -> None:
    table = _built(Case(plain, COW), spark, lake)
    with pytest.raises(LabError, match="nosuch") as caught:
        table.read(columns=["salesid", "nosuch"])
    assert "pricepaid" in str(caught.value.hint)


@pytest.mark.parametrize(
    ("sql", "view"),
    [
        ("select * from plain_mor where salesid between 100 and 130 order by salesid", View()),
        (
            "select s.salesid, s.name, p.name from plain_mor s join plain_cow p "
            "on s.salesid = p.salesid where s.qtysold > 3 order by 1",
            View(deleted=True),
        ),
        (
            "select __op, count(*) as n, sum(qtysold) as qty, max(pricepaid) as price "
            "from plain_mor group by __op order by __op",
            View(begin=EARLIEST, deleted=True),
        ),
        ("select salesid, salesid, holiday from plain_cow where salesid = 999", View()),
        (
            "with p as (select * from plain_cow where salesid in (select salesid from plain_mor)) "
            "select count(*) as n from p where qtysold = (select max(qtysold) from p)",
            View(),
        ),
    ],
)
def test_sql_has_the_same_answer(
    sql: str, view: View, spark: SparkSession, engine: SparkEngine, lake: Lake, tmp_path: Path
) -> None:
    tables = [_built(Case(plain, kind), spark, lake) for kind in (COW, MOR)]
    answer(spark, engine.request(sql, tables, view, tmp_path))
    assert read_answer(tmp_path, "", []).equals(lake.query(sql, view))


@pytest.mark.parametrize(
    ("sql", "what", "hint"),
    [
        ("selec 1", "selec", None),
        ("select nocol from plain_cow", "nocol", None),
        ("select * from nosuch", "nosuch", "Tables: {table}."),
    ],
)
def test_spark_explains_bad_sql(
    sql: str,
    what: str,
    hint: str | None,
    spark: SparkSession,
    engine: SparkEngine,
    lake: Lake,
    tmp_path: Path,
) -> None:
    table = _built(Case(plain, COW), spark, lake)
    answer(spark, engine.request(sql, [table], View(), tmp_path))
    with pytest.raises(LabError, match=what) as caught:
        read_answer(tmp_path, "", [table.name])
    assert caught.value.exit_code is ExitCode.USAGE
    assert caught.value.hint == (hint and hint.format(table=table.name))


@pytest.mark.parametrize(
    ("sql", "what"),
    [
        ("insert into plain_cow select * from plain_cow", "InsertIntoStatement"),
        ("with a as (select 1) insert into plain_cow select * from a", "InsertIntoStatement"),
        ("from plain_cow insert into a select * insert into b select *", "InsertIntoStatement"),
        ("insert overwrite directory '{folder}' using json select 1", "InsertIntoDir"),
        ("create table made using parquet location '{folder}' as select 1 as a", "Create"),
        ("delete from plain_cow", "Delete"),
        ("merge into a using b on a.i = b.i when matched then delete", "Merge"),
        ("drop table plain_cow", "Drop"),
        ("set spark.sql.ansi.enabled=true", "Set"),
        ("call run_clean(table => 'plain_cow')", "Call"),
        ("select (select max(x) from (select transform(1) using 'cat' as (x)))", "Script"),
        ("with a as (select transform(1) using 'cat' as (x)) select * from a", "Script"),
    ],
)
def test_spark_is_given_nothing_but_queries(
    sql: str, what: str, spark: SparkSession, engine: SparkEngine, lake: Lake, tmp_path: Path
) -> None:
    written = tmp_path / "written"
    answer(spark, engine.request(sql.format(folder=written), [], View(), tmp_path))
    with pytest.raises(LabError, match="one SELECT statement") as caught:
        read_answer(tmp_path, "", [])
    assert caught.value.exit_code is ExitCode.USAGE
    assert f"Got {what}" in str(caught.value.hint)
    assert not written.exists()


@pytest.mark.long
def test_both_engines_read_an_object_store(
    spark: SparkSession, engine: SparkEngine, bucket: ObjectStore, tmp_path: Path
) -> None:
    lake = Lake(bucket)
    assert lake.table_names() == []
    table = _built(Case(compacted, MOR), spark, lake)
    for number, view in enumerate(itertools.islice(_views(table, MOR), KINDS_OF_VIEWS)):
        expected = _through_spark(spark, table, view, tmp_path / str(number))
        assert _difference(expected, table.read(view=view)) is None, view
    # and in a process of its own, which is told the credentials apart
    sql = "select * from tickit.compacted_mor where salesid < 150 order by salesid"
    assert lake.query(sql, engine=engine).equals(lake.query(sql))


@pytest.mark.long
def test_an_object_store_that_is_away_or_refuses_is_told(bucket: ObjectStore) -> None:
    away = bucket.model_copy(update={"endpoint_url": f"http://127.0.0.1:{free_port()}"})
    refused = bucket.model_copy(update={"secret_key": SecretStr("wrong-secret")})
    for store in (away, refused):
        with pytest.raises(LabError, match="object store") as caught:
            Lake(store).query("select * from sale")
        assert caught.value.exit_code is ExitCode.NOT_READY


@pytest.mark.long
def test_a_spark_that_cannot_start_shows_its_log(engine: SparkEngine, lake: Lake) -> None:
    nowhere = Path("/nonexistent/bin/java")
    with pytest.raises(LabError, match="Spark failed") as caught:
        lake.query("select 1", engine=replace(engine, java=nowhere))
    assert any("nonexistent" in line for line in caught.value.details)


@pytest.mark.long
def test_tables_tell_about_themselves(spark: SparkSession, lake: Lake) -> None:
    _built(Case(plain, MOR), spark, lake)
    (info,) = [t for t in lake.tables() if t.name == "tickit.plain_mor"]
    assert (info.kind, info.version, info.commits) == (MOR, 9, 5)
    assert (info.record_key, info.ordering) == ("salesid", "__kafka_offset")
    assert info.latest == lake.instants("plain_mor")[-1].requested
    assert lake.latest(["tickit.plain_mor", "tickit.nobody"]) == {
        "tickit.plain_mor": info.latest,
        "tickit.nobody": None,
    }
    assert info.earliest_readable is None
    shown = lake.query("show tables;").to_pylist()
    assert {
        "table_name": "tickit.plain_mor",
        "type": MOR,
        "commits": 5,
        "latest_commit": info.latest,
    } in shown


@pytest.mark.long
def test_a_watch_sees_each_new_row_once(spark: SparkSession, lake: Lake) -> None:
    for kind in (COW, MOR):
        name = f"watched_{kind.lower()}"
        table = HudiTable(spark, lake.storage.spark_uri, name, kind)
        table.change(range(1, 101), "r")
        watch = lake.watch(name)
        kept = Lake(lake.storage, copies=(copies := TableCopies()))

        def both_are_alike(
            name: str = name, kept: Lake = kept, copies: TableCopies = copies
        ) -> bool:
            alike = _difference(lake.read(name), kept.read(name)) is None
            return alike and copies.held_bytes > 0

        assert both_are_alike()
        assert watch.poll() is None
        table.change([5])
        table.change([6, 7], "d")
        rows = watch.poll()
        assert rows is not None
        assert set(rows.column("salesid").to_pylist()) == {5, 6, 7}
        assert rows.num_rows == 3
        assert both_are_alike()
        assert watch.poll() is None
        if kind == MOR:
            table.compact()
            assert both_are_alike()
            assert (rows := watch.poll()) is None or rows.num_rows == 0
        table.change([5, 8])
        found = watch.wait_for(pc.field("salesid") == 8, timeout_seconds=10)
        assert found.column("salesid").to_pylist() == [8]
        with pytest.raises(LabError, match="within 0 s"):
            watch.wait_for(pc.field("salesid") == 9, timeout_seconds=0)
        for key in (9, 10, 11):
            table.change([key])
        first, second, third = lake.table(name).timeline().writes[-3:]
        for writes, keys in (([second], {10}), ([first, third], {9, 11})):
            rows = watch.take(writes)
            assert rows is not None
            assert rows.num_rows == len(keys)
            assert set(rows.column("salesid").to_pylist()) == keys
        assert watch.poll() is None
        table.change([3, 4], options=OVERWRITE)
        rows = watch.poll()
        assert rows is not None
        assert rows.num_rows == 2
        assert set(rows.column("salesid").to_pylist()) == {3, 4}
        assert both_are_alike()
        assert kept.read(name).num_rows == 2
