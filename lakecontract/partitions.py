"""Partitioning of a table by its properties: the allowed values, and Hudi's options."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from lakecontract.errors import ConfigurationError

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
    """Return the columns that define a row's partition; none for an unpartitioned table."""
    return tuple(name.strip() for name in hoodie.get(FIELDS, "").split(",") if name.strip())


def key_generator(fields: Sequence[str], keys: Sequence[str]) -> str:
    """Return the key generator for a table with these partition columns and key columns."""
    return SIMPLE if len(fields) == len(keys) == 1 else COMPLEX


def partition_options(
    hoodie: Mapping[str, str], keys: tuple[str, ...], place: Callable[[str], str]
) -> dict[str, str]:
    """Return Hudi's further options. Raises ConfigurationError with the `place` of the key.

    Each partition is a folder `column=value` with special characters escaped. Every value, even
    `..` and `a/b`, is the name of one folder that no other value has.
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
