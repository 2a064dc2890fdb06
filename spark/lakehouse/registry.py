"""Writer schemas from Apicurio Registry, by global id."""

from __future__ import annotations

import http
import http.client
import logging
import threading
import time
import urllib.error
import urllib.request

from lakecontract.errors import ConfigurationError, UnusableSchemaError
from lakehouse.mapping import WriterSchema
from lakehouse.schema_memory import SchemaMemory

__all__ = ["SchemaRegistry"]

_log = logging.getLogger(__name__)
_REQUEST_SECONDS = 5.0
_RETRY_SECONDS = (0.1, 0.2, 0.5, 1.0, 2.0, 2.0)


class SchemaRegistry:
    """Reader of writer schemas. A global id never changes its schema, so each is read once."""

    def __init__(self, url: str, memory: SchemaMemory | None = None) -> None:
        """`url` is the registry's base address, without `/apis/…`.

        `memory` is asked for schemas that the registry does not have any more.
        """
        if not url.startswith(("http://", "https://")):
            raise ConfigurationError(
                f"--registry-url {url} is no http address", hint="Use http://host:port"
            )
        self._url = url.rstrip("/")
        self._memory = memory
        self._texts: dict[int, str] = {}
        self._schemas: dict[int, WriterSchema] = {}
        self._lock = threading.Lock()

    def text(self, global_id: int) -> str:
        """Return the schema as registered.

        Raises UnusableSchemaError when the registry does not have it, OSError when it does not
        answer.
        """
        with self._lock:
            known = self._texts.get(global_id)
        if known is None:
            if global_id < 1:
                raise UnusableSchemaError(
                    f"{global_id} is no global id of a schema",
                    hint="They begin with 1: what wrote the record?",
                )
            known = self._read(global_id)
            with self._lock:
                self._texts[global_id] = known
        return known

    def schema(self, global_id: int) -> WriterSchema:
        """Return the schema, ready to decode with. Raises as `text` does."""
        with self._lock:
            known = self._schemas.get(global_id)
        if known is None:
            try:
                known = WriterSchema.parse(self.text(global_id))
            except ValueError as error:
                raise UnusableSchemaError(
                    f"schema {global_id} in {self._url} cannot be used: {error}",
                    hint="Topic values must be Avro records",
                ) from None
            with self._lock:
                self._schemas[global_id] = known
        return known

    def _read(self, global_id: int) -> str:
        try:
            found = self._fetch(global_id)
        except UnusableSchemaError:
            kept = None if self._memory is None else self._memory.recall(global_id)
            if kept is None:
                raise
            return kept
        if self._memory is not None:
            self._memory.keep(global_id, found)
        return found

    def _fetch(self, global_id: int) -> str:
        url = f"{self._url}/apis/registry/v2/ids/globalIds/{global_id}"
        for pause in (*_RETRY_SECONDS, None):
            try:
                with urllib.request.urlopen(url, timeout=_REQUEST_SECONDS) as response:  # noqa: S310
                    body: bytes = response.read()
                return body.decode("utf-8")
            except urllib.error.HTTPError as error:
                error.close()
                if error.code == http.HTTPStatus.NOT_FOUND:
                    raise UnusableSchemaError(
                        f"the registry {self._url} has no schema with global id {global_id}",
                        hint="Was it emptied? Register the connectors' schemas again",
                    ) from None
                failure: Exception = error
            except (OSError, http.client.HTTPException) as error:
                failure = error
            if pause is None:
                raise OSError(f"the registry {url} does not answer: {failure}") from failure
            _log.warning("registry: %s; asking again in %.1f s", failure, pause)
            time.sleep(pause)
        raise AssertionError("unreachable")
