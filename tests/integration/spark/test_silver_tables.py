"""What changes become: inserts, updates, deletes and key changes, in both table types."""

from __future__ import annotations

import random
import secrets
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import pytest

from labctl.errors import LabError
from labctl.lab.tables.table_rebuild import rebuild_table
from tests.integration.spark.change_records import (
    DECIMAL,
    MICRO_TIMESTAMP,
    Topics,
    column,
    debezium,
    decimal,
    nullable,
)
from tests.integration.spark.conftest import Silver, properties_of, topic_of

pytestmark = pytest.mark.long

COLUMNS = [
    column("id", "int"),
    column("name", nullable("string")),
    column("price", nullable(DECIMAL)),
    column("at", nullable(MICRO_TIMESTAMP)),
]
MICROS = 1_199_145_600_123_456
MORNING = datetime(2008, 1, 1, 0, 0, 0, 123456, tzinfo=UTC)


def row(key: int, **values: Any) -> dict[str, Any]:
    base = {"id": key, "name": f"n {key}", "price": Decimal(key).scaleb(-2), "at": MICROS + key}
    return base | values


def test_warming_up_leaves_nothing_behind(silver: Silver) -> None:
    lab = silver.lab
    log, folder = lab.state.log("silver"), lab.state.data("silver")
    silver.until(lambda: "warmed up by" in log.read_text(), "the application is warm")
    assert "warming up ended early" not in log.read_text()
    assert list(folder.rglob("_warm_up")) == []


@pytest.mark.parametrize("table", ["mor_soft", "cow_soft", "mor_moves"])
def test_the_last_change_of_every_key_is_what_remains(
    silver: Silver, topics: Topics, table: str
) -> None:
    seed = secrets.randbits(32)
    print(f"seed {seed}")
    chance = random.Random(seed)  # noqa: S311 - reproducible, not secret
    expected: dict[int, dict[str, Any]] = {}
    end = 0
    for _ in range(4):
        changes = []
        for _ in range(50):
            key = chance.randrange(20)
            change = row(key, name=chance.choice([None, "Zoë 🎫", f"v{end}"]))
            change["__op"] = chance.choice(["c", "u", "u", "d"])
            changes.append(change)
            expected[key] = change | {"__kafka_offset": end}
            end += 1
        topics.write(topic_of(table), COLUMNS, changes)
        silver.has_taken(table, end)

    found = silver.rows(table)

    assert set(found) == set(expected)
    for key, change in expected.items():
        for name in ("name", "price", "__op", "__kafka_offset"):
            assert found[key][name] == change[name]
        assert found[key]["__deleted"] == str(change["__op"] == "d").lower()
        assert found[key]["__kafka_partition"] == 0


@pytest.mark.parametrize("table", ["mor_hard", "cow_hard", "cow_moves_hard"])
def test_hard_deletes_remove_the_row_and_a_key_change_moves_it(
    silver: Silver, topics: Topics, table: str
) -> None:
    topic = topic_of(table)
    topics.write(topic, COLUMNS, [row(key) for key in range(6)])
    silver.has_taken(table, 6)
    topics.write(
        topic,
        COLUMNS,
        [
            row(0, __op="d"),
            # A key change is a delete of the old key and an insert of the new one.
            row(1, __op="d"),
            row(101),
            # Born and gone within one batch; gone and back within one batch.
            row(7),
            row(7, __op="d"),
            row(2, __op="d"),
            row(2, name="back"),
        ],
    )
    silver.has_taken(table, 13)

    found = silver.rows(table)

    assert set(found) == {2, 3, 4, 5, 101}
    assert found[2]["name"] == "back"

    topics.write(topic, COLUMNS, [row(0, name="again")])
    silver.has_taken(table, 14)
    assert silver.rows(table)[0]["name"] == "again"


TYPES: list[tuple[str, Any, list[tuple[Any, Any]]]] = [
    (
        "micro",
        MICRO_TIMESTAMP,
        [
            (MICROS, MORNING),
            (-62135596800000000, datetime(1, 1, 1, tzinfo=UTC)),
            (253402300799999999, datetime(9999, 12, 31, 23, 59, 59, 999999, tzinfo=UTC)),
            (-12219292800000001, datetime(1582, 10, 14, 23, 59, 59, 999999, tzinfo=UTC)),
        ],
    ),
    (
        "milli",
        debezium("time.Timestamp", "long"),
        [(1_199_145_600_123, datetime(2008, 1, 1, 0, 0, 0, 123000, tzinfo=UTC))],
    ),
    (
        "zoned",
        debezium("time.ZonedTimestamp", "string"),
        [
            ("2008-01-01T00:00:00.123456Z", MORNING),
            ("2008-01-01T02:00:00.123456+02:00", MORNING),
            ("2008-01-01T00:00:00Z", datetime(2008, 1, 1, tzinfo=UTC)),
            ("2008-01-01T00:00:00.1234560Z", MORNING),
        ],
    ),
    (
        "day",
        debezium("time.Date", "int"),
        [(13879, date(2008, 1, 1)), (-719162, date(1, 1, 1)), (2932896, date(9999, 12, 31))],
    ),
    ("clock", debezium("time.MicroTime", "long"), [(86_399_999_999, 86_399_999_999)]),
    ("clock_ms", debezium("time.Time", "int"), [(86_399_999, 86_399_999_000)]),
    ("nanos", debezium("time.NanoTimestamp", "long"), [(2**63 - 1, 2**63 - 1)]),
    ("year", debezium("time.Year", "int"), [(2155, 2155)]),
    ("small", {"type": "int", "connect.type": "int16"}, [(-32768, -32768), (32767, 32767)]),
    ("whole", "int", [(-(2**31), -(2**31)), (2**31 - 1, 2**31 - 1)]),
    ("big", "long", [(-(2**63), -(2**63)), (2**63 - 1, 2**63 - 1)]),
    ("real", "double", [(0.1, 0.1), (-1.7976931348623157e308, -1.7976931348623157e308)]),
    ("flag", "boolean", [(True, True), (False, False)]),
    (
        "money",
        DECIMAL,
        [(Decimal("999999.99"), Decimal("999999.99")), (Decimal("-0.01"), Decimal("-0.01"))],
    ),
    (
        "digits",
        decimal(38, 10),
        [(Decimal("1234567890123456789012345678.0123456789"),) * 2],
    ),
    ("text", "string", [("", ""), ("Zürich 🎫 \u0000 \n '\"\\", "Zürich 🎫 \u0000 \n '\"\\")]),
    ("octets", "bytes", [(bytes(range(256)), bytes(range(256)))]),
    ("json", debezium("data.Json", "string"), [('{"a": 1.10}', '{"a": 1.10}')]),
    (
        "words",
        {"type": "array", "items": ["null", "string"]},
        [(value, value) for value in (["a", None, ""], [None], [], ["b"])],
    ),
    (
        "free",
        {
            "type": "record",
            "name": "VariableScaleDecimal",
            "namespace": "io.debezium.data",
            "fields": [{"name": "scale", "type": "int"}, {"name": "value", "type": "bytes"}],
            "connect.version": 1,
            "connect.name": "io.debezium.data.VariableScaleDecimal",
        },
        [
            ({"scale": 3, "value": (-1234567).to_bytes(4, "big", signed=True)}, "-1234.567"),
            ({"scale": 5, "value": (42).to_bytes(1, "big", signed=True)}, "0.00042"),
            ({"scale": 0, "value": (7).to_bytes(1, "big", signed=True)}, "7"),
            ({"scale": -2, "value": (7).to_bytes(1, "big", signed=True)}, "700"),
        ],
    ),
]


@pytest.mark.parametrize("table", ["mor_wide", "cow_wide"])
def test_every_type_arrives_exactly(silver: Silver, topics: Topics, table: str) -> None:
    columns = [column("id", "int"), *(column(name, nullable(kind)) for name, kind, _ in TYPES)]
    depth = max(len(values) for _, _, values in TYPES)
    sent = [
        {"id": n} | {name: values[n % len(values)][0] for name, _, values in TYPES}
        for n in range(depth)
    ]
    nulls = {"id": depth} | {name: None for name, _, _ in TYPES}
    topics.write(topic_of(table), columns, [*sent, nulls])
    silver.has_taken(table, depth + 1)
    # Once from the base file, once from a log file or a rewritten one.
    topics.write(topic_of(table), columns, [*sent, nulls])
    silver.has_taken(table, 2 * (depth + 1))

    found = silver.rows(table)

    for n in range(depth):
        for name, _, values in TYPES:
            assert found[n][name] == values[n % len(values)][1], name
    assert not [name for name, _, _ in TYPES if found[depth][name] is not None]


def test_a_table_is_taken_from_all_partitions(silver: Silver, topics: Topics) -> None:
    before = silver.status("parted")["offsets"]
    begin = [int(before.get(str(partition), 0)) for partition in range(3)]
    for partition in range(3):
        rows = [row(key) for key in range(30) if key % 3 == partition]
        topics.write(topic_of("parted"), COLUMNS, rows, partition=partition)
    for partition in range(3):
        silver.has_taken("parted", begin[partition] + 10, partition)
    topics.write(topic_of("parted"), COLUMNS, [row(4, name="new", __op="u")], partition=1)
    silver.has_taken("parted", begin[1] + 11, 1)

    # Beside what another test has written.
    found = {key: one for key, one in silver.rows("parted").items() if key < 30}

    assert set(found) == set(range(30))
    assert found[4]["name"] == "new"
    assert {key: one["__kafka_partition"] for key, one in found.items()} == {
        key: key % 3 for key in range(30)
    }


@pytest.mark.soak
def test_a_refused_rebuild_changes_nothing_and_another_layout_wants_one(
    silver: Silver, topics: Topics
) -> None:
    topic = topic_of("respread")
    with pytest.raises(LabError, match="respread cannot be rebuilt: there is nothing in"):
        rebuild_table(silver.lab, "respread")
    assert "there is nothing in" in silver.status("respread")["rebuild_refused"]
    topics.write(topic, COLUMNS, [row(key, name="first") for key in range(20)])
    silver.has_taken("respread", 20)
    silver.is_in_bronze("respread", 20)
    with properties_of(silver.lab.project, "respread").open("a") as properties:
        properties.write(
            "hoodie.bucket.index.num.buckets=4\nhoodie.datasource.write.table.type=MERGE_ON_READ\n"
        )
    silver.kill("silver")

    stopped = silver.is_in_state("respread", "failed")

    for now in ("=1 and hoodie.datasource.write.table.type=COPY_ON_WRITE", "=4 and ", "rebuild"):
        assert now in stopped["error"]
    topics.write(topic, COLUMNS, [row(key, name="second", __op="u") for key in range(5)])
    silver.is_in_bronze("respread", 25)
    rebuild_table(silver.lab, "respread")
    silver.has_taken("respread", 25)
    topics.write(topic, COLUMNS, [row(7, name="third", __op="u")])
    silver.has_taken("respread", 26)

    names = ["second"] * 5 + ["first"] * 15
    names[7] = "third"
    assert {key: one["name"] for key, one in silver.rows("respread").items()} == dict(
        enumerate(names)
    )


def test_compaction_and_what_was_before_it(silver: Silver, topics: Topics) -> None:
    topic = topic_of("compacted")
    for n in range(10):
        topics.write(topic, COLUMNS, [row(key, name=f"v{n}") for key in range(5)])
        silver.has_taken("compacted", 5 * (n + 1))
        if n == 4:  # Not the fifth: records written together may be taken in by two commits.
            then = silver.instants("compacted", "deltacommit")[-1]
    silver.until(lambda: bool(silver.instants("compacted", "commit")), "a compaction has completed")

    assert {one["name"] for one in silver.rows("compacted").values()} == {"v9"}
    past = silver.rows("compacted", as_of=then)
    assert {one["name"] for one in past.values()} == {"v4"}


@pytest.mark.soak
def test_compaction_after_so_many_records_also_of_an_earlier_run(
    silver: Silver, topics: Topics
) -> None:
    topic, table = topic_of("compacted_by_records"), "compacted_by_records"

    def write(first: int, end: int) -> None:
        topics.write(topic, COLUMNS, [row(n % 5, name=f"v{n}") for n in range(first, end)])
        silver.has_taken(table, end)

    write(0, 5)  # Into base files: there is nothing to compact yet.
    write(5, 20)
    silver.until(lambda: len(silver.instants(table, "commit")) == 1, "20 records are compacted")
    write(20, 28)
    silver.kill("silver")
    write(28, 32)
    write(32, 40)
    silver.until(
        lambda: len(silver.instants(table, "commit")) == 2, "8, 4 and 8 more are compacted"
    )

    assert silver.instants(table, "commit")[1] > silver.instants(table, "deltacommit")[-1]
    assert sorted(one["name"] for one in silver.rows(table).values()) == [
        f"v{n}" for n in range(35, 40)
    ]
