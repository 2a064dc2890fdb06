"""A script's statements are found whatever stands in them; a failing one is told with its line."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from labctl.engine_names import EngineName
from labctl.errors import ExitCode, LabError
from labctl.sources import Source
from labctl.sources.scripts import read_script, run_statements, split_script

POSTGRES = """-- a comment; with a semicolon
CREATE TABLE a (x int); /* ; */ ;
DO $$ BEGIN
  RAISE NOTICE 'x;y';
END $$;

INSERT INTO a VALUES (E'it\\'s;', 'q''; x');
SELECT "a;b" FROM a
"""
MYSQL = """CREATE TABLE a (x int); # ;
DELIMITER //
CREATE TRIGGER t BEFORE INSERT ON a FOR EACH ROW
BEGIN SET NEW.x = 1; END //
DELIMITER ;
INSERT INTO a VALUES ('a;b\\';');
"""
SQLSERVER = """
CREATE TABLE a (x int);
CREATE TABLE b (x int);
GO
INSERT INTO a VALUES (1)
go 2
"""


@pytest.mark.parametrize(
    ("engine", "script", "found"),
    [
        ("postgres", POSTGRES, [("CREATE", 2), ("DO $$", 3), ("INSERT", 7), ("SELECT", 8)]),
        ("mysql", MYSQL, [("CREATE TABLE", 1), ("CREATE TRIGGER", 3), ("INSERT", 6)]),
        ("sqlserver", SQLSERVER, [("CREATE", 2), ("INSERT", 5), ("INSERT", 5)]),
        ("postgres", "-- nothing\n;;", []),
    ],
)
def test_statements_end_where_their_engine_ends_them(
    engine: EngineName, script: str, found: list[tuple[str, int]]
) -> None:
    statements = list(split_script(script, engine))
    assert [s.line for s in statements] == [line for _, line in found]
    for statement, (begins, _) in zip(statements, found, strict=True):
        assert statement.text.startswith(begins)
    assert not any(s.text.endswith(("//", "GO", "go 2")) for s in statements)
    if engine != "sqlserver":
        assert not any(s.text.endswith(";") for s in statements)


def test_what_is_no_sql_is_refused_with_its_file(tmp_path: Path) -> None:
    path = tmp_path / "schema.sql"
    path.write_text("CREATE TABLE a (x text DEFAULT 'open);\n")
    with pytest.raises(LabError) as caught:
        read_script(path, "postgres")
    assert str(path) in caught.value.what
    assert caught.value.exit_code is ExitCode.USAGE


class Database:
    """Refuses statements with `TABEL`, as PostgreSQL does: with the place of the mistake."""

    def __init__(self, engine: EngineName) -> None:
        self.engine = engine
        self.held: list[str] = []

    @contextmanager
    def transaction(self) -> Iterator[None]:
        before = list(self.held)
        try:
            yield
        except BaseException:
            self.held = before
            raise

    def execute(self, sql: str, parameters: Sequence[object] = ()) -> list[object]:
        assert not parameters
        if "TABEL" not in sql:
            self.held.append(sql)
            return []
        error = ValueError("syntax error")
        if self.engine == "postgres":
            error.diag = SimpleNamespace(  # type: ignore[attr-defined]
                statement_position=str(sql.index("TABEL") + 1)
            )
        raise LabError(f"{self.engine} refused a statement: syntax error\nLINE 1: …") from error


@pytest.mark.parametrize(("engine", "line", "held"), [("postgres", 3, 0), ("mysql", 2, 1)])
def test_a_failing_statement_ends_the_file_with_its_line(
    tmp_path: Path, engine: EngineName, line: int, held: int
) -> None:
    path = tmp_path / "schema.sql"
    path.write_text("CREATE TABLE a (x int);\nCREATE\nTABEL b (x int);\nCREATE TABLE c (x int);\n")
    database = Database(engine)
    with pytest.raises(LabError) as caught:
        run_statements(cast("Source", database), path, read_script(path, engine))
    assert caught.value.what == f"{path}:{line}: {engine} refused a statement: syntax error"
    assert len(database.held) == held
