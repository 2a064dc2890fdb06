"""Generated tables are ones that the databases take."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from labctl.config.endpoints import Endpoints
from labctl.conformance.case_sql import Script, table_name
from labctl.conformance.generation import WIDTH, generate
from labctl.conformance.missing import missing_kinds
from labctl.engine_names import EngineName
from labctl.errors import LabError
from labctl.sources import ENGINES, Source, TableRef, connect, connect_server, ensure_database

SCHEMAS: dict[EngineName, str] = {
    "postgres": "public",
    "mysql": "generated_tables",
    "sqlserver": "dbo",
}
DATABASE = "generated_tables"
NEARLY_ALL = 0.9


@pytest.fixture(params=["postgres", "mysql", "sqlserver"])
def database(endpoints: Endpoints, request: pytest.FixtureRequest) -> Iterator[Source]:
    """A database of the test's own."""
    engine: EngineName = request.param
    own = endpoints.sources[engine].model_copy(
        update={"schemas": (SCHEMAS[engine],)}
        | ({} if engine == "mysql" else {"database": DATABASE})
    )
    there = endpoints.model_copy(update={"sources": {engine: own}})
    ensure_database(there, engine)
    with connect(there, engine) as source:
        yield source
    if engine == "mysql":
        with connect(there, engine) as source:
            source.execute("DROP DATABASE generated_tables")
    else:
        with connect_server(there, engine) as server:
            end = " WITH (FORCE)" if engine == "postgres" else ""
            server.execute(f"DROP DATABASE {DATABASE}{end}")


def test_a_server_takes_the_tables_and_nearly_all_of_their_rows_and_steps(
    database: Source,
) -> None:
    """A value may be refused, as a number that is too wide for a column made narrower."""
    engine = database.engine
    missing = missing_kinds(database, engine, SCHEMAS[engine])
    accepted, declined = 0, []
    for seed in range(-(-len(ENGINES[engine].conformance().column_types) // WIDTH) + 10):
        case = generate(engine, seed).without_types(missing)
        script = Script(case, TableRef(SCHEMAS[engine], table_name(case, f"t{seed}")))
        for statement in script.creates():
            database.execute(statement)
        for statement in _rows_and_history(script):
            try:
                database.execute(statement)
                accepted += 1
            except LabError as error:
                declined.append(f"{case.label}: {statement[:500]}: {error.what}")
        for statement in script.drops():
            database.execute(statement)
    assert accepted / (accepted + len(declined)) > NEARLY_ALL, "\n".join(declined)


def _rows_and_history(script: Script) -> Iterator[str]:
    yield from script.load()
    for change in script.case.history:
        if change.what != "recapture":  # Nothing is captured here.
            yield from script.statements(change)
