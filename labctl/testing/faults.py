"""Faults put into a running lab, whichever runtime it is on."""

from __future__ import annotations

import random
import shutil
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from labctl.home.sockets import free_port
from labctl.lab.lab import Lab
from labctl.lab.starting import wait_until_usable
from labctl.testing.clock import Clock, require_shiftable
from labctl.testing.damage import Damage, corrupt
from labctl.testing.disk import SmallDisk, small_disk
from labctl.testing.network import Hop, has_connection_from

__all__ = ["Damage", "Faults"]


@dataclass(frozen=True)
class Faults:
    """What may happen to the services of `lab`.

    Every method raises LabError (USAGE) where the lab's runtime cannot do it.
    """

    lab: Lab

    def kill(self, service: str) -> None:
        """`kill -9` the service; its runtime starts it again."""
        self.lab.runtime.kill(service)

    def kill_supervisor(self) -> None:
        """What looks after the services dies, and they go on; `labctl up` repairs that."""
        self.lab.runtime.kill_supervisor()

    def paused_supervisor(self) -> AbstractContextManager[None]:
        """What looks after the services stands still while the block runs; they go on.

        Commands meanwhile raise SilentSupervisorError, but for `labctl down`, which ends it.
        """
        return self.lab.runtime.paused_supervisor()

    def power_cut(self) -> None:
        """Everything dies at once, and what would start it again dies too.

        Not the container engine, which is not the lab's: it starts its containers again.
        """
        self.lab.runtime.kill_all()

    def paused(self, service: str) -> AbstractContextManager[None]:
        """The service stands still while the block runs: connections stay open, nothing answers."""
        return self.lab.runtime.paused(service)

    def pause(self, service: str, seconds: float) -> None:
        """`paused` for so many seconds."""
        with self.paused(service):
            time.sleep(seconds)

    @contextmanager
    def away(self, service: str) -> Iterator[None]:
        """The service is killed, and not started again until the block ends."""
        found, runtime = self.lab.service(service), self.lab.runtime
        self.kill(service)
        runtime.stop(service)
        try:
            yield
        finally:
            runtime.start(found, self.lab.context(found))

    def lose_data(self, service: str) -> None:
        """All that the service has stored is gone, and it starts as a new one."""
        found, runtime = self.lab.service(service), self.lab.runtime
        folder = runtime.data_folder(service)
        runtime.stop(service)
        try:
            for entry in folder.iterdir():
                if entry.is_dir() and not entry.is_symlink():
                    shutil.rmtree(entry)
                else:
                    entry.unlink()
        finally:
            runtime.start(found, self.lab.context(found))

    def corrupt(self, damage: Damage, table: str) -> str:
        """Break something that is stored of a table; what was hit. `Damage` says what there is."""
        return corrupt(self.lab, damage, table)

    def out_of_memory(self, service: str) -> None:
        """The kernel kills the service for lack of memory; its runtime starts it again."""
        self.lab.runtime.out_of_memory(service)

    @contextmanager
    def small_disk(self, service: str) -> Iterator[SmallDisk]:
        """The service's data is on a disk of its own with little room: `with disk.full(): …`.

        The service is restarted for that, and again when the block ends and its data goes back.
        """
        found, runtime = self.lab.service(service), self.lab.runtime
        folder = runtime.data_folder(service)

        @contextmanager
        def stopped() -> Iterator[None]:
            runtime.stop(service)
            try:
                yield
            finally:
                runtime.start(found, self.lab.context(found))

        with small_disk(folder, stopped) as disk:
            yield disk

    @contextmanager
    def clock(self, service: str) -> Iterator[Clock]:
        """The service has a clock of its own: `clock.set(hours=-1)`. Natively only.

        It is restarted for that, and again when the block ends.
        """
        require_shiftable(service)
        with TemporaryDirectory(prefix="labctl-clock-") as folder:
            # PostgreSQL runs as another user when this one is root.
            Path(folder).chmod(0o755)
            clock = Clock(Path(folder) / "offset")
            with self.lab.runtime.with_environment(service, clock.environment()):
                yield clock

    @contextmanager
    def network(self, client: str, server: str) -> Iterator[Hop]:
        """What one service is sent and sends to another goes through faults: `hop.cut()`,
        `half_open()`, `delay(0.2)`, `stall(0.01)`, `heal()`. Natively only.

        The server is restarted for that, on another port, and again when the block ends. What
        others ask of it is not touched.
        """
        found, runtime = self.lab.service(server), self.lab.runtime
        self.lab.service(client)
        own = self.lab.context(found)
        endpoint, port = next(iter(own.ports.items()))
        other = replace(own, ports={**own.ports, endpoint: free_port(set(own.ports.values()))})
        seed = random.randrange(2**32)  # noqa: S311 - not a secret
        print(f"network from {client} to {server}, seed {seed}")
        hop = Hop(
            port,
            other.ports[endpoint],
            lambda peer: has_connection_from(runtime.state(client).pid, peer),
            seed=seed,
        )
        try:
            with runtime.moved(found, own, other), hop.open():
                wait_until_usable(self.lab, found)
                yield hop
        finally:
            wait_until_usable(self.lab, found)

    def cut_off(self, service: str) -> AbstractContextManager[None]:
        """The service runs on and no packet reaches it while the block runs. In containers only."""
        return self.lab.runtime.cut_off(service)
