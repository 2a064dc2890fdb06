"""Writing docs/types.md: `python -m labctl.conformance.types_document > docs/types.md`.

The page has the declared rules of types, and beside each what the kept reports have seen of it.
"""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa

from labctl.conformance.evidence import evidence, kept_reports
from labctl.engine_names import EngineName
from labctl.sources import ENGINES
from labctl.sources.arrays import ELEMENTS
from labctl.sources.base import Declared
from labctl.sources.type_rules import TypeRule

__all__ = ["render"]

INTRODUCTION = """\
# How source types arrive in silver

Made from the rules of `labctl/engines` and the reports of `labctl test conformance` by
`python -m labctl.conformance.types_document > docs/types.md`; `labctl verify` compares by the same
rules. The column *seen* has what generated tables showed, in their first load and in the stream, by
the kind of value, with the number of tables ([conformance.md](conformance.md)).

The connectors run with `decimal.handling.mode=precise` and
`time.precision.mode=adaptive_time_microseconds` (SQL Server's with `adaptive`), and the Spark
application reads Debezium's meaning from the schema's `connect.name`
(`spark/lakehouse/mapping.py`). No digit and no microsecond is lost on the way, but for what
Debezium's first load reads less exactly than its streaming does, which the tables below name and
`labctl verify` reports. A value that its silver type cannot hold exactly stops its table, or goes
to the dead-letter location with `lab.on.bad.record=deadletter`; it is never rounded.

A timestamp without a time zone is the wall clock as stored, shown as if it were UTC. A timestamp
with one is the instant, in UTC; the zone it was written in is not kept (the databases do not keep
it either). A time of day is the microseconds since midnight.

Of a column's name, letters of ASCII, digits and `_` stay. Each other character becomes `_`, one
that takes two units of UTF-16, such as an emoji, `__`. A table with two columns that become one, or
one of the columns that silver adds, is refused by name. So is a PostgreSQL table with a column
whose name is not ASCII: Debezium reads such a name in the log as another one. Rename the column.
"""

CLOSING = f"""\
Of PostgreSQL's arrays, `labctl verify` compares those of {", ".join(map("`{}`".format, ELEMENTS))}.
Each element counts, NULL ones too. Of `numeric` it compares those with up to 38 declared digits.
An array of several dimensions differs: silver has no form for it.

`labctl verify` cannot compare columns of other types. It names them, compares the rest of the
table, and exits with 7: such values may arrive, but nothing here has proven that they are exact.

Besides the table's own columns a silver row has `__op` (`r` snapshot, `c`, `u`, `d`), `__deleted`,
`__source_ts_us` or `__source_ts_ms` and the source's log position, as the connector file names
them, and `__kafka_partition`, `__kafka_offset`, `__kafka_timestamp`. The offset orders the changes
of a key: unlike a timestamp it never ties. `labctl query` leaves these columns out of `*`, and
`--all-columns` shows them.
"""


def render() -> str:
    """Return the whole page as Markdown."""
    seen = evidence(kept_reports().values())
    return "\n".join(
        (
            INTRODUCTION,
            *(_section(name, seen) for name in ENGINES),
            CLOSING.rstrip(),
            "",
        )
    )


def _section(engine: EngineName, seen: Mapping[tuple[EngineName, str], str]) -> str:
    record = ENGINES[engine]
    rows = [
        f"| `{name}` | {_silver(rule)} | {rule.note} | {seen.get((engine, name), '')} |"
        for name, rule in record.types().items()
    ]
    head = ("| type | in silver | | seen |", "| --- | --- | --- | --- |")
    return "\n".join((f"## {record.title}", "", *head, *rows, ""))


def _silver(rule: TypeRule) -> str:
    if isinstance(rule.silver, pa.DataType):
        return f"`{rule.silver}`"
    typical = rule.silver_type(Declared("", "", precision=8, scale=2))
    return "`decimal(p,s)`" if pa.types.is_decimal(typical) else f"`{typical}`"


if __name__ == "__main__":
    print(render(), end="")
