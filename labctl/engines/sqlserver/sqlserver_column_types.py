"""SQL Server's column types, as the lab's stand-in has them."""

from __future__ import annotations

from labctl.conformance.cases import Kind
from labctl.conformance.odd_values import MEGABYTE, NINES, ODD_TEXT, PLACEHOLDER, texts

__all__ = ["SQLSERVER"]

_ODD = texts(ODD_TEXT, "N")
_UNHELD = texts((PLACEHOLDER,), "N")
_KEYS = texts(("a", "", "B2", "ä3", "a,b:c", "__null__", "__empty__", "x y", "z'z"), "N")
_GUIDS = (
    "'123E4567-E89B-12D3-A456-426614174000'",
    "'00000000-0000-0000-0000-000000000000'",
    "'FFFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFF'",
)


def _whole(
    declared: str, low: str, high: str, wider: str | None, narrower: str | None = None
) -> Kind:
    keys = (low, "1", "2", high)
    return Kind(
        declared,
        "integer",
        "7",
        (low, high),
        ("0",),
        keys=keys,
        wider=wider,
        narrower=narrower,
        other="nvarchar(30)",
    )


SQLSERVER: tuple[Kind, ...] = (
    Kind("bit", "boolean", "1", ("0", "1"), keys=("0", "1")),
    _whole("tinyint", "0", "255", "int"),
    _whole("smallint", "-32768", "32767", "int"),
    _whole("int", "-2147483648", "2147483647", "bigint", "smallint"),
    _whole("bigint", "-9223372036854775808", "9223372036854775807", None, "int"),
    Kind(
        "int SPARSE",
        "integer",
        "7",
        ("-2147483648", "2147483647"),
        ("0",),
        has_default=False,
        only_nullable=True,
    ),
    Kind(
        "decimal(8,2)",
        "decimal",
        "0.10",
        ("-999999.99", "999999.99"),
        ("0", "-0.01", "100"),
        keys=("0.00", "1", "1.10", "-999999.99"),
        wider="decimal(14,4)",
        narrower="decimal(6,1)",
    ),
    Kind("decimal(38,0)", "decimal", "1", (f"-{NINES}", NINES), ("0",)),
    Kind("numeric(38,38)", "decimal", "0.5", (f"-0.{NINES}", f"0.{NINES}"), ("0",)),
    Kind("money", "decimal", "1.5", ("-922337203685477.5808", "922337203685477.5807"), ("0",)),
    Kind("smallmoney", "decimal", "1.5", ("-214748.3648", "214748.3647"), ("0",)),
    Kind("real", "float32", "1.5", ("-3.4028235e38", "3.4028235e38"), ("0.1e0", "0")),
    Kind(
        "float",
        "float64",
        "1.5",
        ("-1.7976931348623157e308", "1.7976931348623157e308"),
        ("0.1e0", "0"),
    ),
    Kind("char(4)", "text", "'ab'", ("''",), ("'a'",), keys=("'a'", "'b'")),
    Kind("varchar(100)", "text", "'x'", ("''",), ("' x '",), keys=("'a'", "'b,c:d'", "''")),
    Kind("varchar(max)", "text", "'x'", ("REPLICATE('0123456789', 700)",), ("' x '",)),
    Kind("nchar(4)", "text", "N'ab'", ("N''", "N'ﷺﷺﷺﷺ'"), ("N'a'",)),
    Kind(
        "nvarchar(100)",
        "text",
        "N'x'",
        ("N''", "REPLICATE(N'ﷺ', 100)"),
        _ODD,
        beyond=_UNHELD,
        keys=_KEYS,
        wider="nvarchar(200)",
        narrower="nvarchar(50)",
    ),
    Kind(
        "nvarchar(max)",
        "text",
        "N'x'",
        ("N''",),
        _ODD,
        beyond=_UNHELD,
        huge=f"REPLICATE(CAST(N'0123456789' AS nvarchar(max)), {MEGABYTE // 10})",
    ),
    Kind("text", "text", "'x'", ("''",), ("' x '",)),
    Kind("ntext", "text", "N'x'", ("N''",), _ODD[:3]),
    Kind("uniqueidentifier", "upper", _GUIDS[0], _GUIDS[1:], keys=_GUIDS),
    Kind(
        "binary(4)",
        "bytes",
        "0x00ff0d0a",
        ("0x", "0xffffffff"),
        keys=("0x00", "0x01", "0x0001", "0xff"),
    ),
    Kind("varbinary(100)", "bytes", "0x00ff", ("0x",), ("0x5c",), keys=("0x00", "0x01", "0x0001")),
    Kind(
        "varbinary(max)",
        "bytes",
        "0x00ff",
        ("0x",),
        ("0x5c",),
        huge="CONVERT(varbinary(max), REPLICATE(CAST('0123456789' AS varchar(max)), "
        f"{MEGABYTE // 10}))",
    ),
    Kind("image", "bytes", "0x00ff", ("0x",)),
    Kind(
        "date",
        "date",
        "'2008-02-29'",
        ("'0001-01-01'", "'9999-12-31'"),
        ("'1582-10-04'", "'1970-01-01'"),
        keys=("'0001-01-01'", "'1970-01-01'", "'9999-12-31'"),
    ),
    Kind(
        "datetime",
        "timestamp",
        "'2008-03-30T02:30:00'",
        ("'1753-01-01T00:00:00'", "'9999-12-31T23:59:59.997'"),
        ("'2008-03-30T02:30:00.003'", "'1970-01-01T00:00:00'"),
        keys=("'2008-03-30T02:30:00.003'", "'1970-01-01T00:00:00'"),
    ),
    Kind(
        "smalldatetime",
        "timestamp",
        "'2008-03-30T02:30:00'",
        ("'1900-01-01T00:00:00'", "'2079-06-06T23:59:00'"),
    ),
    *(
        Kind(
            declared,
            "timestamp",
            "'2008-03-30T02:30:00'",
            ("'1582-10-15T00:00:00'", "'9999-12-31T23:59:59'"),
            ("'2008-03-30T02:30:00.000001'", "'1969-12-31T23:59:59.999'"),
            keys=("'2008-03-30T02:30:00'", "'1970-01-01T00:00:00'"),
        )
        for declared in ("datetime2(0)", "datetime2(3)", "datetime2(6)")
    ),
    Kind(
        "datetime2(7)",
        "nanoseconds",
        "'2008-03-30T02:30:00'",
        ("'1700-01-01T00:00:00'", "'2262-01-01T00:00:00'"),
        ("'2008-03-30T02:30:00.000001'",),
        beyond=("'0001-01-01T00:00:00'", "'9999-12-31T23:59:59'"),
    ),
    Kind(
        "datetimeoffset(6)",
        "instant",
        "'2008-03-30T02:30:00+05:45'",
        ("'1582-10-15T00:00:00+00:00'", "'9999-12-31T23:59:59+00:00'"),
        ("'2008-03-30T02:30:00.000001-14:00'",),
        keys=("'2008-03-30T02:30:00+05:45'", "'1970-01-01T00:00:00+00:00'"),
    ),
    Kind(
        "datetimeoffset(7)",
        "instant",
        "'2008-03-30T02:30:00+05:45'",
        ("'1582-10-15T00:00:00+00:00'", "'9999-12-31T23:59:59+00:00'"),
    ),
    Kind("time(0)", "time", "'12:34:56'", ("'00:00:00'", "'23:59:59'")),
    Kind("time(6)", "time", "'12:34:56'", ("'00:00:00'", "'23:59:59.999999'")),
    Kind("time(7)", "time_ns", "'12:34:56'", ("'00:00:00'", "'23:59:59.999999'")),
    Kind("sysname", "text", "N'x'", ("N'ä'",)),
    Kind("rowversion", None, "0x00", ()),
    Kind("xml", None, "'<a/>'", ("'<a>b</a>'",)),
    Kind("sql_variant", None, "1", ("'x'",)),
    Kind("hierarchyid", None, "'/1/'", ()),
    Kind("geography", None, "'POINT(1 2)'", ()),
)
