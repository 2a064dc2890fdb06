"""Where a record says which schema it was written with, and where its Avro begins.

Two forms, told apart record by record, so that a topic may change from one to the other:

- Apicurio's: a header has the schema's global id, eight bytes, and the content is bare Avro;
- Confluent's, where there is no such header: a zero byte, the same id in four bytes, and the Avro.
"""

from __future__ import annotations

__all__ = [
    "KEY_HEADER",
    "NO_SCHEMA",
    "SCHEMA_ID_BYTES",
    "VALUE_BODY_SQL",
    "VALUE_HEADER",
    "VALUE_HEADER_SQL",
    "VALUE_SCHEMA_SQL",
    "split",
]

KEY_HEADER = "apicurio.key.globalId"
VALUE_HEADER = "apicurio.value.globalId"
SCHEMA_ID_BYTES = 8
"""Big-endian."""
_MAGIC = b"\x00"
_SHORT_BYTES = 4
_PREFIX_BYTES = len(_MAGIC) + _SHORT_BYTES
_HIGH_BYTES = bytes(SCHEMA_ID_BYTES - _SHORT_BYTES)

NO_SCHEMA = (
    f"it has no {VALUE_HEADER} header of eight bytes, nor does it begin as Confluent's format does"
)
"""Why a value cannot be read that is in neither form."""


def split(header: bytes | None, content: bytes) -> tuple[bytes | None, bytes]:
    """The schema's id, of eight bytes, and the Avro of a key or a value.

    `header` is that of the key or of the value; it is the id as it is, even when it is not of eight
    bytes. The id is None when the content names none either.
    """
    if header is not None or len(content) < _PREFIX_BYTES or not content.startswith(_MAGIC):
        return header, content
    return _HIGH_BYTES + content[len(_MAGIC) : _PREFIX_BYTES], content[_PREFIX_BYTES:]


# The same in Spark SQL, from the columns `headers` and `value` of the Kafka source. What a record
# in Apicurio's form costs more is to look whether its header is null.
VALUE_HEADER_SQL = f"element_at(filter(headers, h -> h.key = '{VALUE_HEADER}'), -1).value"
VALUE_SCHEMA_SQL = (
    f"coalesce({VALUE_HEADER_SQL}, IF(length(value) >= {_PREFIX_BYTES} AND "
    f"substring(value, 1, {len(_MAGIC)}) = X'{_MAGIC.hex()}', concat(X'{_HIGH_BYTES.hex()}', "
    f"substring(value, {len(_MAGIC) + 1}, {_SHORT_BYTES})), NULL))"
)
VALUE_BODY_SQL = f"IF({VALUE_HEADER_SQL} IS NULL, substring(value, {_PREFIX_BYTES + 1}), value)"
"""Only of a value that has a schema by `VALUE_SCHEMA_SQL`."""
