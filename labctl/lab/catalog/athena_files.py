"""Comparison of the statements that Athena keeps with the files that define them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from labctl.errors import ExitCode, LabError
from labctl.lab.catalog.athena_connection import Connection
from labctl.lab.catalog.athena_saved import NamedQueries, NamedQuery, PreparedStatements
from labctl.lake.glue_changes import Change
from labctl.lake.queries import QueryFile

__all__ = ["KeptFiles"]


class KeptFiles:
    """Comparison of query files with the statements that Athena keeps. Raises LabError."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def changes(self, queries: Sequence[QueryFile]) -> list[Change]:
        """Return the API calls after which Athena keeps `queries` as their files define them.

        An existing named query keeps its id, which applications refer to.
        """
        named = [query for query in queries if not query.prepared]
        prepared = [query for query in queries if query.prepared]
        return [*self._named(named), *self._prepared(prepared)]

    def _named(self, queries: Sequence[QueryFile]) -> Iterator[Change]:
        known = NamedQueries(self._connection).all() if queries else []
        group = self._connection.workgroup
        for query in queries:
            what = f"named query {query.full_name}"
            text = {"QueryString": query.sql, "Description": query.description}
            same = [
                one for one in known if (one.database, one.name) == (query.database, query.name)
            ]
            if len(same) > 1:
                raise LabError(
                    f"There is more than one {what}",
                    hint=f"delete all but one: {', '.join(one.id for one in same)}",
                    exit_code=ExitCode.USAGE,
                )
            if not same:
                name = {"Name": query.name, "Database": query.database, "WorkGroup": group}
                yield Change("create", what, (), "create_named_query", _described(name | text))
            elif details := tuple(_differences(query, same[0])):
                given = {"NamedQueryId": same[0].id, "Name": query.name, **text}
                yield Change("update", what, details, "update_named_query", given)

    def _prepared(self, queries: Sequence[QueryFile]) -> Iterator[Change]:
        statements = PreparedStatements(self._connection).all() if queries else []
        known = {statement.name: statement for statement in statements}
        for query in queries:
            what = f"prepared statement {query.name}"
            given = {
                "StatementName": query.name,
                "WorkGroup": self._connection.workgroup,
                "QueryStatement": query.sql,
                "Description": query.description,
            }
            if query.name not in known:
                given = _described(given)
                yield Change("create", what, (), "create_prepared_statement", given)
                continue
            there = known[query.name]
            same = NamedQuery("", there.name, "", there.sql, there.description)
            if details := tuple(_differences(query, same)):
                yield Change("update", what, details, "update_prepared_statement", given)


def _differences(query: QueryFile, there: NamedQuery) -> Iterator[str]:
    if query.sql != there.sql:
        yield "its SQL"
    if query.description != there.description:
        yield "its description"


def _described(given: dict[str, str]) -> dict[str, str]:
    """Return a request without empty values: Athena refuses an empty description."""
    return {key: value for key, value in given.items() if value}
