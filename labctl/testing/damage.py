"""Kinds of damage to what a lab has stored, and the functions that do the damage.

All but one use the services' own interfaces, as a mistaken script would, and so work in every
runtime. The exception flips a byte on the object store's disk, which has to be this machine's.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum

import psycopg2

from labctl.errors import ExitCode, LabError
from labctl.kafka.offsets import delete_records
from labctl.kafkaconnect.connector_files import ConnectorFile
from labctl.kafkaconnect.opening import connect_client
from labctl.lab.connectors.source_files import source_files
from labctl.lab.lab import Lab
from labctl.lab.tables.bronze_folders import lab_bronze
from labctl.lake import Lake
from labctl.lake.objectstore import s3_client
from labctl.services import objectstore_service, registry_service
from labctl.services.state_database import STATE_SERVICE
from labctl.sources.connector_traits import HISTORY_TOPIC
from labctl.tables import LabTable

__all__ = ["Damage", "corrupt"]


class Damage(StrEnum):
    """A kind of damage to one table, or to the connector that captures it."""

    BRONZE_FILE = "bronze-file"
    """The end of its newest bronze file is cut off."""
    BASE_FILE = "base-file"
    """The silver table's newest base file is gone."""
    LOG_FILE = "log-file"
    """A bit of the silver table's newest log file is flipped on the disk (native runtime only)."""
    SCHEMA = "schema"
    """The registry has forgotten the schemas of its topic's values."""
    OFFSETS = "offsets"
    """Kafka Connect has forgotten how far its connector had read."""
    SCHEMA_HISTORY = "schema-history"
    """The topic is empty in which its connector keeps the history of table schemas."""
    RECORDS = "records"
    """The records of its topic are gone."""


def corrupt(lab: Lab, damage: Damage, table: str) -> str:
    """Do `damage` to a table and return what was hit: an object, topic, artifact or connector.

    Raise LabError (USAGE) when the table has nothing of that kind.
    """
    return _HOW[damage](lab, lab.table(table))


def _cut_bronze_file(lab: Lab, table: LabTable) -> str:
    newest = max(lab_bronze(lab).objects(table.topic))
    content = _read(lab, newest.path)
    _write(lab, newest.path, content[: len(content) - len(content) // 3 - 1])
    return newest.path


def _remove_base_file(lab: Lab, table: LabTable) -> str:
    path = _last_file(lab, table, ".parquet")
    s3_client(lab.endpoints.objectstore).delete_object(
        Bucket=lab.endpoints.objectstore.bucket, Key=path
    )
    return path


def _flip_byte(lab: Lab, table: LabTable) -> str:
    """Flip a bit on the object store's disk: a write through the store would renew the checksum."""
    path = _last_file(lab, table, ".log.")
    folder = lab.context(lab.service(objectstore_service.SERVICE.name)).data
    files = [
        file
        for file in (folder / lab.endpoints.objectstore.bucket / path).rglob("*")
        if file.is_file()
    ]
    if not files:
        raise LabError(
            "The object store's disk is not this machine's, so no byte of it can be flipped",
            hint="Use a lab of a native profile",
            exit_code=ExitCode.USAGE,
        )
    largest = max(files, key=lambda file: file.stat().st_size)
    content = bytearray(largest.read_bytes())
    content[len(content) * 3 // 4] ^= 0x20
    largest.write_bytes(bytes(content))
    return path


def _delete_schemas(lab: Lab, table: LabTable) -> str:
    """Delete schemas from the registry's database: its own interface is set to delete nothing."""
    server, artifact = lab.endpoints.servers.get(STATE_SERVICE), f"{table.topic}-value"
    if server is None:
        raise _nothing("registry's database", table)
    connection = psycopg2.connect(
        host=server.host,
        port=server.port,
        user=server.user,
        password=server.password.get_secret_value(),
        dbname=registry_service.SERVICE.name,
    )
    try:
        with connection, connection.cursor() as cursor:
            cursor.execute("DELETE FROM versions WHERE artifactid = %s", (artifact,))
            cursor.execute("DELETE FROM artifacts WHERE artifactid = %s", (artifact,))
            if not cursor.rowcount:
                raise _nothing("schema in the registry", table)
    finally:
        connection.close()
    return artifact


def _forget_offsets(lab: Lab, table: LabTable) -> str:
    client, name = connect_client(lab.endpoints.connect), _connector(lab, table).name
    client.forget_offsets(name)
    client.act(name, "resume")
    return name


def _forget_schema_history(lab: Lab, table: LabTable) -> str:
    """Empty the topic of the schema history. The connector notices when it is restarted."""
    connector = _connector(lab, table)
    topic = connector.config.get(HISTORY_TOPIC)
    if topic is None:
        raise _nothing("connector with a schema history", table)
    delete_records(lab.endpoints.kafka, [topic])
    return topic


def _lose_records(lab: Lab, table: LabTable) -> str:
    delete_records(lab.endpoints.kafka, [table.topic])
    return table.topic


def _last_file(lab: Lab, table: LabTable, mark: str) -> str:
    """Return the silver table's newest file with `mark` in its name, by its commits."""
    silver = Lake(lab.endpoints.objectstore).table(table.name)
    for name, path in silver.last_files().items():
        if mark in name:
            return path or f"{silver.path}/{name}"
    raise _nothing(f"file with {mark} in its name in silver", table)


def _read(lab: Lab, path: str) -> bytes:
    store = lab.endpoints.objectstore
    return s3_client(store).get_object(Bucket=store.bucket, Key=path)["Body"].read()


def _write(lab: Lab, path: str, content: bytes) -> None:
    store = lab.endpoints.objectstore
    s3_client(store).put_object(Bucket=store.bucket, Key=path, Body=content)


def _connector(lab: Lab, table: LabTable) -> ConnectorFile:
    name = lab.config.sources[table.source].connector
    return next(file for file in source_files(lab) if file.name == name)


def _nothing(what: str, table: LabTable) -> LabError:
    return LabError(
        f"There is no {what} of {table.name} to be damaged",
        hint="a file of that kind is there once rows were written that way",
        exit_code=ExitCode.USAGE,
    )


_HOW: dict[Damage, Callable[[Lab, LabTable], str]] = {
    Damage.BRONZE_FILE: _cut_bronze_file,
    Damage.BASE_FILE: _remove_base_file,
    Damage.LOG_FILE: _flip_byte,
    Damage.SCHEMA: _delete_schemas,
    Damage.OFFSETS: _forget_offsets,
    Damage.SCHEMA_HISTORY: _forget_schema_history,
    Damage.RECORDS: _lose_records,
}
