"""The running service, assembled from its parts."""

from __future__ import annotations

import asyncio
import logging
from functools import partial

from anyio import CapacityLimiter, to_thread
from botocore.exceptions import BotoCoreError, ClientError

from lakeapi.answers import Answers
from lakeapi.athena import Athena, clients
from lakeapi.cache import Cache
from lakeapi.definitions import Definitions
from lakeapi.metrics import Metrics
from lakeapi.models import Component, Health
from lakeapi.problems import LakeTimeoutError, LakeUnavailableError
from lakeapi.repository import Repository
from lakeapi.settings import Settings
from lakeapi.versions import Versions

__all__ = ["Service"]

_AGAIN_SECONDS = 2.0
log = logging.getLogger("lakeapi")


class Service:
    """The parts of one worker."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.metrics = Metrics()
        athena, glue = clients(settings)
        self._clients = (athena, glue)
        self._athena = Athena(settings, athena, self.metrics)
        self._definitions = Definitions(settings, self._athena)
        self.repository = Repository(settings, self._athena, self._definitions)
        self.cache = Cache(settings, self.metrics)
        self.answers = Answers(settings, self.cache, Versions(settings, glue), self.metrics)
        # health checks of Athena do not wait for queries
        self._health = CapacityLimiter(2)

    async def prepare(self) -> None:
        """Create view, prepared statement and named query; retry until the lake answers."""
        while True:
            try:
                await to_thread.run_sync(self._definitions.ensure)
            except (LakeUnavailableError, LakeTimeoutError) as error:
                log.warning("the lake is waited for: %s", error)
                await asyncio.sleep(_AGAIN_SECONDS)
            else:
                return

    async def health(self) -> Health:
        """Return the health: DOWN without Athena, DEGRADED without Redis."""
        athena = await to_thread.run_sync(self._athena_answers, limiter=self._health)
        parts = {"athena": athena}
        if self.settings.cache_mode != "off":
            up = await self.cache.ping()
            parts["redis"] = Component(status="UP" if up else "DOWN")
        down = {name for name, part in parts.items() if part.status == "DOWN"}
        status = "DOWN" if "athena" in down else "DEGRADED" if down else "UP"
        return Health(status=status, components=parts)

    def _athena_answers(self) -> Component:
        try:
            self._athena.client.get_work_group(WorkGroup=self.settings.workgroup)
        except (BotoCoreError, ClientError) as error:
            log.warning("Athena does not answer: %s", error)
            return Component(status="DOWN", detail=type(error).__name__)
        return Component(status="UP")

    async def close(self) -> None:
        await self.cache.close()
        for client in self._clients:
            await to_thread.run_sync(partial(client.close))
