"""Tools for coding agents: what they run, what they refuse, and who may ask."""

from __future__ import annotations

import asyncio
import inspect
import json
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp import Client
from mcp.server.mcpserver.exceptions import ToolError

from docsite.commands import command_of
from labctl import command_process
from labctl.cli.format import Format
from labctl.errors import LabError
from labctl.mcp import documentation, project_files
from labctl.mcp.changing_tools import changing_tools
from labctl.mcp.client_settings import SETTINGS, write_settings
from labctl.mcp.lab_command import ToolCommand
from labctl.mcp.reading_tools import reading_tools
from labctl.mcp.tool_server import http_application, tool_server
from labctl.soak.faulting import FaultKind

VALUES: dict[str, Any] = {
    **dict.fromkeys(("service", "sql", "table", "topic", "name", "source"), "a"),
    **{name: ["--b", "c"] for name in ("tables", "names", "services")},
    **{"where": ["x=1"], "kind": FaultKind.KILL, "count": 2, "scale": 0.5, "as_of": "-5m"},
}
"""Arguments of tools. Texts that begin with a dash must stay arguments of the command."""


class Recorder:
    """A command line that only keeps the words."""

    def __init__(self) -> None:
        self.words: tuple[str, ...] = ()

    async def __call__(self, *words: str, seconds: float) -> dict[str, Any]:
        assert seconds <= 3600
        self.words = words
        return {"exit_code": 0, "result": {"rows": [1, 2, 3]}}


def tools_of(make: Callable[..., list[Any]], recorder: Recorder) -> dict[str, Any]:
    return {tool.__name__: tool for tool in make(recorder, Path())}


NAMES = [
    (make, name)
    for make in (reading_tools, changing_tools)
    for name, tool in tools_of(make, Recorder()).items()
    if inspect.iscoroutinefunction(tool)
]


@pytest.mark.parametrize(("make", "name"), NAMES, ids=lambda one: getattr(one, "__name__", one))
def test_a_tool_is_a_command_with_options_that_it_has(
    make: Callable[..., list[Any]], name: str
) -> None:
    recorder = Recorder()
    tool = tools_of(make, recorder)[name]
    parameters = inspect.signature(tool).parameters
    given = {key: VALUES[key] for key in parameters if key in VALUES}
    given |= {k: True for k, p in parameters.items() if p.default is False}
    asyncio.run(tool(**given))
    words = [*recorder.words]
    command, rest = command_of(words)
    assert "_".join(words[: len(words) - len(rest)]) == name
    values = command.make_context(name, command_process.with_json(rest)).params
    assert values["output"] is Format.JSON
    if {"tables", "names", "services"} & given.keys():
        assert ["--b", "c"] in values.values()


def test_only_a_server_that_may_has_tools_that_change_something() -> None:
    async def names(*, allow_changes: bool) -> dict[str, bool | None]:
        server = tool_server(Path(), (), allow_changes=allow_changes)
        async with Client(server) as client:
            tools = (await client.list_tools()).tools
        return {t.name: t.annotations.read_only_hint for t in tools if t.annotations}

    reading = asyncio.run(names(allow_changes=False))
    every = asyncio.run(names(allow_changes=True))
    assert all(reading.values())
    assert not {name for name, is_reading in every.items() if is_reading} - reading.keys()
    assert {"client_source", "files_write", "test_fault", "up"} <= every.keys() - reading.keys()


def test_a_query_returns_no_more_rows_than_wanted() -> None:
    tool = tools_of(reading_tools, Recorder())["query"]
    answer = asyncio.run(tool("SELECT 1", rows=2))
    assert answer["result"] == {"rows": [1, 2], "rows_in_all": 3}


def run(*words: str, seconds: float = 30, folder: Path = Path()) -> dict[str, Any]:
    return asyncio.run(ToolCommand(folder)(*words, seconds=seconds))


def test_an_error_is_the_command_lines_own_with_its_next_step(tmp_path: Path) -> None:
    with pytest.raises(ToolError, match=r"(?s)^error: .*lab\.toml.*\nnext: ") as raised:
        run("status", folder=tmp_path)
    assert "Traceback" not in str(raised.value)


def test_a_module_of_the_project_is_not_run_for_labctl(tmp_path: Path) -> None:
    (tmp_path / "labctl.py").write_text("raise SystemExit('stolen')")
    with pytest.raises(ToolError, match=r"lab\.toml"):
        run("status", folder=tmp_path)


@pytest.fixture
def program(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[[str], None]:
    """Have a script run instead of labctl."""

    def write(text: str) -> None:
        script = tmp_path / "program"
        script.write_text(f"#!{sys.executable}\n{text}")
        script.chmod(0o755)
        monkeypatch.setattr(sys, "executable", str(script))

    return write


def test_a_command_that_hangs_is_interrupted(
    program: Callable[[str], None], tmp_path: Path
) -> None:
    program(
        "import pathlib, signal, sys, threading\n"
        "def stop(*_):\n"
        f"    pathlib.Path({str(tmp_path)!r}, 'interrupted').touch()\n"
        "    sys.exit(130)\n"
        "signal.signal(signal.SIGINT, stop)\n"
        "threading.Event().wait()\n"
    )
    with pytest.raises(ToolError, match="did not end within 3 s"):
        run("up", seconds=3)
    assert (tmp_path / "interrupted").exists()


def test_an_answer_that_is_too_long_is_refused(program: Callable[[str], None]) -> None:
    program(f"print('x' * ({command_process.MOST_BYTES} + 1))")
    with pytest.raises(ToolError, match="more than 4 MB\nnext: ask for fewer rows"):
        run("query")


def test_a_command_that_finds_something_wrong_still_answers(
    program: Callable[[str], None],
) -> None:
    program("import sys; print('{\"equal\": false}'); sys.exit(4)")
    assert run("verify") == {"exit_code": 4, "result": {"equal": False}}


@pytest.mark.parametrize(
    "path",
    [
        *("../lab.toml", "/etc/passwd", ".git/config", "Makefile", "connectors", "spark/run.sh"),
        *("connectors/secrets/a.json", "connectors/../../a.json", "connectors/away/a.json"),
    ],
)
def test_a_file_that_no_lab_runs_by_is_neither_read_nor_written(path: str, tmp_path: Path) -> None:
    project = tmp_path / "project"
    (project / "connectors").mkdir(parents=True)
    (project / "connectors" / "away").symlink_to(tmp_path)
    for act in (project_files.read, partial(project_files.write, text="x")):
        with pytest.raises(ToolError, match="is no file that the lab runs by\nnext: "):
            act(project, path)


def test_a_file_of_the_project_is_written_and_read(tmp_path: Path) -> None:
    (tmp_path / "lab.toml").write_text("")
    project_files.write(tmp_path, "connectors/a.json", "{}")
    assert project_files.listed(tmp_path) == ["connectors/a.json", "lab.toml"]
    assert project_files.read(tmp_path, "connectors/a.json") == "{}"
    with pytest.raises(ToolError, match="more than 256 KB"):
        project_files.write(tmp_path, "connectors/a.json", "x" * 300_000)


def test_the_documentation_is_searched_by_words() -> None:
    best, *others = documentation.search("dead letters replay", 5)
    assert best["page"] == "bad-records.md"
    assert "labctl topics deadletters replay" in best["text"]
    assert len(others) == 4
    assert documentation.search("xyzzyx", 5) == []


def ask(headers: dict[str, str]) -> int:
    async def status() -> int:
        server = tool_server(Path(), (), allow_changes=False)
        application = http_application(server, 1234, "right")
        transport = httpx2.ASGITransport(application)
        async with (
            server.session_manager.run(),
            httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1:1234") as client,
        ):
            body = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
            accept = {"Accept": "application/json, text/event-stream"}
            return (await client.post("/mcp", json=body, headers=accept | headers)).status_code

    return asyncio.run(status())


TOKEN = {"Authorization": "Bearer right"}


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        ({}, 401),
        ({"Authorization": "Bearer wrong"}, 401),
        ({"Authorization": "right"}, 401),
        (TOKEN | {"Host": "evil.example:1234"}, 421),
        (TOKEN | {"Origin": "http://evil.example"}, 403),
    ],
)
def test_a_port_answers_this_machine_with_the_token_alone(
    headers: dict[str, str], expected: int
) -> None:
    assert ask(headers) == expected
    assert ask(TOKEN) not in (401, 403, 421)


def test_settings_keep_the_servers_that_are_there(tmp_path: Path) -> None:
    path = tmp_path / SETTINGS
    path.write_text('{"mcpServers": {"other": {"command": "x"}}, "own": 1}')
    for _ in range(2):
        assert write_settings(tmp_path, ("--lab=two",), allow_changes=True) == path
    written = json.loads(path.read_text())
    assert written["own"] == 1
    assert written["mcpServers"]["other"] == {"command": "x"}
    assert written["mcpServers"]["labctl"]["args"][-5:] == [
        *("--lab=two", "client", "mcp", "serve", "--allow-changes")
    ]


@pytest.mark.parametrize("text", ["{", "[]", '{"mcpServers": []}'])
def test_settings_that_are_none_are_left_as_they_are(text: str, tmp_path: Path) -> None:
    path = tmp_path / SETTINGS
    path.write_text(text)
    with pytest.raises(LabError, match="cannot be read"):
        write_settings(tmp_path, (), allow_changes=False)
    assert path.read_text() == text
