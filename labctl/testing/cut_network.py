"""A network between two services that can be cut, stand still, be slow or lose packets.

All native services are on one loopback interface. So during a test the server of a hop listens on
another port, and a proxy listens on the server's own port. Traffic of the client goes through a
fault, and the connections of all others pass.
"""

from __future__ import annotations

import asyncio
import random
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Self

import psutil

from labctl.errors import LabError
from labctl.state.sockets import LOOPBACK

__all__ = ["Hop", "has_connection_from"]

_CHUNK_BYTES = 64 * 1024
_CHUNKS = 256
"""Chunks under way in one direction of a connection, at most: as much as a network holds."""
_SECONDS = 10.0


class Hop:
    """The path from one client to one server. It has no fault at first, and one at a time later.

    https://docs.python.org/3/library/asyncio-stream.html
    """

    def __init__(
        self, own_port: int, other_port: int, is_clients: Callable[[int], bool], *, seed: int
    ) -> None:
        """Create a proxy from `own_port` to `other_port`, both on the loopback interface.

        `is_clients` says whether the connection from a port is the client's.
        """
        self._own_port, self._other_port = own_port, other_port
        self._is_clients = is_clients
        self._chance = random.Random(seed)  # noqa: S311 - not a secret
        self._delay = self._stalled_share = self._stalled_seconds = 0.0
        self._is_cut = False
        self._links: dict[asyncio.Task[None], bool] = {}
        """All connections; the value says whether a connection is the client's."""

    def cut(self) -> None:
        """Close the client's connections, and new ones at once."""
        self._set(cut=True)

    def half_open(self) -> None:
        """Keep the client's connections open and pass nothing, not in new ones either."""
        self._set(passes=False)

    def delay(self, seconds: float) -> None:
        """Delay everything by so many seconds, each way."""
        self._set(delay=seconds)

    def stall(self, share: float, seconds: float = 3.0) -> None:
        """Hold back this share of the chunks, and those behind them, as after a lost packet."""
        self._set(stalled_share=share, stalled_seconds=seconds)

    def heal(self) -> None:
        """Pass everything at once again, beginning with what has waited."""
        self._set()

    @contextmanager
    def open(self) -> Iterator[Self]:
        """Accept connections while the block runs."""
        failed: list[BaseException] = []

        def run() -> None:
            try:
                asyncio.run(self._serve())
            except BaseException as error:
                failed.append(error)
                self._ready.set()

        self._ready = threading.Event()
        thread = threading.Thread(target=run, name=f"hop-{self._own_port}", daemon=True)
        thread.start()
        self._ready.wait(_SECONDS)
        if failed:
            raise LabError(f"Nothing can listen on port {self._own_port}: {failed[0]}")
        try:
            yield self
        finally:
            self._loop.call_soon_threadsafe(self._end.set)
            thread.join(_SECONDS)

    def _set(
        self,
        *,
        cut: bool = False,
        passes: bool = True,
        delay: float = 0.0,
        stalled_share: float = 0.0,
        stalled_seconds: float = 0.0,
    ) -> None:
        async def change() -> None:
            self._is_cut, self._delay = cut, delay
            self._stalled_share, self._stalled_seconds = stalled_share, stalled_seconds
            (self._passes.set if passes else self._passes.clear)()
            if cut:
                self._end_links(all_of_them=False)

        asyncio.run_coroutine_threadsafe(change(), self._loop).result(_SECONDS)

    async def _serve(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._end, self._passes = asyncio.Event(), asyncio.Event()
        self._passes.set()
        server = await asyncio.start_server(self._connected, LOOPBACK, self._own_port)
        self._ready.set()
        await self._end.wait()
        server.close()
        links = list(self._links)
        self._end_links(all_of_them=True)
        await asyncio.gather(*links, return_exceptions=True)

    def _end_links(self, *, all_of_them: bool) -> None:
        for link, is_clients in self._links.items():
            if is_clients or all_of_them:
                link.cancel()

    async def _connected(self, client: asyncio.StreamReader, back: asyncio.StreamWriter) -> None:
        link = asyncio.current_task()
        assert link is not None  # noqa: S101 - asyncio runs this in one
        self._links[link] = False
        writers = [back]
        try:
            is_clients = await asyncio.to_thread(
                self._is_clients, back.get_extra_info("peername")[1]
            )
            self._links[link] = is_clients
            if is_clients and self._is_cut:
                return
            server, there = await asyncio.open_connection(LOOPBACK, self._other_port)
            writers.append(there)
            async with asyncio.TaskGroup() as ways:
                ways.create_task(self._pass(client, there, is_clients=is_clients))
                ways.create_task(self._pass(server, back, is_clients=is_clients))
        except (OSError, asyncio.CancelledError, ExceptionGroup):
            """End the other side: one end has gone, or the hop was cut."""
        finally:
            del self._links[link]
            for writer in writers:
                writer.transport.abort()

    async def _pass(
        self, source: asyncio.StreamReader, target: asyncio.StreamWriter, *, is_clients: bool
    ) -> None:
        """Forward what comes from one end, until that end closes its side."""
        under_way: asyncio.Queue[tuple[float, bytes]] = asyncio.Queue(_CHUNKS)

        async def read() -> None:
            data = b"-"
            while data:
                data = await source.read(_CHUNK_BYTES)
                await under_way.put((self._loop.time() + self._wait(is_clients), data))

        async def write() -> None:
            while True:
                due, data = await under_way.get()
                await asyncio.sleep(max(0.0, due - self._loop.time()))
                if is_clients:
                    await self._passes.wait()
                if not data:
                    break
                target.write(data)
                await target.drain()
            await target.drain()
            target.write_eof()

        async with asyncio.TaskGroup() as both:
            both.create_task(read())
            both.create_task(write())

    def _wait(self, is_clients: bool) -> float:
        if not is_clients:
            return 0.0
        if self._stalled_share and self._chance.random() < self._stalled_share:
            return self._stalled_seconds
        return self._delay


def has_connection_from(pid: int | None, port: int) -> bool:
    """Return whether a process or a descendant has a TCP connection from this local port."""
    if pid is None:
        return False
    try:
        root = psutil.Process(pid)
        return any(
            connection.laddr and connection.laddr.port == port
            for process in (root, *root.children(recursive=True))
            for connection in process.net_connections("tcp")
        )
    except psutil.Error:
        return False
