r"""`labctl athena shell`: statements, completion, commands, and the shell itself on a pipe."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from prompt_toolkit.application import create_app_session, get_app_session
from prompt_toolkit.completion import CompleteEvent
from prompt_toolkit.document import Document
from prompt_toolkit.input import PipeInput, create_pipe_input
from prompt_toolkit.output import DummyOutput
from typer.testing import CliRunner

from labctl.cli import sql
from labctl.cli.app import Invocation, root
from labctl.cli.format import Format
from labctl.cli.sqlshell.completion import SqlCompleter
from labctl.cli.sqlshell.session import Session
from labctl.cli.sqlshell.shell import converse
from labctl.cli.sqlshell.shell_input import is_complete, split
from labctl.errors import ExitCode, LabError
from labctl.lab.catalog.athena_client import Athena
from labctl.lab.catalog.athena_connection import Connection
from tests.unit.athena_client import Client

CTRL_C, CTRL_D, TAB = "\x03", "\x04", "\t"


@pytest.fixture
def client() -> Client:
    return Client()


@pytest.fixture
def session(client: Client) -> Session:
    return Session(Athena(Connection(client)), database="tickit", format_=Format.CSV)


def asked(client: Client) -> list[str]:
    return [one["QueryString"] for one in client.asked]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("select 1", [("select 1", False)]),
        ("select 1; select 2 ;", [("select 1", True), ("select 2", True)]),
        ("select ';', \"a;b\", `c;`, 'it''s;';", [("select ';', \"a;b\", `c;`, 'it''s;'", True)]),
        ("-- no; statement\n/* a; b */ select 1 -- c;\n;", [("select 1 -- c;", True)]),
        ("select 1 - 2 / 3;", [("select 1 - 2 / 3", True)]),
        (";;  ;", []),
        ("select 'a;", [("select 'a;", False)]),
        ("/* a; b", [("/* a; b", False)]),
        ("\\d sale\nselect 1; \\x", [("\\d sale", True), ("select 1", True), ("\\x", True)]),
        ("select '\\d'\n;", [("select '\\d'", True)]),
    ],
)
def test_statements_end_at_a_semicolon_that_is_none_of_text(
    text: str, expected: list[tuple[str, bool]]
) -> None:
    assert [(one.text, one.ended) for one in split(text)] == expected
    assert is_complete(text) == all(ended for _, ended in expected)


def test_statements_know_their_line() -> None:
    assert [one.line for one in split("select 1;\n\n-- two\nselect\n2;select 3")] == [1, 4, 5]


# completion


def offered(client: Client, text: str, behind: str = "") -> list[str]:
    session = Session(Athena(Connection(client)), database="tickit", format_=Format.TEXT)
    completer = SqlCompleter(session.names, lambda: "tickit", session.completions())
    document = Document(text + behind, len(text))
    return [one.text for one in completer.get_completions(document, CompleteEvent())]


@pytest.mark.parametrize(
    ("text", "behind", "expected"),
    [
        ("\\ti", "", ["\\timing"]),
        ("\\d sa", "", ["sale"]),
        ("\\c ", "", ["moma", "tickit"]),
        ("\\o j", "", ["json"]),
        ("\\nothing ", "", []),
        ("sel", "", ["select"]),
        ("SEL", "", ["SELECT"]),
        ("select * from sa", "", ["sale"]),
        ("select * from ", "", ["sale", "event", '"order"', "moma.", "tickit."]),
        ("select * from tickit.ev", "", ["event"]),
        ("select * from moma.", "", []),
        ("select * from event, sa", "", ["sale"]),
        ("describe or", "", ['"order"']),
        ("show tables in mo", "", ["moma"]),
        ("select sal", " from sale", ["saleid"]),
        ("select pr", " from sale", ['"Price"', "prepare"]),
        ("select eventn", " from sale s join tickit.event as e on", ["eventname"]),
        ("select * from sale s, event e where e.", "", ["eventid", "eventname"]),
        ("select sale.", " from sale", ["saleid", '"Price"']),
        ("select tickit.sale.sa", "", ["saleid"]),
        ("select * from sale where x = 'fro", "", []),
        ("select 1 -- fro", "", []),
        ("select 'it''s' fro", "", ["from"]),
    ],
)
def test_what_is_completed(client: Client, text: str, behind: str, expected: list[str]) -> None:
    assert offered(client, text, behind) == expected


def test_an_endpoint_that_does_not_answer_leaves_the_keywords(client: Client) -> None:
    client.down = True
    assert offered(client, "select * from ") == []
    assert offered(client, "sel", " from sale") == ["select"]


def test_names_are_kept_until_something_is_made(client: Client, session: Session) -> None:
    assert "sale" in session.names.tables("tickit")
    assert session.names.databases() == ["moma", "tickit"]
    session.run_all("select 1")
    client.down = True
    assert "sale" in session.names.tables("tickit")
    assert session.names.databases() == ["moma", "tickit"]
    client.down = False
    session.run_all("create view v as select 1")
    client.down = True
    assert not session.names.tables("tickit")
    assert session.names.databases() == []


# statements and commands, as of a file


def test_results_in_every_format(session: Session, capsys: pytest.CaptureFixture[str]) -> None:
    session.run_all("select 1; \\o json\nselect 1;\\o table\nselect 1")
    printed = capsys.readouterr()
    csv, _, rest = printed.out.partition("{")
    assert csv == "n\n8\n"
    data, end = json.JSONDecoder().raw_decode("{" + rest)
    assert data["rows"] == [{"n": 8}]
    assert ("{" + rest)[end:].split() == ["n", "8", "1", "row"]
    assert printed.err == "format: json\nformat: table\n"


def test_commands_tell_what_the_catalog_has(
    session: Session, capsys: pytest.CaptureFixture[str]
) -> None:
    session.run_all("\\l\n\\d\n\\d sale\n\\d tickit.EVENT\n\\c moma\n\\d\n")
    assert capsys.readouterr().out.splitlines() == [
        "database,description",
        "moma,art",
        "tickit,",
        "table,kind",
        "sale,table",
        "event,view",
        "order,table",
        "column,type,key,comment",
        "saleid,int,,",
        'Price,"decimal(8,2)",,',
        "column,type,key,comment",
        "eventid,int,,",
        "eventname,string,,",
        "table,kind",
    ]
    assert session.database == "moma"


def test_expanded_rows_and_times(session: Session, capsys: pytest.CaptureFixture[str]) -> None:
    session.run_all("\\o table\n\\x\n\\timing on\nselect 1;\\x off\n\\timing\nselect 1")
    printed = capsys.readouterr()
    assert printed.out.split() == ["n", "8", "n", "8", "1", "row"]
    assert printed.err.count(" s\n") == 1
    assert "times: on" in printed.err
    assert "times: off" in printed.err


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("\\nothing", "no command \\nothing"),
        ("\\o xml", "no format 'xml'"),
        ("\\x maybe", "takes on or off"),
        ("\\c nowhere", "no database 'nowhere'"),
        ("\\c", "takes a database"),
        ("\\l x", "takes no argument"),
        ("\\d nothing", "nothing not found"),
        ("select wrong", "COLUMN_NOT_FOUND"),
    ],
)
def test_what_is_wrong_ends_a_file_at_its_line(
    client: Client, session: Session, text: str, message: str
) -> None:
    with pytest.raises(LabError, match=re.escape(message)) as raised:
        session.run_all(f"select 1;\n\n{text}\n;select 2;", place="some.sql")
    assert raised.value.exit_code is ExitCode.USAGE
    assert raised.value.details[-1] == "some.sql, line 3"
    assert "select 2" not in asked(client)


def test_leaving_ends_a_file(client: Client, session: Session) -> None:
    session.run_all("select 1; \\q\nselect 2;")
    assert asked(client) == ["select 1"]


def test_the_database_is_that_of_the_session(client: Client, session: Session) -> None:
    session.run_all("\\c moma\nselect 1")
    assert client.asked[0]["QueryExecutionContext"] == {"Database": "moma"}
    assert "ResultConfiguration" not in client.asked[0]


# the shell


@pytest.fixture
def keys() -> Iterator[PipeInput]:
    with create_pipe_input() as pipe, create_app_session(input=pipe, output=DummyOutput()):
        yield pipe


def typed(keys: PipeInput, session: Session, history: Path, text: str) -> None:
    keys.send_text(text)
    converse(Invocation(None, None, Format.TEXT), session, history)


def test_a_statement_over_several_lines(
    keys: PipeInput, session: Session, client: Client, tmp_path: Path
) -> None:
    typed(keys, session, tmp_path / "history", "select\r  ';'\r; select 2;\r" + CTRL_D)
    assert asked(client) == ["select\n  ';'", "select 2"]


def test_the_shell_remembers_what_was_typed(
    keys: PipeInput, session: Session, client: Client, tmp_path: Path
) -> None:
    history = tmp_path / "state" / "history"
    typed(keys, session, history, "select 1;\r\\q\r")
    assert history.stat().st_mode & 0o777 == 0o600
    session.left = False
    up_twice = "\x1b[A" * 2
    typed(keys, session, history, f"{up_twice}\r{CTRL_D}")
    assert asked(client) == ["select 1", "select 1"]


def test_tab_completes(
    keys: PipeInput, session: Session, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    running = get_app_session()

    def end_it() -> None:
        """Names are asked for in a thread of their own: Enter comes when the name is there."""
        deadline = time.monotonic() + 60
        while running.app is None or running.app.current_buffer.text != "\\d sale":
            assert time.monotonic() < deadline
            time.sleep(0.01)
        keys.send_text("\r\\q\r")

    with ThreadPoolExecutor(1) as pool:
        ended = pool.submit(end_it)
        typed(keys, session, tmp_path / "history", f"\\d sal{TAB}")
        ended.result()
    assert "saleid" in capsys.readouterr().out


def test_an_error_is_told_and_the_shell_goes_on(
    keys: PipeInput,
    session: Session,
    client: Client,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    typed(keys, session, tmp_path / "history", "select wrong; select 2;\rselect 3;\r\\q\r")
    assert asked(client) == ["select wrong", "select 3"]
    printed = capsys.readouterr()
    assert "COLUMN_NOT_FOUND" in printed.err
    assert printed.out == "n\n8\n"


def test_ctrl_c_drops_what_is_typed_and_stops_what_runs(
    keys: PipeInput,
    session: Session,
    client: Client,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    text = f"select dropped{CTRL_C}select forever; select 2;\rselect 3;\r{CTRL_D}"
    typed(keys, session, tmp_path / "history", text)
    assert asked(client) == ["select forever", "select 3"]
    assert client.stopped == ["0"]
    assert "stopped" in capsys.readouterr().err


def test_an_interrupted_start_is_stopped_too(client: Client, session: Session) -> None:
    client.interrupt_start = True
    with pytest.raises(KeyboardInterrupt):
        session.run_all("select 1")
    assert (len(client.asked), client.stopped) == (1, ["0"])


# the command line


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-c", "select 1", "-f", "x.sql"], "not both"),
        (["-f", "nowhere.sql"], "nowhere.sql cannot be read"),
        (["-f", "latin.sql"], "latin.sql cannot be read"),
    ],
)
def test_what_cannot_be_read_is_said_before_a_lab_is_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "latin.sql").write_bytes(b"select '\xe4'")
    done = CliRunner().invoke(root, ["athena", "shell", *arguments])
    assert done.exit_code == ExitCode.USAGE
    assert message in done.stderr


@pytest.mark.parametrize("place", ["some.sql", "standard input"])
def test_statements_that_are_read_end_at_the_first_error(
    client: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    monkeypatch.setenv("LABCTL_PROJECT", str(Path(__file__).parents[2]))
    monkeypatch.setattr(sql, "athena_of", lambda _: Athena(Connection(client)))
    monkeypatch.chdir(tmp_path)
    text = "\ufeffselect 1;\nselect wrong;\nselect 3"
    (tmp_path / "some.sql").write_text(text, encoding="utf-8")
    given = ["-f", place] if place == "some.sql" else []
    options = ["--database", "moma", "-o", "csv"]
    done = CliRunner().invoke(
        root, ["athena", "shell", *given, *options], input=None if given else text
    )
    assert (done.exit_code, done.stdout) == (ExitCode.USAGE, "n\n8\n")
    assert f"{place}, line 2" in done.stderr
    assert asked(client) == ["select 1", "select wrong"]
    assert client.asked[0]["QueryExecutionContext"] == {"Database": "moma"}
