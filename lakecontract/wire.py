"""The place of a record's schema id, and the beginning of its Avro.

There are two forms. Each record shows which one it has, so that a topic may change its form:

- Apicurio's: a header has the schema's global id, eight bytes, and the content is bare Avro;
- Confluent's, where there is no such header: a zero byte, the same id in four bytes, and the Avro.
"""

from __future__ import annotations

__all__ = [
    "KEY_HEADER",
    "NO_SCHEMA",
    "PREFIX_BYTES",
    "SCHEMA_ID_BYTES",
    "VALUE_HEADER",
    "VALUE_HEADER_SQL",
    "VALUE_TAG_SQL",
    "body_sql",
    "has_tag_sql",
    "schema_id_of",
    "split",
    "tag_is_known_sql",
]

KEY_HEADER = "apicurio.key.globalId"
VALUE_HEADER = "apicurio.value.globalId"
SCHEMA_ID_BYTES = 8
"""Length of a schema id, which is big-endian."""
_MAGIC = b"\x00"
_SHORT_BYTES = 4
PREFIX_BYTES = len(_MAGIC) + _SHORT_BYTES
_HIGH_BYTES = bytes(SCHEMA_ID_BYTES - _SHORT_BYTES)

NO_SCHEMA = (
    f"it has no {VALUE_HEADER} header of eight bytes, nor does it begin as Confluent's format does"
)
"""Reason why a value that is in neither form cannot be read."""


def split(header: bytes | None, content: bytes) -> tuple[bytes | None, bytes]:
    """Return the schema's id, of eight bytes, and the Avro of a key or a value.

    `header` is that of the key or of the value. It is returned as the id, even if it does not have
    eight bytes. The id is None when the content names none either.
    """
    if header is not None or len(content) < PREFIX_BYTES or not content.startswith(_MAGIC):
        return header, content
    return _HIGH_BYTES + content[len(_MAGIC) : PREFIX_BYTES], content[PREFIX_BYTES:]


# The same in Spark SQL, from the columns `headers` and `value` of the Kafka source. A record's tag
# is its header, or the first five bytes of its value. Records with one tag have one schema and one
# form, so that the plan decides per tag where the Avro begins: not again for each record.
VALUE_HEADER_SQL = f"element_at(filter(headers, h -> h.key = '{VALUE_HEADER}'), -1).value"
VALUE_TAG_SQL = f"coalesce({VALUE_HEADER_SQL}, substring(value, 1, {PREFIX_BYTES}))"


def schema_id_of(tag: bytes) -> bytes | None:
    """Return the schema's id, of eight bytes, that a tag names; None when it names none.

    A header of five bytes that look like a prefix is taken for one: no converter writes any.
    """
    if len(tag) == SCHEMA_ID_BYTES:
        return tag
    return split(None, tag)[0] if len(tag) == PREFIX_BYTES else None


def tag_is_known_sql(column: str) -> str:
    """Return Spark SQL for whether the tag in `column` names a schema (see `schema_id_of`)."""
    prefix = f"substring({column}, 1, {len(_MAGIC)}) = X'{_MAGIC.hex()}'"
    return (
        f"(length({column}) = {SCHEMA_ID_BYTES} OR length({column}) = {PREFIX_BYTES} AND {prefix})"
    )


def has_tag_sql(tag: bytes) -> str:
    """Return Spark SQL for whether a record has this tag. No prefix is as long as an id."""
    found = VALUE_HEADER_SQL if len(tag) == SCHEMA_ID_BYTES else VALUE_TAG_SQL
    return f"{found} = X'{tag.hex()}'"


def body_sql(tag: bytes) -> str:
    """Return Spark SQL of the Avro in a record of this tag."""
    return "value" if len(tag) == SCHEMA_ID_BYTES else f"substring(value, {PREFIX_BYTES + 1})"
