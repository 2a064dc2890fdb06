"""Database engines that packages bring: found by their entry points, or one clear error."""

from __future__ import annotations

from dataclasses import replace
from importlib.metadata import EntryPoint, EntryPoints

import pytest

from labctl.engine_names import GROUP
from labctl.errors import ExitCode, LabError
from labctl.sources import ENGINES, engine_registry

MADE = replace(ENGINES["mysql"], name="made", title="Made", connector_class="example.Made")


def engines(monkeypatch: pytest.MonkeyPatch, value: str) -> list[str]:
    """Return the names of the engines where a package brings `made` under this entry point."""
    point = EntryPoint("made", value, GROUP)
    monkeypatch.setattr(
        engine_registry, "entry_points", lambda **by: EntryPoints([point]).select(**by)
    )
    monkeypatch.setattr(engine_registry, "engine_names", lambda: ("mysql", "postgres", "made"))
    return list(engine_registry._Engines())


def test_a_packages_engine_stands_among_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    assert engines(monkeypatch, f"{__name__}:MADE") == ["postgres", "made", "mysql"]


@pytest.mark.parametrize(
    ("value", "why"),
    [
        ("no_such_module:ENGINE", "No module named 'no_such_module'"),
        (f"{__name__}:NOTHING", "has no attribute 'NOTHING'"),
        (f"{__name__}:engines", "it is no Engine"),
        ("labctl.engines.mysql:ENGINE", "is the database engine mysql, and not made"),
    ],
)
def test_one_that_cannot_be_used_is_told(
    monkeypatch: pytest.MonkeyPatch, value: str, why: str
) -> None:
    with pytest.raises(LabError) as raised:
        engines(monkeypatch, value)
    assert why in raised.value.what
    assert raised.value.exit_code is ExitCode.ENVIRONMENT
