"""Carrying out steps, as the commands of the same purpose do."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from labctl.counted import counted
from labctl.lab.connectors.connector_states import apply_and_wait, lab_files
from labctl.lab.connectors.source_files import source_file
from labctl.lab.lab import Lab
from labctl.lab.lifecycle.own_schema import apply_schema
from labctl.lab.lifecycle.starting import SilentReporter
from labctl.lab.lifecycle.up import restart_service, up
from labctl.lab.tables.table_requests import restart_table
from labctl.scaffolding.new_tables import add_table
from labctl.watching.planning import Kind, Step

__all__ = ["carry_out"]


class _Noting(SilentReporter):
    """A reporter that records which services were started."""

    def __init__(self) -> None:
        self.started: list[str] = []

    def service(self, name: str, state: str, detail: str = "") -> None:
        del detail
        if state == "starting":
            self.started.append(name)


def carry_out(lab: Lab, step: Step) -> str:
    """Carry out one step, and describe the result in a phrase. Raises LabError."""
    return _DOING[step.kind](lab, step.what)


def _up(lab: Lab, _: str) -> str:
    noting = _Noting()
    started = up(lab, noting)
    said = [f"{one.what} applied" for one in started.schemas]
    said += [f"{one.name} {one.change}" for one in started.connectors if one.change != "unchanged"]
    said += [f"{name} runs by its changed properties" for name in started.tables]
    if noting.started:
        said.append(f"{', '.join(noting.started)} started")
    return "; ".join(said) or "no service had to be started for it"


def _schema(lab: Lab, source: str) -> str:
    """Create the tables and then have them captured, as `up` does."""
    with lab.state.changing():
        applied = apply_schema(lab, source)
        connectors = apply_and_wait(lab, [source_file(lab, source)])
    said = [f"{one.what} applied to {source}" for one in applied]
    said += [f"{one.name} {one.change}" for one in connectors if one.change != "unchanged"]
    return "; ".join(said) or f"{source} has it already"


def _service(lab: Lab, name: str) -> str:
    return f"{name} started again ({restart_service(lab, name, _Noting())})"


def _connector(lab: Lab, name: str) -> str:
    files = [file for file in lab_files(lab) if file.name == name]
    return ", ".join(f"{one.name} {one.change}" for one in apply_and_wait(lab, files))


def _start_table(lab: Lab, address: str) -> str:
    added = add_table(lab, address, _Noting())
    rows = f"{added.silver_rows:,} of {counted(added.source_rows, 'row', 'are')} in silver"
    return f"{added.table.name} started, {rows}"


def _table(lab: Lab, name: str) -> str:
    restart_table(lab, name)
    return f"{name} runs by it"


_DOING: Mapping[Kind, Callable[[Lab, str], str]] = {
    Kind.UP: _up,
    Kind.SCHEMA: _schema,
    Kind.SERVICE: _service,
    Kind.CONNECTOR: _connector,
    Kind.START_TABLE: _start_table,
    Kind.TABLE: _table,
    Kind.NOTE: lambda _, said: said,
}
