"""Faults for a running lab, in any runtime."""

from __future__ import annotations

import random
import shutil
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from labctl.lab.lab import Lab
from labctl.lab.lifecycle.starting import wait_until_usable
from labctl.state.sockets import free_port
from labctl.testing.cut_network import Hop, has_connection_from
from labctl.testing.damage import Damage, corrupt
from labctl.testing.disk import SmallDisk, small_disk
from labctl.testing.process_clock import Clock, require_shiftable

__all__ = ["Damage", "Faults"]


@dataclass(frozen=True)
class Faults:
    """Faults that may happen to the services of `lab`.

    Every method raises LabError (USAGE) where the lab's runtime cannot do it.
    """

    lab: Lab

    def kill(self, service: str) -> None:
        """Kill the service with `kill -9`; its runtime starts it again."""
        self.lab.runtime.faults.kill(service)

    def kill_supervisor(self) -> None:
        """Kill the supervisor. The services keep running; `labctl up` repairs the lab."""
        self.lab.runtime.faults.kill_supervisor()

    def paused_supervisor(self) -> AbstractContextManager[None]:
        """Pause the supervisor while the block runs; the services keep running.

        Commands raise SupervisorTimeoutError meanwhile, except `labctl down`, which ends the
        supervisor.
        """
        return self.lab.runtime.faults.paused_supervisor()

    def power_cut(self) -> None:
        """Kill everything at once, including what would start it again.

        The container engine is not the lab's and keeps running: it starts its containers again.
        """
        self.lab.runtime.faults.kill_all()

    def paused(self, service: str) -> AbstractContextManager[None]:
        """Pause the service while the block runs: connections stay open, nothing answers."""
        return self.lab.runtime.faults.paused(service)

    def pause(self, service: str, seconds: float) -> None:
        """Pause the service for so many seconds."""
        with self.paused(service):
            time.sleep(seconds)

    @contextmanager
    def away(self, service: str) -> Iterator[None]:
        """Kill the service, and start it again only when the block ends."""
        found, runtime = self.lab.service(service), self.lab.runtime
        self.kill(service)
        runtime.stop(service)
        try:
            yield
        finally:
            runtime.start(found, self.lab.context(found))

    def lose_data(self, service: str) -> None:
        """Delete all that the service has stored, and start it as a new one."""
        found, runtime = self.lab.service(service), self.lab.runtime
        folder = runtime.files.folder(service)
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
        """Break something stored of a table, and return what was hit. `Damage` lists the kinds."""
        return corrupt(self.lab, damage, table)

    def out_of_memory(self, service: str) -> None:
        """Have the kernel kill the service for lack of memory; its runtime starts it again."""
        self.lab.runtime.faults.out_of_memory(service)

    @contextmanager
    def small_disk(self, service: str) -> Iterator[SmallDisk]:
        """Put the service's data on a disk of its own with little room: `with disk.full(): …`.

        The service is restarted for that, and again when the block ends and its data is moved back.
        """
        found, runtime = self.lab.service(service), self.lab.runtime
        folder = runtime.files.folder(service)

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
        """Give the service a clock of its own: `clock.set(hours=-1)`. Native runtime only.

        The service is restarted for that, and again when the block ends.
        """
        require_shiftable(service)
        with TemporaryDirectory(prefix="labctl-clock-") as folder:
            # PostgreSQL runs as another user when this one is root.
            Path(folder).chmod(0o755)
            clock = Clock(Path(folder) / "offset")
            with self.lab.runtime.faults.with_environment(service, clock.environment()):
                yield clock

    @contextmanager
    def network(self, client: str, server: str) -> Iterator[Hop]:
        """Send the traffic between two services through faults. Native runtime only.

        The faults are `hop.cut()`, `half_open()`, `delay(0.2)`, `stall(0.01)` and `heal()`. The
        server is restarted for that, on another port, and again when the block ends. Connections of
        other clients are not affected.
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
            with runtime.faults.moved(found, own, other), hop.open():
                wait_until_usable(self.lab, found)
                yield hop
        finally:
            wait_until_usable(self.lab, found)

    def cut_off(self, service: str) -> AbstractContextManager[None]:
        """Keep all packets from the running service while the block runs. In containers only."""
        return self.lab.runtime.faults.cut_off(service)
