"""Statements that Athena's API keeps: named queries, and prepared statements with parameters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from labctl.aws.batches import batches
from labctl.errors import ExitCode, LabError
from labctl.lab.catalog.athena_connection import AT_ONCE, Connection

__all__ = ["NamedQueries", "NamedQuery", "PreparedStatement", "PreparedStatements"]


@dataclass(frozen=True)
class NamedQuery:
    """A named query. Its id is unique; its name need not be."""

    id: str
    name: str
    database: str
    sql: str
    description: str


@dataclass(frozen=True)
class PreparedStatement:
    name: str
    sql: str
    description: str


class NamedQueries:
    """Named queries of a workgroup. Raises LabError if the API refuses a request."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._client = connection.client

    def all(self) -> list[NamedQuery]:
        """Return all named queries, sorted by name."""
        with self._connection.explained():
            pages = self._client.get_paginator("list_named_queries").paginate(
                WorkGroup=self._connection.workgroup
            )
            ids = [id_ for page in pages for id_ in page["NamedQueryIds"]]
            found = [
                one
                for some in batches(ids, AT_ONCE)
                for one in self._client.batch_get_named_query(NamedQueryIds=some)["NamedQueries"]
            ]
        return sorted(map(_named_query, found), key=lambda query: (query.name, query.id))

    def find(self, name: str) -> NamedQuery:
        """Return the query with this name or id.

        Raises LabError (USAGE) if no query, or more than one, has it.
        """
        queries = self.all()
        found = [query for query in queries if name in (query.name, query.id)]
        if not found:
            raise _missing("named query", name, [query.name for query in queries])
        if len(found) > 1:
            raise LabError(
                f"There is more than one named query {name!r}",
                hint=f"give its id: {', '.join(query.id for query in found)}",
                exit_code=ExitCode.USAGE,
            )
        return found[0]

    def create(self, query: NamedQuery) -> bool:
        """Create a query; return False if it exists already.

        Raises LabError (USAGE) if a different query has its name.
        """
        for other in self.all():
            if other.name == query.name:
                known, wanted = ((one.database, one.sql, one.description) for one in (other, query))
                return _same("named query", query.name, known == wanted)
        with self._connection.explained():
            self._client.create_named_query(
                Name=query.name,
                Database=query.database,
                QueryString=query.sql,
                WorkGroup=self._connection.workgroup,
                **_described(query.description),
            )
        return True

    def delete(self, name: str) -> None:
        query = self.find(name)
        with self._connection.explained():
            self._client.delete_named_query(NamedQueryId=query.id)


class PreparedStatements:
    """Prepared statements of a workgroup. Raises LabError if the API refuses a request."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._client = connection.client

    def all(self) -> list[PreparedStatement]:
        """Return all prepared statements, sorted by name."""
        with self._connection.explained():
            found = [
                one
                for some in batches(self._names(), AT_ONCE)
                for one in self._client.batch_get_prepared_statement(
                    PreparedStatementNames=some, WorkGroup=self._connection.workgroup
                )["PreparedStatements"]
            ]
        return sorted(map(_prepared_statement, found), key=lambda statement: statement.name)

    def find(self, name: str) -> PreparedStatement:
        """Return the statement with this name.

        Raises LabError (USAGE), which lists the existing ones, if there is none.
        """
        statements = {statement.name: statement for statement in self.all()}
        if name not in statements:
            raise _missing("prepared statement", name, [*statements])
        return statements[name]

    def create(self, statement: PreparedStatement) -> bool:
        """Create a statement; return False if it exists already.

        Raises LabError (USAGE) if a different statement has its name.
        """
        for other in self.all():
            if other.name == statement.name:
                return _same("prepared statement", statement.name, other == statement)
        with self._connection.explained():
            self._client.create_prepared_statement(
                StatementName=statement.name,
                WorkGroup=self._connection.workgroup,
                QueryStatement=statement.sql,
                **_described(statement.description),
            )
        return True

    def delete(self, name: str) -> None:
        self.find(name)
        with self._connection.explained():
            self._client.delete_prepared_statement(
                StatementName=name, WorkGroup=self._connection.workgroup
            )

    def _names(self) -> list[str]:
        names: list[str] = []
        request: dict[str, Any] = {"WorkGroup": self._connection.workgroup}
        while True:  # boto3 has no paginator for this operation
            answer = self._client.list_prepared_statements(**request)
            names += [one["StatementName"] for one in answer["PreparedStatements"]]
            if not answer.get("NextToken"):
                return names
            request["NextToken"] = answer["NextToken"]


def _named_query(told: dict[str, Any]) -> NamedQuery:
    return NamedQuery(
        told["NamedQueryId"],
        told["Name"],
        told["Database"],
        told["QueryString"],
        told.get("Description", ""),
    )


def _prepared_statement(told: dict[str, Any]) -> PreparedStatement:
    return PreparedStatement(
        told["StatementName"], told["QueryStatement"], told.get("Description", "")
    )


def _described(description: str) -> dict[str, str]:
    """Return the description for a request; nothing if it is empty, which Athena refuses."""
    return {"Description": description} if description else {}


def _same(kind: str, name: str, same: bool) -> bool:
    """Return False if the existing one is the `same`. Raises LabError (USAGE) if it is not."""
    if not same:
        raise LabError(
            f"There is another {kind} {name!r}",
            hint="delete that one first, or choose another name",
            exit_code=ExitCode.USAGE,
        )
    return False


def _missing(kind: str, name: str, known: Sequence[str]) -> LabError:
    return LabError(
        f"There is no {kind} {name!r}",
        hint=f"there are: {', '.join(known)}" if known else "there is none yet",
        exit_code=ExitCode.USAGE,
    )
