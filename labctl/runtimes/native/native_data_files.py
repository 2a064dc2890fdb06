"""The data of services that are processes: `data` in the lab's folder."""

from __future__ import annotations

from contextlib import AbstractContextManager
from pathlib import Path

from labctl.errors import ExitCode, LabError
from labctl.runtimes.native.freezing import frozen
from labctl.runtimes.native.supervisor import ProcessSupervisor
from labctl.state.lab_state import LabState

__all__ = ["NativeDataFiles"]


class NativeDataFiles:
    """The folders of the services' data."""

    def __init__(self, state: LabState, supervisor: ProcessSupervisor) -> None:
        self._state = state
        self._supervisor = supervisor

    def folder(self, name: str) -> Path:
        folder = self._state.data(name)
        if not folder.is_dir():
            raise LabError(f"{name} keeps no data of its own", exit_code=ExitCode.USAGE)
        return folder

    def require(self) -> None:
        """Do nothing: all data is in `data` in the lab's folder."""

    def frozen(self) -> AbstractContextManager[None]:
        return frozen(self._supervisor.processes)
