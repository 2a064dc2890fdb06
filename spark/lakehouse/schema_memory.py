"""Every schema that records were decoded with, kept in the lake in case the registry loses it."""

from __future__ import annotations

import logging
from typing import Protocol

from lakecontract.errors import UnusableSchemaError
from lakehouse.storage import LakeFiles

__all__ = ["LakeSchemas", "SchemaMemory"]

_log = logging.getLogger(__name__)


class SchemaMemory(Protocol):
    """Schemas by global id, which outlive the application."""

    def recall(self, global_id: int) -> str | None:
        """Return the schema as it was kept; None when it was not."""

    def keep(self, global_id: int, schema: str) -> None:
        """Keep a schema. Raises UnusableSchemaError if another one was kept under that id."""


class LakeSchemas:
    """A `SchemaMemory` with one object per schema."""

    def __init__(self, storage: LakeFiles, folder: str) -> None:
        self._storage = storage
        self._folder = folder

    def recall(self, global_id: int) -> str | None:
        path = self._path(global_id)
        if not self._storage.exists(path):
            return None
        _log.warning("the registry has lost schema %d: taken from %s", global_id, path)
        return self._storage.read(path).decode("utf-8")

    def keep(self, global_id: int, schema: str) -> None:
        path = self._path(global_id)
        if not self._storage.exists(path):
            self._storage.write(path, schema.encode("utf-8"))
        elif self._storage.read(path).decode("utf-8") != schema:
            raise UnusableSchemaError(
                f"schema {global_id} of the registry is not the one that records were written "
                f"with, which is in {path}",
                hint="The registry was recreated and counts from the beginning. Bring it back as "
                "it was; what bronze has is not lost: its files have their schemas",
            )

    def _path(self, global_id: int) -> str:
        return f"{self._folder}/{global_id}.avsc"
