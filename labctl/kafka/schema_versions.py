"""Versions of the schemas of topics' values, as the registry has them, and what each changed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import requests

from labctl.errors import ExitCode, LabError
from labctl.lake.schemas import Schemas

if TYPE_CHECKING:
    from labctl.config.endpoints import Registry

__all__ = ["SchemaVersion", "SchemaVersions", "changes", "field_types"]

_SECONDS = 10
_MOST = 500


@dataclass(frozen=True)
class SchemaVersion:
    """A version of a schema."""

    version: int
    global_id: int
    created: datetime
    fields: Mapping[str, str]
    """Type of each field, by its name."""
    changes: tuple[str, ...]
    """Fields that the version before it did not have, had, or had with another type."""


class SchemaVersions:
    """Reader of the versions."""

    def __init__(self, registry: Registry) -> None:
        self._url = registry.url.rstrip("/")
        self._schemas = Schemas(registry)

    def of_topic(self, topic: str) -> list[SchemaVersion]:
        """Return the versions of a topic's values, newest first.

        Raises LabError: the registry has none (USAGE), or does not answer (NOT_READY).
        """
        found: list[SchemaVersion] = []
        before: Mapping[str, str] | None = None
        for entry in sorted(self._entries(topic), key=lambda one: int(one["globalId"])):
            fields = field_types(self._schemas.schema(int(entry["globalId"])))
            found.append(
                SchemaVersion(
                    int(entry["version"]),
                    int(entry["globalId"]),
                    datetime.fromisoformat(entry["createdOn"]).astimezone(UTC),
                    fields,
                    () if before is None else changes(before, fields),
                )
            )
            before = fields
        return found[::-1]

    def _entries(self, topic: str) -> list[dict[str, Any]]:
        name = quote(f"{topic}-value", safe="")
        url = f"{self._url}/apis/registry/v2/groups/default/artifacts/{name}/versions"
        try:
            response = requests.get(url, params={"limit": _MOST}, timeout=_SECONDS)
            if response.status_code == requests.codes.not_found:
                raise LabError(
                    f"The registry has no schema for the values of {topic}",
                    hint="labctl topics list; a topic without a record has none yet",
                    exit_code=ExitCode.USAGE,
                )
            response.raise_for_status()
            entries: list[dict[str, Any]] = response.json()["versions"]
            return entries
        except requests.RequestException as error:
            raise LabError(
                f"The registry did not say which schemas {topic} has had: {error}",
                hint="labctl status",
                exit_code=ExitCode.NOT_READY,
            ) from None


def field_types(schema: Any) -> dict[str, str]:
    """Return the type of each field of an Avro record, as text."""
    fields = schema.get("fields", ()) if isinstance(schema, dict) else ()
    return {field["name"]: _type(field["type"]) for field in fields}


def changes(before: Mapping[str, str], after: Mapping[str, str]) -> tuple[str, ...]:
    """Return what `after` has that `before` had not, the other way round, and other types."""
    return (
        *(f"+ {name}: {kind}" for name, kind in after.items() if name not in before),
        *(f"- {name}: {kind}" for name, kind in before.items() if name not in after),
        *(
            f"{name}: {before[name]} → {kind}"
            for name, kind in after.items()
            if before.get(name, kind) != kind
        ),
    )


def _type(kind: Any) -> str:
    if isinstance(kind, list):
        return " or ".join(_type(one) for one in kind)
    if not isinstance(kind, dict):
        return str(kind)
    name = _last(kind.get("connect.name") or kind.get("name", ""))
    parameters = kind.get("connect.parameters", {})
    if "scale" in parameters:
        return f"{name}({parameters.get('connect.decimal.precision', '?')},{parameters['scale']})"
    if kind["type"] == "array":
        items = _type(kind["items"])
        return f"({items})[]" if " or " in items else f"{items}[]"
    return name or _type(kind["type"])


def _last(name: str) -> str:
    return name.rpartition(".")[2]
