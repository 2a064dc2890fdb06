"""How a table is partitioned, by its properties: what is allowed, and what Hudi is told."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from lakehouse.errors import ConfigurationError

__all__ = [
    "COMPLEX",
    "FIELDS",
    "KEY_GENERATOR",
    "LAYOUT",
    "NONPARTITIONED",
    "SIMPLE",
    "key_generator",
    "partition_fields",
    "partition_options",
]

FIELDS = "hoodie.datasource.write.partitionpath.field"
KEY_GENERATOR = "hoodie.datasource.write.keygenerator.class"
LAYOUT = (
    "hoodie.datasource.write.hive_style_partitioning",
    "hoodie.datasource.write.partitionpath.urlencode",
)
"""Keys that are `true` for every table in partitions."""
_PACKAGE = "org.apache.hudi.keygen."
SIMPLE, COMPLEX = f"{_PACKAGE}SimpleKeyGenerator", f"{_PACKAGE}ComplexKeyGenerator"
NONPARTITIONED = f"{_PACKAGE}NonpartitionedKeyGenerator"
_INDEX = "hoodie.index.type"


def partition_fields(hoodie: Mapping[str, str]) -> tuple[str, ...]:
    """The columns that say in which partition a row is; none of a table in one piece."""
    return tuple(name.strip() for name in hoodie.get(FIELDS, "").split(",") if name.strip())


def key_generator(fields: Sequence[str], keys: Sequence[str]) -> str:
    """The class by which a table with these partition columns and key columns has partitions."""
    return SIMPLE if len(fields) == len(keys) == 1 else COMPLEX


def partition_options(
    hoodie: Mapping[str, str], keys: tuple[str, ...], place: Callable[[str], str]
) -> dict[str, str]:
    """What Hudi is told besides. Raises ConfigurationError, which `place` of a key begins.

    Each partition is a folder `column=value` with odd characters escaped: whatever a value is, `..`
    and `a/b` among them, it is the name of one folder, and of no other value's.
    """
    fields = partition_fields(hoodie)
    generator = hoodie.get(KEY_GENERATOR, "")
    if not fields:
        if generator in ("", NONPARTITIONED):
            return {}
        raise ConfigurationError(
            f"{place(KEY_GENERATOR)}: {KEY_GENERATOR}={generator} needs a column to go by",
            hint=f"Name it in {FIELDS}, or use {NONPARTITIONED}",
        )
    wanted = key_generator(fields, keys)
    if generator not in (wanted, COMPLEX):
        raise ConfigurationError(
            f"{place(FIELDS)}: {FIELDS}={','.join(fields)} has no effect with {KEY_GENERATOR}="
            f"{generator}",
            hint=f"Write {KEY_GENERATOR}={wanted}",
        )
    for key in LAYOUT:
        if hoodie.get(key, "true") != "true":
            raise ConfigurationError(
                f"{place(key)}: {key}={hoodie[key]} is not supported: values such as `..` or `a/b` "
                "would not be the name of a folder",
                hint="Remove the line: the application sets it to true",
            )
    if (index := hoodie.get(_INDEX, "BUCKET")) != "BUCKET":
        raise ConfigurationError(
            f"{place(_INDEX)}: {_INDEX}={index} is not supported for a table in partitions",
            hint=f"Write {_INDEX}=BUCKET: the application moves a row whose partition changes",
        )
    return dict.fromkeys(LAYOUT, "true")
