"""A hint's commands are for the lab that the user named."""

from __future__ import annotations

import pytest
from typer.testing import CliRunner

import labctl.cli.verify  # noqa: F401 - registers the command
from labctl.cli.app import Invocation, root
from labctl.cli.format import Format


@pytest.fixture(autouse=True)
def no_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LABCTL_LAB_NAME", raising=False)
    monkeypatch.delenv("LABCTL_PROFILE", raising=False)


@pytest.mark.parametrize(
    ("hint", "shown"),
    [
        ("start it with `labctl up`", "start it with `labctl --lab second up`"),
        (
            "labctl status, labctl logs silver",
            "labctl --lab second status, labctl --lab second logs silver",
        ),
        (
            "labctl connectors status shows which",
            "labctl --lab second connectors status shows which",
        ),
        ("run labctl as an ordinary user", "run labctl as an ordinary user"),
        (
            "stop another lab with `labctl down --lab NAME`",
            "stop another lab with `labctl down --lab NAME`",
        ),
    ],
)
def test_a_command_in_a_hint_names_the_lab(hint: str, shown: str) -> None:
    assert Invocation("second", None, Format.TEXT).addressed(hint) == shown


def test_a_profile_is_named_too() -> None:
    invocation = Invocation("second", "compose", Format.TEXT)
    assert invocation.addressed("labctl up") == "labctl --lab second --profile compose up"


def test_what_a_variable_says_is_not_said_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LABCTL_LAB_NAME", "second")
    assert Invocation("second", None, Format.TEXT).addressed("labctl up") == "labctl up"


def test_an_error_on_the_command_line_carries_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("state")))
    done = CliRunner().invoke(root, ["verify", "--lab", "second"])
    assert done.exit_code != 0
    assert "labctl --lab second up" in done.stderr
