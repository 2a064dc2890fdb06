"""Named queries and prepared statements."""

from __future__ import annotations

from uuid import uuid4

from psycopg.types.json import Jsonb

from sqlapi.athena.statements import parse
from sqlapi.athena.workgroups import Workgroups
from sqlapi.catalog.definitions import page, seconds, with_token
from sqlapi.protocol.http_app import Members, Operations
from sqlapi.protocol.protocol_errors import ApiError, invalid_request
from sqlapi.sql.statement_errors import SqlError
from sqlapi.store import Row, Store

__all__ = ["Saved"]

_PAGE = 50


class Saved:
    """The operations on named queries and prepared statements, one per method."""

    def __init__(self, store: Store, workgroups: Workgroups) -> None:
        self._store = store
        self._workgroups = workgroups

    def operations(self) -> Operations:
        return {
            "CreateNamedQuery": self.create_query,
            "GetNamedQuery": self.get_query,
            "BatchGetNamedQuery": self.batch_get_query,
            "ListNamedQueries": self.list_queries,
            "UpdateNamedQuery": self.update_query,
            "DeleteNamedQuery": self.delete_query,
            "CreatePreparedStatement": self.create_statement,
            "GetPreparedStatement": self.get_statement,
            "BatchGetPreparedStatement": self.batch_get_statement,
            "ListPreparedStatements": self.list_statements,
            "UpdatePreparedStatement": self.update_statement,
            "DeletePreparedStatement": self.delete_statement,
        }

    # named queries

    def create_query(self, given: Members) -> Members:
        group = given.get("WorkGroup") or "primary"
        self._workgroups.row(group)
        token = given.get("ClientRequestToken")
        definition = {
            key: given[key] for key in ("Name", "Description", "Database", "QueryString")
            if key in given
        }  # fmt: skip
        self._store.run(
            "INSERT INTO named_query (id, workgroup, token, definition) VALUES (%s, %s, %s, %s)"
            " ON CONFLICT (token) DO NOTHING",
            [id_ := str(uuid4()), group, token, Jsonb(definition)],
        )
        if token:
            row = self._store.row("SELECT * FROM named_query WHERE token = %s", [token])
            if row and row["definition"] != definition:
                raise invalid_request("Idempotent parameters do not match")
            id_ = row["id"] if row else id_
        return {"NamedQueryId": id_}

    def _query(self, id_: str) -> Row:
        row = self._store.row("SELECT * FROM named_query WHERE id = %s", [id_])
        if row is None:
            raise invalid_request(f"NamedQuery {id_} is not found")
        return row

    @staticmethod
    def _shown(row: Row) -> Members:
        return {**row["definition"], "NamedQueryId": row["id"], "WorkGroup": row["workgroup"]}

    def get_query(self, given: Members) -> Members:
        return {"NamedQuery": self._shown(self._query(given["NamedQueryId"]))}

    def batch_get_query(self, given: Members) -> Members:
        rows = self._store.rows(
            "SELECT * FROM named_query WHERE id = ANY(%s)", [given["NamedQueryIds"]]
        )
        known = {row["id"] for row in rows}
        missing = [
            {"NamedQueryId": id_, "ErrorCode": "INVALID_INPUT", "ErrorMessage": "not found"}
            for id_ in given["NamedQueryIds"]
            if id_ not in known
        ]
        return {"NamedQueries": [self._shown(row) for row in rows],
                "UnprocessedNamedQueryIds": missing}  # fmt: skip

    def list_queries(self, given: Members) -> Members:
        group = given.get("WorkGroup") or "primary"
        self._workgroups.row(group)
        rows = self._store.rows(
            "SELECT id FROM named_query WHERE workgroup = %s ORDER BY created DESC, id", [group]
        )
        ids = [row["id"] for row in rows]
        items, token = page(ids, given.get("NextToken"), given.get("MaxResults", _PAGE))
        return with_token({"NamedQueryIds": items}, token)

    def update_query(self, given: Members) -> Members:
        row = self._query(given["NamedQueryId"])
        changes = {k: given[k] for k in ("Name", "Description", "QueryString") if k in given}
        self._store.run(
            "UPDATE named_query SET definition = %s WHERE id = %s",
            [Jsonb(row["definition"] | changes), row["id"]],
        )
        return {}

    def delete_query(self, given: Members) -> Members:
        self._query(given["NamedQueryId"])
        self._store.run("DELETE FROM named_query WHERE id = %s", [given["NamedQueryId"]])
        return {}

    # prepared statements

    @staticmethod
    def _check(text: str) -> None:
        try:
            parse(text)
        except SqlError as error:
            raise invalid_request(str(error)) from None

    def create_statement(self, given: Members) -> Members:
        self._workgroups.row(given["WorkGroup"])
        self._check(given["QueryStatement"])
        made = self._store.run(
            "INSERT INTO prepared_statement (workgroup, name, statement, description)"
            " VALUES (%s, %s, %s, %s) ON CONFLICT DO NOTHING",
            [
                given["WorkGroup"], given["StatementName"], given["QueryStatement"],
                given.get("Description"),
            ],
        )  # fmt: skip
        if not made:
            raise invalid_request(f"Prepared statement {given['StatementName']} already exists")
        return {}

    def _statement(self, given: Members) -> Row:
        self._workgroups.row(given["WorkGroup"])
        row = self._store.row(
            "SELECT * FROM prepared_statement WHERE workgroup = %s AND name = %s",
            [given["WorkGroup"], given["StatementName"]],
        )
        if row is None:
            name = given["StatementName"]
            raise ApiError(
                "ResourceNotFoundException", f"PreparedStatement {name} was not found",
                ResourceName=name,
            )  # fmt: skip
        return row

    @staticmethod
    def _shown_statement(row: Row) -> Members:
        shown = {
            "StatementName": row["name"], "QueryStatement": row["statement"],
            "WorkGroupName": row["workgroup"], "LastModifiedTime": seconds(row["modified"]),
        }  # fmt: skip
        return shown | ({"Description": row["description"]} if row["description"] else {})

    def get_statement(self, given: Members) -> Members:
        return {"PreparedStatement": self._shown_statement(self._statement(given))}

    def batch_get_statement(self, given: Members) -> Members:
        found, missing = [], []
        for name in given["PreparedStatementNames"]:
            try:
                row = self._statement({"WorkGroup": given["WorkGroup"], "StatementName": name})
                found.append(self._shown_statement(row))
            except ApiError as error:
                if error.code != "ResourceNotFoundException":
                    raise
                missing.append(
                    {"StatementName": name, "ErrorCode": "STATEMENT_NOT_FOUND",
                     "ErrorMessage": error.message}
                )  # fmt: skip
        return {"PreparedStatements": found, "UnprocessedPreparedStatementNames": missing}

    def list_statements(self, given: Members) -> Members:
        self._workgroups.row(given["WorkGroup"])
        rows = self._store.rows(
            "SELECT * FROM prepared_statement WHERE workgroup = %s ORDER BY name",
            [given["WorkGroup"]],
        )
        shown = [
            {"StatementName": row["name"], "LastModifiedTime": seconds(row["modified"])}
            for row in rows
        ]
        items, token = page(shown, given.get("NextToken"), given.get("MaxResults", _PAGE))
        return with_token({"PreparedStatements": items}, token)

    def update_statement(self, given: Members) -> Members:
        row = self._statement(given)
        self._check(given["QueryStatement"])
        self._store.run(
            "UPDATE prepared_statement SET statement = %s, description = %s, modified = now()"
            " WHERE workgroup = %s AND name = %s",
            [
                given["QueryStatement"], given.get("Description", row["description"]),
                row["workgroup"], row["name"],
            ],
        )  # fmt: skip
        return {}

    def delete_statement(self, given: Members) -> Members:
        row = self._statement(given)
        self._store.run(
            "DELETE FROM prepared_statement WHERE workgroup = %s AND name = %s",
            [row["workgroup"], row["name"]],
        )
        return {}
