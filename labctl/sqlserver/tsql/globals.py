"""Session variables: T-SQL's @@ functions, and variables that represent other functions."""

from __future__ import annotations

from labctl.sqlserver.sqltypes import SqlType

__all__ = ["GLOBALS"]

_INT = SqlType("int")
_NAME = SqlType("nvarchar", length=128)

GLOBALS: dict[str, SqlType] = {
    "@@rowcount": _INT,
    "@@error": _INT,
    "@@trancount": _INT,
    "@@spid": SqlType("smallint"),
    "@@identity": SqlType("decimal", precision=38, scale=0),
    "@@version": SqlType("nvarchar", length=300),
    "@@microsoftversion": _INT,
    "@@servername": _NAME,
    "@@servicename": _NAME,
    "@@language": _NAME,
    "@@langid": SqlType("smallint"),
    "@@max_precision": SqlType("tinyint"),
    "@@options": _INT,
    "@@datefirst": SqlType("tinyint"),
    "@@lock_timeout": _INT,
    "@@textsize": _INT,
    "@@nestlevel": _INT,
    "@@fetch_status": _INT,
    "@@procid": _INT,
    "@@max_connections": _INT,
    "@@database": _NAME,
    "@@database_id": SqlType("smallint"),
    "@@schema": _NAME,
    "@@user_name": _NAME,
    "@@login": _NAME,
    "@@host": _NAME,
    "@@application": _NAME,
    "@@xact_state": SqlType("smallint"),
    "@@error_number": _INT,
    "@@error_message": SqlType("nvarchar", length=4000),
    "@@error_severity": _INT,
    "@@error_state": _INT,
    "@@error_line": _INT,
    "@@error_procedure": _NAME,
}
"""The types of the session variables; the session has their values."""
