"""Bronze as a source."""

from __future__ import annotations

from typing import Any

import pytest

from labctl.errors import LabError
from labctl.lab.tables.bronze_folders import lab_bronze
from labctl.lab.tables.table_rebuild import rebuild_table
from labctl.lab.tables.table_requests import refill_table
from labctl.lake.bronze_check import check_bronze
from tests.integration.spark.change_records import Topics, column, nullable
from tests.integration.spark.conftest import Silver, topic_of

pytestmark = pytest.mark.long

COLUMNS = [column("id", "int"), column("name", nullable("string"))]
DAY_MS = 86_400_000
SUMMER = 1_720_000_000_000


def content(silver: Silver, table: str, lake: str = "silver") -> dict[Any, dict[str, Any]]:
    return silver.rows(table, lake=lake)


def test_files_are_taken_in_the_order_of_offsets_whatever_day_they_lie_in(
    silver: Silver, topics: Topics
) -> None:
    topic = topic_of("daily")
    before = int(silver.status("daily")["offsets"].get("0", 0))
    known = silver.objects(f"topics/{topic}/")
    for day in (3, 1, 2, 0):
        rows = [{"id": 500, "name": f"day {day}"}]
        topics.write(topic, COLUMNS, rows, timestamp_ms=SUMMER + day * DAY_MS)
    silver.is_in_bronze("daily", before + 4)
    files = set(silver.objects(f"topics/{topic}/")).difference(known)
    assert len({name.rsplit("/", 1)[0] for name in files}) == 4

    silver.run_once("daily", source="bronze", target="by-day")

    assert content(silver, "daily", "by-day")[500]["name"] == "day 0"


@pytest.mark.soak
def test_a_bad_row_among_those_that_follow_is_put_aside_and_no_other(
    silver: Silver, topics: Topics
) -> None:
    topic = topic_of("later")
    columns = [column("id", nullable("int")), column("name", nullable("string"))]
    batches: list[list[int | None]] = [[1], [2], [None, 3]]
    for offset, ids in enumerate(batches):
        topics.write(topic, columns, [{"id": number, "name": "row"} for number in ids])
        silver.is_in_bronze("later", offset + len(ids))
        # The first run looks through the files, the second does not, the third finds that it must.
        silver.run_once("later", source="bronze", target="later-on")

    assert set(content(silver, "later", "later-on")) == {1, 2, 3}
    assert [name.rsplit("/", 1)[1] for name in silver.objects(f"deadletter/{topic}/")] == [
        f"{topic}+0+0000000002.json"
    ]


@pytest.mark.soak
def test_files_by_value_have_every_record_once_though_the_writer_was_killed(
    silver: Silver, topics: Topics
) -> None:
    """The folders' names are any text; each partition has files in several open at a time."""
    topic = topic_of("by_value")
    columns = [column("id", "int"), column("nationality", nullable("string"))]
    values = ["American", None, "Ivorian/Malian [1] 100%?*", "Čeština", "a=b:c {x}", ""]
    rows = [{"id": n % 40, "nationality": values[n * 7 % 6]} for n in range(300)]
    topics.write(topic, columns, rows[:150])
    silver.until(lambda: bool(silver.objects(f"raw/{topic}/")), "a file is there")
    silver.kill("silver")
    topics.write(topic, columns, rows[150:])
    silver.is_in_bronze("by_value", len(rows))

    bronze = lab_bronze(silver.lab)
    assert check_bronze(bronze, topic) == []
    found = {
        record.offset: one.folder for one in bronze.objects(topic) for record in bronze.read(one)
    }
    names = [row["nationality"] or ("null" if row["nationality"] is None else "") for row in rows]
    assert found == {n: f"raw/{topic}/nationality={name}" for n, name in enumerate(names)}

    last = {row["id"]: row["nationality"] for row in rows}
    silver.run_once("by_value", source="bronze", target="by-value")
    written = content(silver, "by_value", "by-value")
    assert {key: row["nationality"] for key, row in written.items()} == last
    rebuild_table(silver.lab, "by_value")
    written = content(silver, "by_value")
    assert {key: row["nationality"] for key, row in written.items()} == last


def test_files_by_partition(silver: Silver, topics: Topics) -> None:
    topic = topic_of("parted")
    ends = {
        number: int(silver.status("parted")["offsets"].get(str(number), 0)) for number in range(3)
    }
    for number, end in ends.items():
        topics.write(topic, COLUMNS, [{"id": 900 + number, "name": "x"}], partition=number)
        silver.is_in_bronze("parted", end + 1, number)
    names = {name.rsplit("/", 1)[0] for name in silver.objects(f"topics/{topic}/")}
    assert names == {f"topics/{topic}/partition={number}" for number in range(3)}
    assert check_bronze(lab_bronze(silver.lab), topic) == []


def test_after_the_retention_a_table_is_rebuilt_from_its_topic_alone(
    silver: Silver, topics: Topics
) -> None:
    topic = topic_of("aged")
    for number in range(3):
        topics.write(topic, COLUMNS, [{"id": number, "name": "x"}])
        silver.is_in_bronze("aged", number + 1)
    bronze = lab_bronze(silver.lab)
    assert [one.start_offset for one in sorted(bronze.objects(topic))] == [0, 1, 2]

    # It starts later than a second after the last file was written.
    silver.run_once("aged", source="bronze", target="aged-lake", retention_seconds=1)

    assert set(content(silver, "aged", "aged-lake")) == {0, 1, 2}
    assert [one.start_offset for one in sorted(bronze.objects(topic))] == [2]
    assert check_bronze(bronze, topic) == []
    with pytest.raises(LabError, match="bronze begins at offset 2 of partition 0"):
        rebuild_table(silver.lab, "aged")

    refill_table(silver.lab, "aged")

    silver.until(
        lambda: (
            bronze.beginning(topic) is None and any(silver.objects(f"topics/{topic}/").values())
        ),
        "bronze is written again",
    )
    silver.is_in_bronze("aged", 3)
    rebuild_table(silver.lab, "aged")
    assert set(content(silver, "aged")) == {0, 1, 2}
