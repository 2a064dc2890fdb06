"""Dead letters, put into their table after all, once the cause is fixed."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from pyspark import StorageLevel
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f

from lakecontract.errors import PermanentError
from lakehouse.deadletter import DeadLetters
from lakehouse.decode import FLAG_BAD, Decoder, Undecodable
from lakehouse.kafka import RECORD, Kafka
from lakehouse.progress import now
from lakehouse.table_batch import summarize
from lakehouse.table_ingestion import TableWriter

__all__ = ["Replay", "overtaken"]

_log = logging.getLogger(__name__)


class Replay:
    """A replay of one topic's letters into a table, each at its own place in the order.

    A row that the table has from a later record stays, because it has the higher offset. A table
    with hard deletes does not remember deletes, so the topic is searched for later records.
    """

    def __init__(
        self,
        spark: SparkSession,
        kafka: Kafka,
        decoder: Decoder,
        writer: TableWriter,
        dead_letters: DeadLetters,
    ) -> None:
        self._spark = spark
        self._kafka = kafka
        self._decoder = decoder
        self._writer = writer
        self._dead_letters = dead_letters

    def run(self, *, put_away: bool) -> Mapping[str, Any]:
        """Replay the waiting letters. Return how many are ingested, overtaken and still bad.

        Without `put_away` they continue to wait, for another table.
        """
        letters = self._dead_letters.waiting(self._writer.table.config.topic)
        result: dict[str, Any] = {"at": now(), "ingested": 0, "overtaken": 0, "error": None}
        try:
            # A TRUNCATE follows these letters. The topic had only its first partition then;
            # otherwise the TRUNCATE would be a letter itself.
            end = self._writer.truncated
            gone = [one for one in letters if one.partition == 0 and one.offset < end]
            late = gone + self._overtaken([one for one in letters if one not in gone])
            good = self._ingest([one for one in letters if one not in late])
            if put_away:
                self._dead_letters.replayed([*good, *late])
            result |= {"ingested": len(good), "overtaken": len(late)}
        except PermanentError as error:
            # The table itself is sound, and continues without the letters.
            result["error"] = str(error)
        result["still_bad"] = len(letters) - result["ingested"] - result["overtaken"]
        _log.info("%s: replayed dead letters: %s", self._writer.table.config.name, result)
        return result

    def _ingest(self, letters: Sequence[Undecodable]) -> list[Undecodable]:
        """Commit the `letters` that can be decoded now; write the reasons for the others."""
        if not letters:
            return []
        records = self._records(letters)
        ids = self._decoder.schema_ids(records, of_all=True)
        target = self._writer.schema_with(self._decoder.columns(ids))
        rows = self._decoder.decode(records, ids, target)
        rows = rows.persist(StorageLevel.MEMORY_AND_DISK_DESER)
        try:
            parts = summarize(rows)
            bad = self._decoder.explain(records, rows.where(FLAG_BAD))
            self._dead_letters.write(bad)
            count = sum(part.rows - part.bad for part in parts)
            self._writer.take_back(rows.where(f"NOT {FLAG_BAD}"), count)
        finally:
            rows.unpersist()
        places = {(one.partition, one.offset) for one in bad}
        return [one for one in letters if (one.partition, one.offset) not in places]

    def _records(self, letters: Sequence[Undecodable]) -> DataFrame:
        """Return the letters as the Kafka source had them."""
        return self._spark.createDataFrame(
            [
                (
                    one.key,
                    one.value,
                    one.topic,
                    one.partition,
                    one.offset,
                    datetime.fromtimestamp(one.timestamp_ms / 1000, UTC),
                    0,
                    list(one.headers),
                )
                for one in letters
            ],
            RECORD,
        )

    def _overtaken(self, letters: Sequence[Undecodable]) -> list[Undecodable]:
        """Return letters that a later record of their key follows, if the table cannot tell."""
        config = self._writer.table.config
        if config.deletes == "soft" or not letters:
            return []
        partitions = sorted({one.partition for one in letters})
        first = {n: min(one.offset for one in letters if one.partition == n) for n in partitions}
        for number, earliest in self._kafka.earliest({config.topic: partitions})[
            config.topic
        ].items():
            if earliest > first[number] + 1:
                raise PermanentError(
                    f"Kafka no longer has all that came after the letters of {config.name}, and "
                    "the table does not remember its deletes: a row could come back that is gone",
                    hint=f"Write the table again from its connector's new snapshot: "
                    f"labctl table rebuild {config.name} --from-topic",
                )
        taken = self._writer.next_offsets
        spans = {n: range(first[n] + 1, max(taken.get(n, 0), first[n] + 1)) for n in partitions}
        keys = sorted({one.key for one in letters if one.key is not None})
        wanted = self._spark.createDataFrame([(key,) for key in keys], "key binary")
        own = {(one.partition, one.offset) for one in letters}
        later = (
            self._kafka.read({config.topic: {n: span for n, span in spans.items() if span}})
            .join(wanted, "key", "left_semi")
            .select("partition", "offset", f.col("key"))
            .collect()
        )
        return overtaken(
            letters,
            [
                (row.partition, row.offset, bytes(row.key))
                for row in later
                if (row.partition, row.offset) not in own
            ],
        )


def overtaken(
    letters: Sequence[Undecodable], later: Sequence[tuple[int, int, bytes]]
) -> list[Undecodable]:
    """Return those of `letters` that a record in `later` (partition, offset, key) follows."""
    last: dict[tuple[int, bytes], int] = {}
    for partition, offset, key in later:
        last[partition, key] = max(offset, last.get((partition, key), -1))
    return [
        one
        for one in letters
        if one.key is not None and last.get((one.partition, one.key), -1) > one.offset
    ]
