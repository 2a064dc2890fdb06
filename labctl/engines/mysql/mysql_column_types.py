"""MySQL's column types."""

from __future__ import annotations

from labctl.conformance.cases import Kind
from labctl.conformance.odd_values import MEGABYTE, NINES, ODD_TEXT, PLACEHOLDER, texts

__all__ = ["MYSQL"]

_ODD = (*texts(ODD_TEXT), r"'nul\0in'")
_UNHELD = texts((PLACEHOLDER,))
_KEYS = (
    *texts(("a", "B", "", "ä2", "a,b:c", "__null__", "__empty__", "x y", "😀", "z'z")),
    r"'n\0l'",
)


def _whole(declared: str, low: str, high: str, wider: str | None, *special: str) -> Kind:
    keys = (low, "1", "2", high)
    return Kind(
        declared, "integer", "7", (low, high), ("0", *special), keys=keys, wider=wider, other="text"
    )


MYSQL: tuple[Kind, ...] = (
    _whole("tinyint(1)", "-128", "127", "int", "1", "2", "-1"),
    _whole("tinyint", "-128", "127", "int"),
    _whole("tinyint(1) unsigned", "0", "255", "int", "1", "2"),
    _whole("tinyint unsigned", "0", "255", "int"),
    _whole("smallint", "-32768", "32767", "int"),
    _whole("smallint unsigned", "0", "65535", "int"),
    _whole("mediumint", "-8388608", "8388607", "int"),
    _whole("mediumint unsigned", "0", "16777215", "bigint"),
    _whole("int", "-2147483648", "2147483647", "bigint"),
    _whole("int unsigned", "0", "4294967295", "bigint"),
    _whole("int(6) unsigned zerofill", "0", "4294967295", "bigint"),
    _whole("bigint", "-9223372036854775808", "9223372036854775807", None, "9007199254740993"),
    _whole("bigint unsigned", "0", "18446744073709551615", None, "9223372036854775808"),
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
    Kind("decimal(8,2) unsigned", "decimal", "0.10", ("0", "999999.99")),
    Kind("decimal(38,0)", "decimal", "1", (f"-{NINES}", NINES), ("0",)),
    Kind("decimal(38,30)", "decimal", "1", ("-99999999.9", f"0.{'9' * 30}"), ("0",)),
    Kind("decimal(65,30)", "decimal", "1", (f"{'9' * 35}.{'9' * 30}",), ("0",)),
    Kind("float", "float32", "1.5", ("-3.40282e38", "3.40282e38", "1e-38"), ("0.1", "-0e0")),
    Kind(
        "double",
        "float64",
        "1.5",
        ("-1.7976931348623157e308", "1.7976931348623157e308", "5e-324"),
        ("0.1", "-0e0"),
    ),
    Kind("bit(1)", "bits", "b'1'", ("b'0'",)),
    Kind("bit(9)", "bits", "b'1'", ("b'111111111'", "b'100000000'")),
    Kind("bit(64)", "bits", "b'1'", ("18446744073709551615",)),
    Kind("char(4)", "text", "'ab'", ("''", "'ﷺﷺﷺﷺ'"), ("'a '", "' a'"), keys=("'a'", "'b'", "''")),
    Kind(
        "varchar(100)",
        "text",
        "'x'",
        ("''", "repeat('𝄞', 100)"),
        _ODD,
        beyond=_UNHELD,
        keys=_KEYS,
        wider="text",
    ),
    Kind("varchar(50) CHARACTER SET latin1", "text", "'x'", ("'äÿ'",), ("' x '",)),
    Kind("varchar(50) CHARACTER SET utf8mb3", "text", "'x'", ("'ﷺ'",), ("' x '",)),
    Kind("varchar(50) CHARACTER SET utf16", "text", "'x'", ("'𝄞'",), ("' x '",)),
    Kind("char(10) CHARACTER SET binary", "bytes", "'x'", ("x'00ff'",)),
    Kind("varchar(50) COLLATE utf8mb4_bin", "text", "'x'", ("''",), _ODD, keys=texts(("a", "A"))),
    Kind("tinytext", "text", "'x'", ("''",), _ODD[:3], has_default=False),
    Kind(
        "text",
        "text",
        "'x'",
        ("''", "repeat('0123456789', 6000)"),
        _ODD,
        beyond=_UNHELD,
        has_default=False,
    ),
    Kind("mediumtext", "text", "'x'", ("repeat('ä', 40000)",), _ODD, has_default=False),
    Kind(
        "longtext",
        "text",
        "'x'",
        ("repeat('0123456789', 20000)",),
        _ODD,
        beyond=_UNHELD,
        has_default=False,
        huge=f"repeat('0123456789', {MEGABYTE // 10})",
    ),
    Kind(
        "enum('sad','so so','it''s, odd')",
        "text",
        "'so so'",
        ("'sad'",),
        ("'it''s, odd'",),
        keys=("'sad'", "'so so'"),
        wider="enum('sad','so so','it''s, odd','new')",
    ),
    Kind("enum('a','it''s b')", "text", "'a'", ("'it''s b'",), keys=("'a'", "'it''s b'")),
    Kind("set('a','b','c d')", "text", "'a'", ("''", "'a,b,c d'"), ("'c d'",)),
    Kind(
        "binary(4)",
        "bytes",
        "x'00ff0d0a'",
        ("x''", "x'ffffffff'"),
        keys=("x'00'", "x'01'", "x'0001'", "x'ff'"),
    ),
    Kind("binary(16)", "bytes", "x'00'", ("x'ff'",), keys=("x'00'", "x'01'", "x'02'")),
    Kind(
        "varbinary(100)",
        "bytes",
        "x'00ff0d0a'",
        ("''", "repeat(x'00ff', 50)"),
        keys=("x'00'", "x'01'", "x'0001'"),
    ),
    Kind("tinyblob", "bytes", "'x'", ("''",), ("x'00'",), has_default=False),
    Kind("blob", "bytes", "'x'", ("''", "repeat(x'00ff', 5000)"), has_default=False),
    Kind("mediumblob", "bytes", "'x'", ("repeat(x'00ff', 50000)",), has_default=False),
    Kind(
        "longblob",
        "bytes",
        "'x'",
        ("repeat(x'00ff', 50000)",),
        has_default=False,
        huge=f"repeat(x'00ff', {MEGABYTE // 2})",
    ),
    Kind(
        "year",
        "integer",
        "2008",
        ("1901", "2155"),
        ("1970",),
        beyond=("0",),
        keys=("1901", "2155", "1970"),
    ),
    Kind(
        "date",
        "date",
        "'2008-02-29'",
        ("'1000-01-01'", "'9999-12-31'"),
        ("'1582-10-04'", "'1970-01-01'"),
        beyond=("'0000-00-00'", "'2008-00-00'"),
        keys=("'1970-01-01'", "'2008-02-29'", "'9999-12-31'"),
    ),
    *(
        Kind(
            declared,
            "timestamp",
            "'2008-03-30 02:30:00'",
            ("'1000-01-01 00:00:00'", "'9999-12-31 23:59:59'"),
            ("'1970-01-01 00:00:00'", "'1969-12-31 23:59:59.4'", "'2008-03-30 02:30:00.000001'"),
            beyond=("'0000-00-00 00:00:00'",),
            keys=("'1970-01-01 00:00:00'", "'2008-03-30 02:30:00'", "'9999-12-31 23:59:59'"),
        )
        for declared in ("datetime", "datetime(3)", "datetime(6)")
    ),
    *(
        Kind(
            declared,
            "instant",
            "'2008-03-30 02:30:00'",
            ("'1970-01-01 00:00:01'", "'2038-01-19 03:14:07'"),
            ("'2008-03-30 01:00:00.000001'", "'2008-10-26 00:30:00'"),
            beyond=("'0000-00-00 00:00:00'",),
            keys=("'1970-01-01 00:00:01'", "'2008-03-30 02:30:00'"),
        )
        for declared in ("timestamp", "timestamp(6)")
    ),
    *(
        Kind(
            declared,
            "time",
            "'12:34:56'",
            ("'-838:59:59'", "'838:59:59'"),
            ("'00:00:00'", "'-00:00:01'", "'24:00:00'"),
        )
        for declared in ("time", "time(6)")
    ),
    Kind(
        "json",
        "json",
        "'[1.5, true]'",
        ("'null'", "'{}'"),
        ("""'{"b" : 1,  "a": "é"}'""", "'\"x\"'", "'1.0'", "'[1e3, 12345678901234567890]'"),
        has_default=False,
    ),
    Kind("geometry", "wkb", "ST_GeomFromText('POINT(1 2)')", (), has_default=False),
    Kind("point", "wkb", "ST_GeomFromText('POINT(1 2)', 4326)", (), has_default=False),
    Kind("polygon", "wkb", "ST_GeomFromText('POLYGON((0 0,1 0,1 1,0 0))')", (), has_default=False),
    Kind("linestring", "wkb", "ST_GeomFromText('LINESTRING(0 0,1 1)')", (), has_default=False),
    Kind(
        "vector(3)",
        "vector",
        "STRING_TO_VECTOR('[1,-2.5,0]')",
        ("STRING_TO_VECTOR('[3.4e38,-3.4e38,1.2e-38]')",),
        ("STRING_TO_VECTOR('[0.1,-0.0,16777217]')",),
        has_default=False,
    ),
)
