"""Tables with a column of every type that can be captured, and their values at the limits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from labctl.sources import Source, TableRef

__all__ = [
    "CHANGING",
    "DDL",
    "EXTRA_PROPERTIES",
    "FLEETING",
    "PARTED",
    "ROWS",
    "SPARE",
    "WIDE",
    "Column",
    "WideTable",
    "insert_row",
]

TEXT = "'it''s \"quoted\", 🎟️ 👩‍👩‍👧 שלום e\u0301\u0302 ﷺ \t\r\nnext'"
"""Emoji (also joined ones), right to left, combining marks, blanks, quotes and a new line."""


@dataclass(frozen=True)
class Column:
    """A column's type, and values as SQL literals."""

    declared: str
    minimum: str
    maximum: str
    typical: str
    loaded: Mapping[str, str] = field(default_factory=dict)
    """What takes the place of these in the first load, where a connector reads less exactly than
    from the log (docs/types.md)."""

    def literal(self, kind: str, *, loaded: bool = False) -> str:
        """The value in a row of `ROWS`."""
        if kind == "null":
            return "NULL"
        value: str = getattr(self, kind)
        return self.loaded.get(kind, value) if loaded else value


@dataclass(frozen=True)
class WideTable:
    """A source table with every type, and the silver table it becomes."""

    engine: str
    ref: TableRef
    silver: str
    columns: dict[str, Column]

    @property
    def ddl(self) -> str:
        columns = "".join(
            f", {name} {c.declared}{self._default(c)}" for name, c in self.columns.items()
        )
        definition = f"{self.ref} (id integer NOT NULL PRIMARY KEY{columns})"
        if self.engine == "sqlserver":
            return f"IF OBJECT_ID(N'{self.ref}') IS NULL CREATE TABLE {definition}"
        return f"CREATE TABLE IF NOT EXISTS {definition}"

    def _default(self, column: Column) -> str:
        """A default, so that the row of NULLs shows whether NULL stays NULL."""
        if self.engine == "mysql" and column.declared.endswith(("text", "blob", "json")):
            return ""  # they have none
        return f" DEFAULT {column.typical}"


ROWS = ("minimum", "maximum", "typical", "null")
NINES = "9" * 38
SIX_DIGITS = "3.4028201e38"
"""Above the largest float that has six digits, and below the largest there is."""
GREGORIAN = "'1582-10-15 00:00:00Z'"

POSTGRES = WideTable(
    "postgres",
    TableRef("ems", "everything"),
    "everything_pg",
    {
        "c_smallint": Column("smallint", "-32768", "32767", "7"),
        "c_integer": Column("integer", "-2147483648", "2147483647", "0"),
        "c_bigint": Column("bigint", "-9223372036854775808", "9223372036854775807", "0"),
        "c_decimal": Column("numeric(8,2)", "-999999.99", "999999.99", "0.10"),
        "c_decimal_38": Column("numeric(38,0)", f"-{NINES}", NINES, "1"),
        "c_fraction": Column("numeric(38,38)", f"-0.{NINES}", f"0.{NINES}", "0"),
        "c_numeric": Column("numeric", f"-{NINES}", f"0.{NINES}", "1.500"),
        # Debezium's first load keeps 15 digits of it.
        "c_money": Column("money", "'-9999999999999.99'", "'9999999999999.99'", "'0.01'"),
        "c_real": Column("real", "'-3.4028235e38'", "'3.4028235e38'", "'0.1'"),
        "c_double": Column(
            "double precision", "'-1.7976931348623157e308'", "'1.7976931348623157e308'", "'-0'"
        ),
        "c_boolean": Column("boolean", "false", "true", "true"),
        "c_varchar": Column("varchar(100)", "''", "repeat('𝄞', 100)", TEXT),
        "c_char": Column("char(4)", "''", "'ﷺﷺﷺﷺ'", "'ab'"),
        "c_text": Column("text", "''", "repeat('0123456789', 10000)", TEXT),
        "c_uuid": Column(
            "uuid",
            "'00000000-0000-0000-0000-000000000000'",
            "'ffffffff-ffff-ffff-ffff-ffffffffffff'",
            "'123e4567-e89b-12d3-a456-426614174000'",
        ),
        "c_enum": Column("ems.mood", "'sad'", "'happy 😀'", "'so so'"),
        "c_json": Column("json", "'null'", """'{"b" : 1,  "a": "é"}'""", "'[1.50, true]'"),
        "c_jsonb": Column("jsonb", "'{}'", """'{"b" : 1,  "a": "é"}'""", "'[1.50, true]'"),
        "c_internal_char": Column('"char"', "''", "'x'", "'a'"),
        "c_oid": Column("oid", "0", "4294967295", "7"),
        "c_inet": Column("inet", "'0.0.0.0/0'", "'ffff::1/64'", "'10.0.0.5'"),
        "c_cidr": Column("cidr", "'0.0.0.0/0'", "'2001:db8::/32'", "'10.0.0.0/8'"),
        "c_macaddr": Column(
            "macaddr", "'00:00:00:00:00:00'", "'ff:ff:ff:ff:ff:ff'", "'08:00:2b:01:02:03'"
        ),
        "c_macaddr8": Column(
            "macaddr8",
            "'00:00:00:00:00:00:00:00'",
            "'ff:ff:ff:ff:ff:ff:ff:ff'",
            "'08:00:2b:01:02:03:04:05'",
        ),
        "c_interval": Column(
            "interval",
            "'-13 months 5 days -0.000001 seconds'",
            "'1000000 years 3 days 100000 hours 0.1 seconds'",
            "'-1 days +02:03:04'",
        ),
        "c_int4range": Column("int4range", "'empty'", "'[1,)'", "'[1,10]'"),
        "c_int8range": Column("int8range", "'empty'", "'(,5]'", "'[1,10)'"),
        "c_numrange": Column("numrange", "'empty'", "'(,)'", "'(1.50,2.5]'"),
        "c_daterange": Column(
            "daterange", "'empty'", "'[0001-01-01,9999-12-31)'", "'[2008-02-28,2008-02-29]'"
        ),
        "c_tsrange": Column(
            "tsrange", "'empty'", "'[0001-01-01,)'", "'(2008-03-30 02:30,2008-03-30 03:00:00.5)'"
        ),
        "c_bytea": Column("bytea", "''", "decode(repeat('00ff', 5000), 'hex')", "'\\x00ff0d0a'"),
        "c_date": Column("date", "'0001-01-01'", "'9999-12-31'", "'2008-02-29'"),
        "c_timestamp": Column(
            "timestamp",
            "'0001-01-01 00:00:00'",
            "'9999-12-31 23:59:59.999999'",
            "'2008-03-30 02:30:00.000001'",
            {"minimum": GREGORIAN},
        ),
        "c_timestamptz": Column(
            "timestamptz",
            "'0001-01-01 00:00:00Z'",
            "'9999-12-31 23:59:59.999999Z'",
            "'2008-03-30 02:30:00.000001+05:45'",
            {"minimum": GREGORIAN},
        ),
        "c_time": Column("time", "'00:00:00'", "'23:59:59.999999'", "'12:34:56.000001'"),
    },
)

MYSQL = WideTable(
    "mysql",
    TableRef("ecomm", "everything"),
    "everything_my",
    {
        "c_boolean": Column("boolean", "0", "1", "1"),
        "c_tinyint": Column("tinyint", "-128", "127", "7"),
        "c_tinyint_u": Column("tinyint unsigned", "0", "255", "7"),
        # Numbers, not booleans: TICKIT's connector makes a boolean of one column alone.
        "c_tinyint_1": Column("tinyint(1)", "-1", "127", "2"),
        "c_tinyint_1_u": Column("tinyint(1) unsigned", "0", "255", "2"),
        "c_smallint": Column("smallint", "-32768", "32767", "7"),
        "c_smallint_u": Column("smallint unsigned", "0", "65535", "7"),
        "c_mediumint": Column("mediumint", "-8388608", "8388607", "7"),
        "c_mediumint_u": Column("mediumint unsigned", "0", "16777215", "7"),
        "c_int": Column("int", "-2147483648", "2147483647", "0"),
        "c_int_u": Column("int unsigned", "0", "4294967295", "7"),
        "c_bigint": Column("bigint", "-9223372036854775808", "9223372036854775807", "0"),
        "c_bigint_u": Column("bigint unsigned", "0", "18446744073709551615", "7"),
        "c_zerofill": Column("int(6) unsigned zerofill", "0", "4294967295", "42"),
        "c_bit": Column("bit(1)", "b'0'", "b'1'", "b'1'"),
        "c_bits": Column("bit(9)", "b'0'", "b'111111111'", "b'100000010'"),
        "c_decimal": Column("decimal(8,2)", "-999999.99", "999999.99", "0.10"),
        "c_decimal_u": Column("decimal(8,2) unsigned", "0", "999999.99", "0.10"),
        "c_decimal_38": Column("decimal(38,0)", f"-{NINES}", NINES, "1"),
        "c_fraction": Column("decimal(38,30)", "-99999999.9", f"0.{'9' * 30}", "0"),
        "c_float": Column(
            "float",
            "-3.4028234e38",
            "3.4028234e38",
            "0.1",
            {"minimum": "-3.40282e38", "maximum": "3.40282e38"},
        ),
        "c_double": Column("double", "-1.7976931348623157e308", "1.7976931348623157e308", "0.1"),
        "c_float_u": Column("float unsigned", "0", "3.40282e38", "0.5"),
        "c_double_u": Column("double unsigned", "0", "1.7976931348623157e308", "0.1"),
        # Where the text of both differs, tests/integration/test_zero_dates.py compares.
        "c_json": Column("json", "'null'", """'"ﷺ 😀"'""", "'-12.5'"),
        "c_char": Column("char(10)", "''", "'ﷺﷺﷺﷺﷺﷺﷺﷺﷺﷺ'", "'ab'"),
        "c_varchar": Column("varchar(100)", "''", "repeat('𝄞', 100)", TEXT),
        "c_tinytext": Column("tinytext", "''", "repeat('x', 255)", TEXT),
        "c_text": Column("text", "''", "repeat('x', 65535)", TEXT),
        "c_mediumtext": Column("mediumtext", "''", "repeat('0123456789', 10000)", TEXT),
        "c_longtext": Column("longtext", "''", "repeat('0123456789', 10000)", TEXT),
        "c_enum": Column(
            "enum('sad', 'so so', 'glücklich ☺')", "'sad'", "'glücklich ☺'", "'so so'"
        ),
        "c_set": Column("set('a', 'b', 'c')", "''", "'a,b,c'", "'a,c'"),
        "c_binary": Column("binary(4)", "x'00000000'", "x'ffffffff'", "x'0100'"),
        "c_varbinary": Column("varbinary(16)", "x''", "repeat(x'ff', 16)", "x'00'"),
        "c_tinyblob": Column("tinyblob", "x''", "repeat(x'ff', 255)", "x'00ff0d0a'"),
        "c_blob": Column("blob", "x''", "repeat(x'00ff', 5000)", "x'00ff0d0a'"),
        "c_mediumblob": Column("mediumblob", "x''", "repeat(x'00ff', 5000)", "x'00ff0d0a'"),
        "c_longblob": Column("longblob", "x''", "repeat(x'00ff', 5000)", "x'00ff0d0a'"),
        "c_year": Column("year", "0", "2155", "2000"),
        "c_date": Column("date", "'1000-01-01'", "'9999-12-31'", "'2008-02-29'"),
        "c_datetime": Column(
            "datetime(6)",
            "'1000-01-01 00:00:00'",
            "'9999-12-31 23:59:59.999999'",
            "'2008-03-30 02:30:00.000001'",
        ),
        "c_datetime_3": Column(
            "datetime(3)",
            "'1000-01-01 00:00:00'",
            "'9999-12-31 23:59:59.999'",
            "'2008-03-30 02:30:00.001'",
        ),
        "c_timestamp": Column(
            "timestamp(6) NULL",
            "'1970-01-01 00:00:01'",
            "'2038-01-19 03:14:07.499999'",
            "'2008-03-30 02:30:00.000001'",
        ),
        "c_time": Column("time(6)", "'-838:59:59'", "'838:59:59'", "'12:34:56.000001'"),
    },
)

SQLSERVER = WideTable(
    "sqlserver",
    TableRef("crm", "everything"),
    "everything_ms",
    {
        "c_bit": Column("bit", "0", "1", "1"),
        "c_tinyint": Column("tinyint", "0", "255", "7"),
        "c_smallint": Column("smallint", "-32768", "32767", "7"),
        "c_int": Column("int", "-2147483648", "2147483647", "0"),
        "c_bigint": Column("bigint", "-9223372036854775808", "9223372036854775807", "0"),
        "c_decimal": Column("decimal(8,2)", "-999999.99", "999999.99", "0.10"),
        "c_decimal_38": Column("decimal(38,0)", f"-{NINES}", NINES, "1"),
        "c_numeric": Column("numeric(38,38)", f"-0.{NINES}", f"0.{NINES}", "0"),
        "c_money": Column("money", "-922337203685477.5808", "922337203685477.5807", "0.0001"),
        "c_smallmoney": Column("smallmoney", "-214748.3648", "214748.3647", "0.0001"),
        "c_real": Column("real", "-3.4028235e38", "3.4028235e38", "0.1"),
        "c_float": Column("float", "-1.7976931348623157e308", "1.7976931348623157e308", "0.1"),
        "c_char": Column("char(4)", "''", "'abcd'", "'ab'"),
        "c_varchar": Column("varchar(100)", "''", "REPLICATE('x', 100)", "'it''s'"),
        "c_varchar_max": Column(
            "varchar(max)", "''", "REPLICATE(CAST('0123456789' AS varchar(max)), 10000)", "'x'"
        ),
        "c_nchar": Column("nchar(4)", "N''", "N'ﷺﷺﷺﷺ'", "N'ab'"),
        "c_nvarchar": Column("nvarchar(200)", "N''", "REPLICATE(N'𝄞', 100)", f"N{TEXT}"),
        "c_text": Column(
            "nvarchar(max)",
            "N''",
            "REPLICATE(CAST(N'0123456789' AS nvarchar(max)), 10000)",
            f"N{TEXT}",
        ),
        "c_old_text": Column("text", "''", "REPLICATE('x', 8000)", "'x'"),
        "c_old_ntext": Column("ntext", "N''", "REPLICATE(N'ﷺ', 4000)", "N'x'"),
        "c_guid": Column(
            "uniqueidentifier",
            "'00000000-0000-0000-0000-000000000000'",
            "'ffffffff-ffff-ffff-ffff-ffffffffffff'",
            "'123e4567-e89b-12d3-a456-426614174000'",
        ),
        "c_binary": Column("binary(4)", "0x00000000", "0xffffffff", "0x0100"),
        "c_varbinary": Column("varbinary(16)", "0x", "0xffffffffffffffffffffffffffffffff", "0x00"),
        "c_varbinary_max": Column(
            "varbinary(max)",
            "0x",
            "CAST(REPLICATE(CAST('ab' AS varchar(max)), 5000) AS varbinary(max))",
            "0x00ff0d0a",
        ),
        "c_date": Column("date", "'0001-01-01'", "'9999-12-31'", "'2008-02-29'"),
        "c_datetime": Column(
            "datetime",
            "'1753-01-01T00:00:00'",
            "'9999-12-31T23:59:59.997'",
            "'2008-03-30T02:30:00.003'",
        ),
        "c_smalldatetime": Column(
            "smalldatetime", "'1900-01-01T00:00:00'", "'2079-06-06T23:59:00'", "'2008-03-30T02:30'"
        ),
        "c_datetime2": Column(
            "datetime2(6)",
            "'0001-01-01T00:00:00'",
            "'9999-12-31T23:59:59.999999'",
            "'2008-03-30T02:30:00.000001'",
        ),
        "c_datetime2_3": Column(
            "datetime2(3)",
            "'0001-01-01T00:00:00'",
            "'9999-12-31T23:59:59.999'",
            "'2008-03-30T02:30:00.001'",
        ),
        "c_datetime2_7": Column(
            "datetime2",
            "'1753-01-01T00:00:00'",
            "'2262-04-11T23:47:16.854775'",
            "'2008-03-30T02:30:00.000001'",
        ),
        "c_datetimeoffset": Column(
            "datetimeoffset(6)",
            "'1582-10-15T00:00:00+00:00'",
            "'9999-12-31T23:59:59.999999+00:00'",
            "'2008-03-30T02:30:00.000001+05:45'",
        ),
        "c_time": Column("time(6)", "'00:00:00'", "'23:59:59.999999'", "'12:34:56.000001'"),
        "c_time_3": Column("time(3)", "'00:00:00'", "'23:59:59.999'", "'12:34:56.001'"),
        "c_time_7": Column("time", "'00:00:00'", "'23:59:59.999999'", "'12:34:56.000001'"),
    },
)

WIDE = {table.engine: table for table in (POSTGRES, MYSQL, SQLSERVER)}

FLEETING = TableRef("ecomm", "fleeting")
"""A MySQL table whose deletes remove the row from silver: `lab.deletes=hard`."""
SPARE = TableRef("ecomm", "spare")
"""A MySQL table for tests to rename, and to change the type and the key of."""

CHANGING = {
    "postgres": TableRef("ems", "changing"),
    "mysql": TableRef("ecomm", "changing"),
    "sqlserver": TableRef("crm", "changing"),
}
"""A table of each engine for a test to change the columns of."""
PARTED = TableRef("ems", "parted")
"""A PostgreSQL table in partitions, for a test to add some."""
_CHANGING = "(id integer NOT NULL PRIMARY KEY, note varchar(40))"

_MOOD = """
DO $$ BEGIN
    IF to_regtype('ems.mood') IS NULL THEN
        CREATE TYPE ems.mood AS ENUM ('sad', 'so so', 'happy 😀');
    END IF;
END $$
"""

DDL = {
    "postgres": (
        _MOOD,
        POSTGRES.ddl,
        f"CREATE TABLE IF NOT EXISTS {CHANGING['postgres']} {_CHANGING}",
        f"CREATE TABLE IF NOT EXISTS {PARTED} {_CHANGING} PARTITION BY RANGE (id)",
        f"CREATE TABLE IF NOT EXISTS {PARTED}_0 PARTITION OF {PARTED} FOR VALUES FROM (0) TO (100)",
    ),
    "mysql": (
        MYSQL.ddl,
        f"CREATE TABLE IF NOT EXISTS {FLEETING} (id integer NOT NULL PRIMARY KEY, note text)",
        f"CREATE TABLE IF NOT EXISTS {SPARE} (id integer NOT NULL PRIMARY KEY, n integer)",
        f"CREATE TABLE IF NOT EXISTS {CHANGING['mysql']} {_CHANGING}",
    ),
    "sqlserver": (
        SQLSERVER.ddl,
        f"IF OBJECT_ID(N'{CHANGING['sqlserver']}') IS NULL"
        f" CREATE TABLE {CHANGING['sqlserver']} {_CHANGING}",
    ),
}


def _properties(topic: str, table: str, table_type: str, more: str = "") -> tuple[str, str]:
    return f"{topic}.properties", (
        "include=base.properties\n"
        f"hoodie.table.name={table}\n"
        f"hoodie.datasource.write.table.type={table_type}\n"
        "hoodie.datasource.write.recordkey.field=id\n"
        f"hoodie.streamer.source.kafka.topic={topic}\n"
        f"hoodie.streamer.source.dfs.root=topics/{topic}\n"
        f"{more}"
    )


EXTRA_PROPERTIES = dict(
    (
        _properties("tickit.ems.everything", POSTGRES.silver, "MERGE_ON_READ"),
        _properties("tickit.ecomm.everything", MYSQL.silver, "COPY_ON_WRITE"),
        _properties("tickit.crm.everything", SQLSERVER.silver, "MERGE_ON_READ"),
        *(
            _properties(f"tickit.{ref}", f"changing_{engine}", "MERGE_ON_READ")
            for engine, ref in CHANGING.items()
        ),
        _properties(f"tickit.{PARTED}", PARTED.name, "MERGE_ON_READ"),
        _properties("tickit.ecomm.spare", SPARE.name, "MERGE_ON_READ"),
        _properties("tickit.ecomm.fleeting", "fleeting", "MERGE_ON_READ", "lab.deletes=hard\n"),
    )
)
"""Properties files of these tables, by name."""


def insert_row(
    source: Source, table: WideTable, key: int, kind: str, *, loaded: bool = False
) -> None:
    """Insert a row of `ROWS` under `key`; `loaded`: as the first load can read it."""
    names = ", ".join(("id", *table.columns))
    literals = (column.literal(kind, loaded=loaded) for column in table.columns.values())
    values = ", ".join((str(key), *literals))
    source.execute(f"INSERT INTO {table.ref} ({names}) VALUES ({values})")
