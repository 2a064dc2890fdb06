"""Writer schemas from the Apicurio registry, each requested once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import requests

from labctl.errors import ExitCode, LabError
from labctl.lake.records import AvroDecoder

if TYPE_CHECKING:
    from labctl.config.endpoints import Registry

__all__ = ["Schemas", "UnknownSchemaError"]

_TIMEOUT_SECONDS = 10


class UnknownSchemaError(LabError):
    """Error for a schema that the registry does not have."""


class Schemas:
    """Decoders by global id; a global id never changes its schema."""

    def __init__(self, registry: Registry) -> None:
        self._url = registry.url.rstrip("/")
        self._session = requests.Session()
        self._schemas: dict[int, Any] = {}
        self._decoders: dict[int, AvroDecoder] = {}

    def decoder(self, global_id: int) -> AvroDecoder:
        """Return a decoder. Raise LabError if the registry does not answer or know the id."""
        if global_id not in self._decoders:
            self._decoders[global_id] = AvroDecoder(self.schema(global_id))
        return self._decoders[global_id]

    def schema(self, global_id: int) -> Any:
        """Return the schema itself. Raise LabError as `decoder` does."""
        if global_id not in self._schemas:
            self._schemas[global_id] = self._fetch(global_id)
        return self._schemas[global_id]

    def _fetch(self, global_id: int) -> Any:
        url = f"{self._url}/apis/registry/v2/ids/globalIds/{global_id}"
        try:
            response = self._session.get(url, timeout=_TIMEOUT_SECONDS)
            if response.status_code == requests.codes.not_found:
                raise UnknownSchemaError(
                    f"The registry has no schema with global id {global_id}",
                    hint="Is it the registry this topic was written with?",
                    exit_code=ExitCode.NOT_READY,
                )
            response.raise_for_status()
            return response.json()
        except requests.RequestException as error:
            raise LabError(
                f"The schema with global id {global_id} could not be fetched: {error}",
                hint="Is the registry running, and the one this topic was written with?",
                exit_code=ExitCode.NOT_READY,
            ) from None
