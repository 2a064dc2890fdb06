"""The database engines that a lab may have as sources, found by folder and by entry point."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from importlib import import_module
from importlib.metadata import entry_points

from labctl.engine_names import GROUP, engine_names
from labctl.entry_points import load_entry_point
from labctl.errors import ExitCode, LabError
from labctl.sources.engine import Engine

__all__ = ["ENGINES", "engine_of_connector"]


class _Engines(Mapping[str, Engine]):
    """The installed engines by name, read when the first of them is asked for.

    The folder of an engine imports modules that themselves ask for engines.
    """

    @cached_property
    def _by_name(self) -> Mapping[str, Engine]:
        engines = [_load(name) for name in engine_names()]
        # Other services start after the engine in which they keep their state.
        engines.sort(key=lambda engine: (not engine.holds_state, engine.title))
        return {engine.name: engine for engine in engines}

    def __getitem__(self, name: str) -> Engine:
        return self._by_name[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._by_name)

    def __len__(self) -> int:
        return len(self._by_name)


def _load(name: str) -> Engine:
    points = entry_points(group=GROUP, name=name)
    if not points:
        own: Engine = import_module(f"labctl.engines.{name}").ENGINE
        return own
    point = next(iter(points))
    engine = load_entry_point(point, Engine)
    if engine.name != name:
        raise LabError(
            f"{point.value} is the database engine {engine.name}, and not {name}",
            hint=f"correct the package's entry point in {GROUP}, or uninstall the package",
            exit_code=ExitCode.ENVIRONMENT,
        )
    return engine


ENGINES: Mapping[str, Engine] = _Engines()
"""The installed engines by name, the one that holds the lab's state first."""


def engine_of_connector(connector_class: str) -> Engine | None:
    """Return the engine that connectors of a class read from; None for other connectors."""
    readers = (e for e in ENGINES.values() if e.connector_class == connector_class)
    return next(readers, None)
