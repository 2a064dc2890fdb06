"""A connector's converters, which use Avro with the lab's own registry."""

from __future__ import annotations

from labctl.importing.edits import Edits
from lakecontract.references import reference

__all__ = ["use_registry"]

_APICURIO = "io.apicurio.registry.utils.converter.AvroConverter"
_CONFLUENT = "io.confluent.connect.avro.AvroConverter"
_PATH = "/apis/registry/v2"


def use_registry(edits: Edits) -> None:
    """Set the converters of keys and values to Avro with schemas in the lab's registry."""
    for side in ("key", "value"):
        converter = f"{side}.converter"
        if edits.config.get(converter) == _CONFLUENT:
            _from_confluent(edits, converter)
        if edits.config.get(converter) != _APICURIO:
            edits.refuse(
                converter,
                f'silver reads Avro, with schemas of Apicurio Registry; write "{converter}": '
                f'"{_APICURIO}"',
            )
            continue
        url = f"{converter}.apicurio.registry.url"
        edits.set(url, reference("demo/registry", "url") + _PATH, "the lab's own")
        if "connector.class" in edits.config and not _reads(edits):
            register = f"{converter}.apicurio.registry.auto-register"
            if edits.config.get(register) != "true":
                edits.set(register, "true", "nobody else registers the schemas of a lab")


def _reads(edits: Edits) -> bool:
    return edits.config["connector.class"].startswith("io.confluent.")


def _from_confluent(edits: Edits, converter: str) -> None:
    """Use Apicurio's converter in Confluent's format, which puts a 4-byte id before the Avro."""
    edits.set(converter, _APICURIO, "Confluent's is in no package registry; this writes its form")
    for key in list(edits.config):
        if not key.startswith(f"{converter}.") or ".apicurio." in key:
            continue
        part = key.removeprefix(f"{converter}.")
        if part == "schema.registry.url":
            edits.remove(key, "the registry's address has another key")
        elif part in ("auto.register.schemas", "use.latest.version", "schemas.enable"):
            edits.remove(key, "Apicurio's converter registers what it writes")
        elif part.startswith(("basic.auth.", "schema.registry.")):
            edits.remove(key, "the lab's registry asks for no login")
        elif part in ("enhanced.avro.schema.support", "connect.meta.data", "schemas.cache.config"):
            edits.remove(key, "Apicurio's converter always keeps the names of types")
        else:
            edits.refuse(key, "Apicurio's converter has no such setting; remove it")
    if not _reads(edits):
        edits.set(f"{converter}.apicurio.registry.as-confluent", "true", "Confluent's form")
        edits.set(f"{converter}.apicurio.registry.headers.enabled", "false", "Confluent's form")
