"""Bronze: every record of every topic, exactly once, as files anyone can read."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

import fastavro
import pytest

from labctl.config.endpoints import Endpoints
from labctl.lab.lab import Lab
from labctl.lake.bronze_records import Bronze
from labctl.sources import Source
from labctl.testing.eventually import Eventually
from tests.e2e.bronze_check import check_bronze

TOPICS = (
    "tickit.ems.category",
    "tickit.ems.venue",
    "tickit.ems.event",
    "tickit.ecomm.date",
    "tickit.ecomm.listing",
    "tickit.ecomm.sale",
    "tickit.ems.everything",
    "tickit.ecomm.everything",
)


@pytest.mark.parametrize("topic", TOPICS)
def test_every_record_is_there_once(
    topic: str, endpoints: Endpoints, eventually: Eventually
) -> None:
    def complete() -> bool:
        check_bronze(endpoints, topic)
        return True

    eventually(complete)


def test_no_topic_is_left_out(endpoints: Endpoints, lab: Lab) -> None:
    assert set(Bronze(endpoints.objectstore).topics()) >= {table.topic for table in lab.tables}


def test_a_change_is_in_bronze_as_it_was_in_the_topic(
    source: Callable[[str], Source],
    endpoints: Endpoints,
    eventually: Eventually,
    new_key: Callable[[], int],
) -> None:
    key = new_key()
    source("mysql").execute(
        "INSERT INTO ecomm.sale VALUES (%s, 1, 2, 3, 4, 1827, 5, 67.89, NULL, %s)",
        (key, "2008-02-29 12:34:56.000001"),
    )
    bronze = Bronze(endpoints.objectstore)
    (record,) = eventually(
        lambda: bronze.find("tickit.ecomm.sale", {"salesid": key}), row=("sale", {"salesid": key})
    )
    value = record.value
    assert (value["__op"], value["__table"], value["__deleted"]) == ("c", "sale", "false")
    assert (str(value["pricepaid"]), value["commission"]) == ("67.89", None)
    assert (value["__kafka_offset"], value["__kafka_partition"]) == (
        record.offset,
        record.partition,
    )
    content = io.BytesIO(bronze.storage.read_bytes(str(record.file)))
    plain: list[Any] = list(fastavro.reader(content))
    assert [row["saletime"] for row in plain if row["salesid"] == key] == [1204288496000001]
