"""The traits of Debezium's connector for PostgreSQL."""

from __future__ import annotations

from labctl.engines.postgres.postgres_slots import DEFAULT_SLOT
from labctl.sources.connector_traits import ConnectorTraits, ValueConverter

__all__ = ["CONNECTOR_TRAITS"]

CONNECTOR_TRAITS = ConnectorTraits(
    database_key="database.dbname",
    own_keys={"slot.name": DEFAULT_SLOT},
    converters=(
        ValueConverter(
            "numbers",
            "labctl.SpecialNumbers",
            "a numeric NaN or infinity would arrive as NULL",
            "decimal.handling.mode",
            frozenset({"precise"}),
        ),
        ValueConverter(
            "dates",
            "labctl.OldDates",
            "in the first load, the date 44 BC would arrive as AD 44, and in arrays always",
            "time.precision.mode",
            frozenset({"adaptive", "adaptive_time_microseconds"}),
        ),
        ValueConverter(
            "arrays",
            "labctl.DeepArrays",
            "an array of several dimensions would arrive as one of NULLs",
            told=("binary.handling.mode", "bytes"),
        ),
    ),
    names_read_as_bytes=True,
    refuses_case_twins=True,
    keeps_history=False,
    replaced={
        "plugin.name": ("decoderbufs", "pgoutput", "the decoder that PostgreSQL comes with"),
    },
    # The message goes on with what the server is doing: starting up, recovering, shutting down.
    passing_errors=("org.postgresql.util.PSQLException: FATAL: the database system is",),
)
