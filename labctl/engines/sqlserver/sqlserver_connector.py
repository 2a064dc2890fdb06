"""The traits of Debezium's connector for SQL Server."""

from __future__ import annotations

from labctl.sources.connector_traits import HISTORY_TOPIC, ConnectorTraits, ValueConverter

__all__ = ["CONNECTOR_TRAITS"]

_EXCEPTION = "com.microsoft.sqlserver.jdbc.SQLServerException: "

CONNECTOR_TRAITS = ConnectorTraits(
    database_key="database.names",
    own_keys={HISTORY_TOPIC: None},
    unlisted_keys=frozenset({"schema.include.list", "schema.exclude.list"}),
    converters=(
        ValueConverter(
            "numbers",
            "labctl.SpecialNumbers",
            "the connector would fail when a decimal's scale changes",
            "decimal.handling.mode",
            frozenset({"precise"}),
        ),
    ),
    # It does not allow TRUNCATE of a table with change data capture.
    sees_truncate=False,
    trust=("trustServerCertificate", "no authority has signed the lab's certificate"),
    passing_errors=(
        # The server is starting; and the stand-in, while its PostgreSQL is out of reach.
        f"{_EXCEPTION}SQL Server is not ready to accept new client",
        # The driver reports the cause only in the message.
        f"{_EXCEPTION}The TCP/IP connection to the host",
        f"{_EXCEPTION}SQL Server did not return a response.",
        f"{_EXCEPTION}The connection is closed.",
        f"{_EXCEPTION}Connection reset",
    ),
)
