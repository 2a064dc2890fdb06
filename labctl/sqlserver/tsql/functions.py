"""T-SQL's supported functions and their translation to PostgreSQL."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sqlglot import exp

from labctl.sqlserver.client_errors import SqlError, unsupported
from labctl.sqlserver.tsql.dialect import PgCall, PgType
from labctl.sqlserver.tsql.object_names import PgName

__all__ = ["NILADIC", "call", "function", "text_of"]

Args = list[exp.Expression]

_SAME = {
    "upper", "lower", "ltrim", "rtrim", "replace", "reverse", "ascii", "abs", "floor", "sign",
    "sqrt", "exp", "log10", "pi", "min", "max", "row_number", "rank", "dense_rank", "ntile", "lag",
    "lead", "first_value", "last_value", "percent_rank", "cume_dist", "nullif", "coalesce",
    "translate", "sin", "cos", "tan", "atan", "degrees", "radians", "greatest", "least",
}  # fmt: skip
_RENAMED = {
    "trim": "btrim", "ceiling": "ceil", "replicate": "mssql.replicate",
    "char": "chr", "nchar": "chr",
    "unicode": "ascii", "log": "ln", "count_big": "count", "stdev": "stddev_samp",
    "stdevp": "stddev_pop", "var": "var_samp", "varp": "var_pop", "datefromparts": "make_date",
    "isnull": "coalesce", "count": "mssql.row_count", "sum": "mssql.total",
    "avg": "mssql.average", "left": "mssql.text_left", "right": "mssql.text_right",
    "getutcdate": "mssql.getdate", "sysutcdatetime": "mssql.sysdatetime",
    "hashbytes": "mssql.checksum_bytes", "objectpropertyex": "mssql.objectproperty",
    "format": "mssql.format_value",
}  # fmt: skip
_OWN = {
    "len", "charindex", "stuff", "substring", "space", "quotename", "isnumeric", "str", "patindex",
    "datalength", "getdate", "sysdatetime", "sysdatetimeoffset", "todatetimeoffset", "eomonth",
    "json_value", "json_query", "json_path_exists", "isdate", "newid", "round", "object_name",
    "object_schema_name",
    "col_name", "columnproperty", "objectproperty", "type_name", "type_id", "serverproperty",
    "parsename",
}  # fmt: skip
_WITH_DATABASE = {"object_id", "schema_id", "col_length"}
_DATE_PARTS = {
    "year": "year", "yy": "year", "yyyy": "year", "quarter": "quarter", "qq": "quarter",
    "q": "quarter", "month": "month", "mm": "month", "m": "month", "dayofyear": "dayofyear",
    "dy": "dayofyear", "y": "dayofyear", "day": "day", "dd": "day", "d": "day", "week": "week",
    "wk": "week", "ww": "week", "weekday": "weekday", "dw": "weekday", "hour": "hour",
    "hh": "hour", "minute": "minute", "mi": "minute", "n": "minute", "second": "second",
    "ss": "second", "s": "second", "millisecond": "millisecond", "ms": "millisecond",
    "microsecond": "microsecond", "mcs": "microsecond", "nanosecond": "nanosecond",
    "ns": "nanosecond", "tzoffset": "tzoffset", "tz": "tzoffset", "iso_week": "iso_week",
    "isowk": "iso_week", "isoww": "iso_week",
}  # fmt: skip
_WITH_PART = {"datepart", "datename", "dateadd", "datediff", "datediff_big", "datetrunc"}
_FROM_DATE_FIRST = {("datepart", "week"), ("datepart", "weekday"), ("datename", "week")}
"""Functions and date parts that depend on SET DATEFIRST."""
_ALWAYS_ONE = {
    "has_dbaccess", "is_srvrolemember", "is_member", "is_rolemember", "has_perms_by_name",
    "user_id", "database_principal_id",
}  # fmt: skip
NILADIC = {
    "user_name": "@@user_name", "user": "@@user_name", "current_user": "@@user_name",
    "session_user": "@@user_name", "system_user": "@@login", "suser_sname": "@@login",
    "suser_name": "@@login", "original_login": "@@login", "host_name": "@@host",
    "app_name": "@@application", "db_name": "@@database", "db_id": "@@database_id",
    "schema_name": "@@schema", "scope_identity": "@@identity", "xact_state": "@@xact_state",
    "error_number": "@@error_number", "error_message": "@@error_message",
    "error_severity": "@@error_severity", "error_state": "@@error_state",
    "error_line": "@@error_line", "error_procedure": "@@error_procedure",
    "rowcount_big": "@@rowcount",
}  # fmt: skip
"""Functions whose value belongs to the session; they become variables."""


def call(name: str | PgName, *args: exp.Expression) -> PgCall:
    """Return a PostgreSQL function call. Names from a client must be passed as `PgName`."""
    if isinstance(name, str):
        return PgCall(this=name, expressions=list(args))
    schema, function = (exp.to_identifier(part, quoted=True) for part in name)
    return PgCall(this=function, schema=schema, expressions=list(args))


def text_of(node: exp.Expression) -> exp.Expression:
    """Return the value converted to text as T-SQL converts it."""
    while isinstance(node, exp.Paren):
        node = node.this
    if isinstance(node, exp.Null | exp.National) or (
        isinstance(node, exp.Literal) and node.is_string
    ):
        return node
    return call("mssql.to_text", node)


def function(  # noqa: PLR0911 - one rule per kind
    name: str, args: Args, variable: Callable[[str], exp.Expression]
) -> exp.Expression:
    """Translate a call; `variable` returns a reference to a session variable.

    Raises `SqlError` 195 for an unknown function, 174 for a wrong number of arguments, and the
    unsupported-construct error for a function that this server lacks.
    """
    low = name.lower()
    if low in NILADIC and not args:
        return variable(NILADIC[low])
    if low in _SAME:
        return call(low, *args)
    if low in _RENAMED:
        return call(_RENAMED[low], *args)
    if low in _OWN:
        return call(f"mssql.{low}", *args)
    if low in _WITH_DATABASE:
        return call(f"mssql.{low}", variable("@@database"), *args)
    if low in _WITH_PART:
        return _of_date(low, args)
    if low in _ALWAYS_ONE:
        return exp.Literal.number(1)
    special = _SPECIAL.get(low)
    if low in _REFUSED:
        raise unsupported(f"the function {name.upper()}{_REFUSED[low]}")
    if special is None:
        raise SqlError(195, f"'{name}' is not a recognized built-in function name.", severity=15)
    count, build = special
    if len(args) not in count:
        raise SqlError(174, f"The {low} function requires {count[0]} argument(s).", severity=15)
    return build(args)


def _of_date(name: str, args: Args) -> exp.Expression:
    """Translate a function whose first argument names a date part."""
    if len(args) < 2:
        raise SqlError(174, f"The {name} function requires 2 argument(s).", severity=15)
    given = args[0].name
    part = _DATE_PARTS.get(given.lower())
    if part is None or (name == "datetrunc" and part in _NOT_TRUNCATED):
        raise SqlError(155, f"'{given}' is not a recognized {name} option.", severity=15)
    if name == "dateadd" and not args[1].is_int:
        count = call("mssql.to_integer", args[1])  # truncates a fraction
        args[1] = exp.Cast(this=count, to=exp.DataType.build("int", dialect="postgres"))
    if (name, part) in _FROM_DATE_FIRST:
        number = call("mssql.week_part", exp.Literal.string(part), *args[1:])
        return text_of(number) if name == "datename" else number
    return call(f"mssql.{name}", exp.Literal.string(part), *args[1:])


def _iif(args: Args) -> exp.Expression:
    return exp.Case(ifs=[exp.If(this=args[0], true=args[1])], default=args[2])


def _choose(args: Args) -> exp.Expression:
    ifs = [
        exp.If(this=exp.Literal.number(n), true=value) for n, value in enumerate(args[1:], start=1)
    ]
    return exp.Case(this=args[0], ifs=ifs)


def _part_of(part: str) -> Callable[[Args], exp.Expression]:
    def build(args: Args) -> exp.Expression:
        at = exp.Cast(this=args[0], to=exp.DataType.build("timestamp", dialect="postgres"))
        return call("mssql.datepart", exp.Literal.string(part), at)

    return build


def _square(args: Args) -> exp.Expression:
    number = exp.Cast(this=args[0], to=exp.DataType.build("double", dialect="postgres"))
    return exp.Mul(this=number, expression=number.copy())


def _joined(args: Args) -> exp.Expression:
    return call("concat", *(text_of(a) for a in args))


def _joined_with(args: Args) -> exp.Expression:
    return call("concat_ws", *(text_of(a) for a in args))


def _random(args: Args) -> exp.Expression:
    """Translate RAND: one number per query, or one per row if the seed itself is random."""
    if not args:
        return exp.Subquery(this=exp.select(call("random")))
    if isinstance(args[0], exp.Anonymous) and args[0].name == _RANDOM_INTEGER:
        return call("random")
    raise unsupported("RAND with a seed (SQL Server's own sequence of numbers)")


def _checksum(args: Args) -> exp.Expression:
    """Translate CHECKSUM(NEWID()) to a random number; other values need SQL Server's hash."""
    if len(args) == 1 and isinstance(args[0], exp.Anonymous) and args[0].name == "mssql.newid":
        return call(_RANDOM_INTEGER)
    raise unsupported("CHECKSUM of anything but NEWID() (SQL Server's own hash)")


def _switch_offset(args: Args) -> exp.Expression:
    kind = PgType(this=exp.DataType.Type.USERDEFINED, kind="mssql.datetimeoffset")
    return call("mssql.switchoffset", exp.Cast(this=args[0], to=kind), args[1])


def _is_json(args: Args) -> exp.Expression:
    """Translate ISJSON(text [, VALUE | ARRAY | OBJECT | SCALAR])."""
    kinds = [arg.name.lower() for arg in args[1:]]
    if any(kind not in {"value", "array", "object", "scalar"} for kind in kinds):
        raise SqlError(102, f"Incorrect syntax near '{args[1].name}'.", severity=15)
    return call("mssql.isjson", args[0], *(exp.Literal.string(kind) for kind in kinds))


_RANDOM_INTEGER = "mssql.random_integer"
_NOT_TRUNCATED = {"weekday", "tzoffset", "nanosecond"}
_REFUSED = {
    "binary_checksum": " (SQL Server's own hash)", "checksum_agg": " (SQL Server's own hash)",
    "json_modify": "", "json_object": "", "json_array": "", "compress": "", "decompress": "",
    "formatmessage": "", "string_escape": "", "soundex": "", "difference": "", "try_parse": "",
    "parse": "", "cursor_status": "", "openxml": "", "openquery": "", "openrowset": "",
    "grouping_id": "", "approx_count_distinct": "",
}  # fmt: skip
"""T-SQL functions that this server does not support, with the reason if there is one."""
_MANY = range(2, 255)
_SPECIAL: dict[str, tuple[Sequence[int], Callable[[Args], exp.Expression]]] = {
    "iif": ((3,), _iif),
    "rand": ((0, 1), _random),
    "checksum": (range(1, 255), _checksum),
    "switchoffset": ((2,), _switch_offset),
    "isjson": ((1, 2), _is_json),
    "choose": (_MANY, _choose),
    "year": ((1,), _part_of("year")),
    "month": ((1,), _part_of("month")),
    "day": ((1,), _part_of("day")),
    "square": ((1,), _square),
    "concat": (_MANY, _joined),
    "concat_ws": (_MANY, _joined_with),
    "db_id": ((1,), lambda args: call("mssql.db_id", *args)),
    "db_name": ((1,), lambda args: call("mssql.db_name", *args)),
    "schema_name": ((1,), lambda args: call("mssql.schema_name", *args)),
    "user_name": ((1,), lambda args: exp.Literal.string("dbo")),
    "suser_sname": ((1,), lambda args: exp.Literal.string("sa")),
    "fulltextserviceproperty": ((1,), lambda args: exp.Literal.number(0)),
    "databasepropertyex": ((2,), lambda args: call("mssql.databasepropertyex", *args)),
}
