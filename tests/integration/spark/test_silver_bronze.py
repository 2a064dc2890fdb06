"""Bronze as a source."""

from __future__ import annotations

from typing import Any

from tests.integration.spark.change_records import Topics, column, nullable
from tests.integration.spark.conftest import Silver, topic_of

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
    for n, day in enumerate([3, 1, 2, 0]):
        rows = [{"id": 500, "name": f"day {day}"}]
        topics.write(topic, COLUMNS, rows, timestamp_ms=SUMMER + day * DAY_MS)
        silver.is_in_bronze("daily", before + n + 1)

    silver.run_once("daily", source="bronze", target="by-day")

    assert content(silver, "daily", "by-day")[500]["name"] == "day 0"


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
