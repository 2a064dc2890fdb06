"""`OPENJSON(text) WITH (name type, …)`: JSON objects as rows."""

from __future__ import annotations

import re

from sqlglot import exp

from labctl.sqlserver.client_errors import unsupported
from labctl.sqlserver.tsql.casts import cast_to, sql_type
from labctl.sqlserver.tsql.functions import call

__all__ = ["open_json"]

_PATH = re.compile(r"\$((?:\.[A-Za-z_][A-Za-z0-9_]*)+)")


def open_json(node: exp.OpenJSON, alias: exp.Expression | None) -> exp.Expression:
    """Return a subquery with a row per object of the array (or for a single object)."""
    if node.args.get("path") or not node.expressions:
        raise unsupported("OPENJSON without WITH, or with a path")
    rows = exp.Table(
        this=call("mssql.json_rows", node.this),
        alias=exp.TableAlias(this=_quoted("json"), columns=[_quoted("object")]),
    )
    select = exp.select(*(_column(definition) for definition in node.expressions)).from_(rows)
    return exp.Subquery(this=select, alias=alias or exp.TableAlias(this=_quoted("openjson")))


def _column(definition: exp.OpenJSONColumnDef) -> exp.Expression:
    """Return a column of the WITH clause: the value at its path, by default its name."""
    if definition.args.get("as_json"):
        raise unsupported("AS JSON")
    name = definition.this.name
    kind = sql_type(definition.args["kind"])
    place = exp.Column(this=_quoted("object"), table=_quoted("json"))
    text = call("pg_catalog.jsonb_extract_path_text", place, *_steps(definition, name))
    if kind.is_binary:
        # JSON has no bytes; SQL Server decodes them from Base64.
        text = call("pg_catalog.decode", text, exp.Literal.string("base64"))
    return exp.Alias(this=cast_to(text, kind), alias=_quoted(name.lower()))


def _steps(definition: exp.OpenJSONColumnDef, name: str) -> list[exp.Expression]:
    path = definition.args.get("path")
    if path is None:
        return [exp.Literal.string(name)]
    match = _PATH.fullmatch(path if isinstance(path, str) else path.name)
    if match is None:
        raise unsupported("a JSON path other than $.name")
    return [exp.Literal.string(step) for step in match[1].split(".")[1:]]


def _quoted(name: str) -> exp.Identifier:
    return exp.to_identifier(name, quoted=True)
