"""Every type at its limits: as the database holds it, so silver shows it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime
from decimal import Decimal
from functools import partial

import pytest

from labctl.engines.mysql.mysql_types import MYSQL
from labctl.engines.postgres.postgres_types import POSTGRES
from labctl.engines.sqlserver.sqlserver_types import SQLSERVER
from labctl.sources import Source
from labctl.sources.type_rules import TypeRule
from labctl.testing.eventually import Eventually
from labctl.testing.plugin import SilverReader
from tests.e2e.wide_tables import ROWS, WIDE, insert_row

OpenSource = Callable[[str], Source]
SIZES = 38
MICROSECONDS = 1_000_000

EXACT: dict[str, dict[str, object]] = {
    "postgres": {
        "c_smallint": 32767,
        "c_bigint": 2**63 - 1,
        "c_decimal": Decimal("999999.99"),
        "c_decimal_38": Decimal("9" * SIZES),
        "c_fraction": Decimal("0." + "9" * SIZES),
        "c_numeric": "0." + "9" * SIZES,
        "c_double": 1.7976931348623157e308,
        "c_boolean": True,
        "c_varchar": "𝄞" * 100,
        "c_date": date.max,
        "c_timestamp": datetime.max.replace(tzinfo=UTC),
        "c_timestamptz": datetime.max.replace(tzinfo=UTC),
        "c_time": 24 * 3600 * MICROSECONDS - 1,
        "c_oid": 2**32 - 1,
        "c_inet": "ffff::1/64",
        "c_interval": "P1000000Y0M3DT100000H0M0.1S",
        "c_int4range": "[1,)",
    },
    "mysql": {
        "c_tinyint_u": 255,
        "c_tinyint_1": 127,
        "c_tinyint_1_u": 255,
        "c_int_u": 2**32 - 1,
        "c_bigint": 2**63 - 1,
        "c_decimal": Decimal("999999.99"),
        "c_decimal_38": Decimal("9" * SIZES),
        "c_double": 1.7976931348623157e308,
        "c_varchar": "𝄞" * 100,
        "c_bigint_u": Decimal(2**64 - 1),
        "c_zerofill": 2**32 - 1,
        "c_bit": True,
        "c_bits": b"\xff\x01",
        "c_json": '"ﷺ 😀"',
        "c_set": "a,b,c",
        "c_binary": b"\xff" * 4,
        "c_year": 2155,
        "c_date": date.max,
        "c_datetime": datetime.max.replace(tzinfo=UTC),
        "c_timestamp": datetime(2038, 1, 19, 3, 14, 7, 499999, tzinfo=UTC),
        "c_time": (838 * 3600 + 59 * 60 + 59) * MICROSECONDS,
    },
    "sqlserver": {
        "c_tinyint": 255,
        "c_bigint": 2**63 - 1,
        "c_decimal": Decimal("999999.99"),
        "c_decimal_38": Decimal("9" * SIZES),
        "c_numeric": Decimal("0." + "9" * SIZES),
        "c_money": Decimal("922337203685477.5807"),
        "c_float": 1.7976931348623157e308,
        "c_nvarchar": "𝄞" * 100,
        "c_guid": "FFFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFF",
        "c_binary": b"\xff" * 4,
        "c_date": date.max,
        "c_datetime": datetime(9999, 12, 31, 23, 59, 59, 997000, tzinfo=UTC),
        "c_datetime2": datetime.max.replace(tzinfo=UTC),
        "c_datetime2_7": 9_223_372_036_854_775_000,
        "c_datetimeoffset": datetime.max.replace(tzinfo=UTC),
        "c_time": 24 * 3600 * MICROSECONDS - 1,
        "c_time_7": (24 * 3600 * MICROSECONDS - 1) * 1000,
    },
}
"""Values of the row `maximum`, written down again: not read from the database."""


SHOWN_AS_ANOTHER = {"numeric", "text", "ntext"}
"""The stand-in's catalogue shows them as decimal, varchar(max) and nvarchar(max)."""


@pytest.mark.parametrize(
    ("engine", "rules"), [("postgres", POSTGRES), ("mysql", MYSQL), ("sqlserver", SQLSERVER)]
)
def test_every_type_there_is_a_rule_for_has_a_column(
    engine: str, rules: Mapping[str, TypeRule], source: OpenSource
) -> None:
    columns = source(engine).describe(WIDE[engine].ref).columns
    shown = {column.declared.name for column in columns}
    assert shown >= set(rules) - (SHOWN_AS_ANOTHER if engine == "sqlserver" else set())


@pytest.mark.parametrize("engine", WIDE)
def test_values_at_their_limits_arrive_while_streaming(
    engine: str,
    source: OpenSource,
    silver: SilverReader,
    eventually: Eventually,
    verify_equal: Callable[..., None],
    new_key: Callable[[], int],
) -> None:
    table, database = WIDE[engine], source(engine)
    keys = {kind: new_key() for kind in ROWS}
    for kind, key in keys.items():
        insert_row(database, table, key, kind)
    eventually(
        lambda: silver(table.silver, f"id = {keys['null']}"),
        row=(table.silver, {"id": keys["null"]}),
    )
    verify_equal(table.silver)

    (maximum,) = silver(table.silver, f"id = {keys['maximum']}")
    assert {name: maximum[name] for name in EXACT[engine]} == EXACT[engine]
    (null,) = silver(table.silver, f"id = {keys['null']}")
    assert {null[name] for name in table.columns} == {None}


@pytest.mark.parametrize("engine", WIDE)
def test_streaming_and_the_first_load_agree(
    engine: str,
    source: OpenSource,
    silver: SilverReader,
    eventually: Eventually,
    new_key: Callable[[], int],
) -> None:
    table, database = WIDE[engine], source(engine)
    for loaded, kind in enumerate(ROWS):
        key = new_key()
        insert_row(database, table, key, kind, loaded=True)
        (streamed,) = eventually(
            partial(silver, table.silver, f"id = {key}"), row=(table.silver, {"id": key})
        )
        (snapshot,) = silver(table.silver, f"id = {loaded}")
        assert {n: streamed[n] for n in table.columns} == {n: snapshot[n] for n in table.columns}
