"""Conversion of PostgreSQL's errors to SQL Server's number, severity, state and wording."""

from __future__ import annotations

import re

from labctl.sqlserver.backend.connection import PgError
from labctl.sqlserver.client_errors import SqlError, unsupported

__all__ = ["as_sql_error"]

_RELATION = re.compile(r'"(?P<name>[^"]+)" does not exist')
_DUPLICATE = re.compile(r"Key \((?P<columns>.*)\)=\((?P<values>.*)\) already exists")
_SIMPLE: dict[str, tuple[int, int, str]] = {
    "22012": (8134, 16, "Divide by zero error encountered."),
    "22003": (8115, 16, "Arithmetic overflow error converting expression to the target data type."),
    "22007": (241, 16, "Conversion failed when converting date and/or time from character string."),
    "22008": (242, 16, "The conversion of a data type to a date and time resulted in an "
              "out-of-range value."),
    "22001": (2628, 16, "String or binary data would be truncated."),
    "40001": (3960, 16, "Snapshot isolation transaction aborted due to update conflict. "
              "Retry the transaction."),
    "40P01": (1205, 13, "Transaction was deadlocked on lock resources with another process and "
              "has been chosen as the deadlock victim. Rerun the transaction."),
    "55P03": (1222, 16, "Lock request time out period exceeded."),
    "57014": (3617, 16, "The statement was cancelled."),
    "428C9": (544, 16, "Cannot insert explicit value for identity column when IDENTITY_INSERT "
              "is set to OFF."),
    "42701": (2705, 16, "Column names in each table must be unique."),
    "42804": (206, 16, "Operand type clash: {message}"),
    "42846": (529, 16, "Explicit conversion from data type is not allowed: {message}"),
    "42883": (8117, 16, "Operand data type is invalid for this operator or function: {message}"),
    "42725": (8117, 16, "Operand data type is invalid for this operator or function: {message}"),
    "42803": (8120, 16, "Column is invalid in the select list because it is not contained in "
              "either an aggregate function or the GROUP BY clause: {message}"),
    "42702": (209, 16, "Ambiguous column name: {message}"),
    "21000": (512, 16, "Subquery returned more than 1 value. This is not permitted when the "
              "subquery follows =, !=, <, <= , >, >= or when the subquery is used as an "
              "expression."),
    "42601": (102, 15, "Incorrect syntax: {message}"),
    "3F000": (2760, 16, "The specified schema name either does not exist or you do not have "
              "permission to use it."),
    "2BP01": (3726, 16, "Could not drop the object because other objects depend on it: {detail}"),
    "3B001": (3903, 16, "The ROLLBACK TRANSACTION request has no corresponding savepoint."),
    "42P10": (102, 15, "Incorrect syntax: {message}"),
    "25006": (3906, 16, "Failed to update database because the database is read-only."),
    "53200": (701, 17, "There is insufficient system memory in resource pool 'default' to run this "
              "query."),
    "53400": (1105, 17, "Could not allocate space for object '<temporary system object>' in "
              "database 'tempdb' because the 'PRIMARY' filegroup is full."),
    "54001": (191, 15, "Some part of your SQL statement is nested too deeply. Rewrite the query or "
              "break it up into smaller queries."),
    "54011": (1056, 15, "The number of elements in the select list exceeds the maximum allowed "
              "number of 4096 elements."),
    "53300": (17809, 20, "Could not connect because the maximum number of connections has been "
              "reached."),
}  # fmt: skip


def as_sql_error(error: PgError, *, verb: str = "") -> SqlError:
    """Return the SQL Server error that corresponds to PostgreSQL's error."""
    state, message = error.sqlstate, error.message
    if state == "MSSQL":
        number, severity, at = (int(n) for n in error.detail.split(","))
        return SqlError(number, message, severity=severity, state=at)
    special = _SPECIAL.get(state)
    if special is not None:
        return special(error, verb)
    if state in _SIMPLE:
        number, severity, text = _SIMPLE[state]
        return SqlError(
            number, text.format(message=message, detail=error.detail), severity=severity
        )
    return SqlError(50000, f"PostgreSQL refused the statement ({state}): {message}")


def _shown(name: str) -> str:
    """Return SQL Server's name for a name such as `shop.crm.user` in PostgreSQL's message."""
    parts = name.split(".")
    if len(parts) == 3:
        parts = parts[1:]
    return ".".join(p for p in parts if p not in {"dbo", "pg_temp"})


def _object(error: PgError) -> str:
    return _shown(f"{error.schema}.{error.table}" if error.schema else error.table)


def _missing_table(error: PgError, verb: str) -> SqlError:
    match = _RELATION.search(error.message)
    name = _shown(match["name"]) if match else error.message
    if "FROM-clause" in error.message:
        return _missing_from(error, verb)
    if verb == "DROP":
        return SqlError(
            3701,
            f"Cannot drop the table '{name}', because it does not exist or you do not have "
            "permission.",
            severity=11,
            state=5,
        )
    if verb in {"ALTER", "TRUNCATE"}:
        return SqlError(
            4902, f'Cannot find the object "{name}" because it does not exist or you do not have '
            "permissions.",
        )  # fmt: skip
    return SqlError(208, f"Invalid object name '{name}'.")


def _missing_column(error: PgError, verb: str) -> SqlError:
    match = re.search(
        r'column "?(?P<name>[^"]+?)"? (?:of relation .* )?does not exist', error.message
    )
    name = match["name"] if match else error.message
    if "." in name:
        return SqlError(4104, f'The multi-part identifier "{name}" could not be bound.')
    return SqlError(207, f"Invalid column name '{name}'.")


def _missing_from(error: PgError, verb: str) -> SqlError:
    match = re.search(r'table "(?P<name>[^"]+)"', error.message)
    return SqlError(
        4104, f'The multi-part identifier "{match["name"] if match else ""}" could not be bound.'
    )


def _too_much(error: PgError, verb: str) -> SqlError:
    if "null character" in error.message:
        return unsupported("NUL in a text (NCHAR(0))")
    number, severity, text = _SIMPLE["53200"]
    return SqlError(number, text, severity=severity)


def _duplicate(error: PgError, verb: str) -> SqlError:
    match = _DUPLICATE.search(error.detail)
    values = match["values"] if match else ""
    return SqlError(
        2627,
        f"Violation of PRIMARY KEY or UNIQUE KEY constraint '{error.constraint}'. Cannot insert "
        f"duplicate key in object '{_object(error)}'. The duplicate key value is ({values}).",
        severity=14,
    )


def _reference(error: PgError, verb: str) -> SqlError:
    word = "REFERENCE" if verb == "DELETE" else "FOREIGN KEY"
    return SqlError(
        547,
        f"The {verb or 'statement'} statement conflicted with the {word} constraint "
        f'"{error.constraint}". The conflict occurred in table "{_object(error)}".',
        state=0,
    )


def _check(error: PgError, verb: str) -> SqlError:
    return SqlError(
        547,
        f"The {verb or 'statement'} statement conflicted with the CHECK constraint "
        f'"{error.constraint}". The conflict occurred in table "{_object(error)}".',
        state=0,
    )


def _null(error: PgError, verb: str) -> SqlError:
    return SqlError(
        515,
        f"Cannot insert the value NULL into column '{error.column}', table '{_object(error)}'; "
        f"column does not allow nulls. {verb or 'INSERT'} fails.",
        state=2,
    )


def _conversion(error: PgError, verb: str) -> SqlError:
    if error.message.startswith("invalid input syntax for type json"):
        return SqlError(13609, "JSON text is not properly formatted.", state=4)
    match = re.search(r'type (?P<type>[\w ]+): "(?P<value>.*)"', error.message, re.DOTALL)
    if match is None:
        return SqlError(8114, f"Error converting data type: {error.message}", state=5)
    if match["type"] == "uuid":
        return SqlError(
            8169, "Conversion failed when converting from a character string to uniqueidentifier.",
            state=2,
        )  # fmt: skip
    target = {"integer": "int", "boolean": "bit", "double precision": "float"}.get(
        match["type"], match["type"]
    )
    if target in {"numeric", "float"}:
        return SqlError(8114, f"Error converting data type varchar to {target}.", state=5)
    return SqlError(
        245,
        f"Conversion failed when converting the varchar value '{match['value']}' to data type "
        f"{target}.",
    )


def _exists(error: PgError, verb: str) -> SqlError:
    match = re.search(r'"(?P<name>[^"]+)" already exists', error.message)
    name = _shown(match["name"]) if match else error.message
    return SqlError(2714, f"There is already an object named '{name}' in the database.", state=6)


def _missing_object(error: PgError, verb: str) -> SqlError:
    match = _RELATION.search(error.message)
    name = _shown(match["name"]) if match else error.message
    return SqlError(
        3728 if "constraint" in error.message else 3701,
        f"'{name}' is not a constraint."
        if "constraint" in error.message
        else f"Cannot drop '{name}', because it does not exist or you do not have permission.",
    )


def _missing_function(error: PgError, verb: str) -> SqlError:
    match = re.search(r"function (?P<name>[^(]+)\(", error.message)
    if match and '.cdc"' in match["name"]:
        return SqlError(208, f"Invalid object name '{match['name']}'.")
    number, severity, text = _SIMPLE["42883"]
    return SqlError(number, text.format(message=error.message, detail=""), severity=severity)


_SPECIAL = {
    "42P01": _missing_table,
    "42703": _missing_column,
    "42P02": _missing_column,
    "23505": _duplicate,
    "23503": _reference,
    "23514": _check,
    "23502": _null,
    "22P02": _conversion,
    "42P07": _exists,
    "42710": _exists,
    "42P06": _exists,
    "42704": _missing_object,
    "42883": _missing_function,
    "54000": _too_much,
}
