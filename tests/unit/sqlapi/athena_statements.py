"""Athena's SQL to fuzz the translation with: much of it hostile, some of it broken."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa
from sqlglot.tokenizer_core import TokenType

from sqlapi.athena.statements import split
from sqlapi.sql.dialect import tokens
from sqlapi.sql.functions import AGGREGATES, LAMBDAS, SCALARS, WINDOWS
from sqlapi.sql.statement_errors import SqlError
from tests.unit.sqlapi.asking import Tables
from tests.unit.sqlapi.cases import cases

__all__ = ["TABLES", "Asked", "asked"]

_HOSTILE = [
    'a"b', "a'b", "a''b", '"); DROP TABLE t; --', "'); DROP TABLE t; --", "x': x) from range(9) --",
    'x": x); create or replace macro t_upper(s) as 1; --', "--", "/*", "*/", ";", "\\", "\\'", "$1",
    "?", "$$", "{0}", "{a}", "%s", "é\u2028", "\u0130", "\u200b", "\ufeff", "l1", "b1", "b1.v0",
    "c0", "t1", "r1", "n1", "u", "v", "m", "t_s", "t_e", "select", "from", "read_csv", "getenv",
    "pragma_version", "information_schema", "main", "temp", "x" * 300, " ", "\n", "\t", "\0", "§",
    "§NOT_SUPPORTED§x§", "👩‍👩‍👧", "a.b", "*", "f0", "key", "row",
]  # fmt: skip
_PLAIN = ["a", "b", "d", "s", "x", "y", "z", "value"]
_FOREIGN = [
    "read_csv", "read_text", "getenv", "current_setting", "query", "query_table", "glob",
    "pragma_version", "duckdb_settings", "json_execute_serialized_sql", "getvariable", "error",
    "nextval", "t_upper", "t_trim", "struct_pack", "list_transform", "range", "unnest", "version",
]  # fmt: skip
_NUMBERS = ["0", "1", "2", "-1", "2147483648", "1.5", ".5", "1e5", "1E400", "9" * 40, "0x1F", "1_0",
            "9" * 5000, "1.", "0b1"]  # fmt: skip
_TYPES = [
    "bigint", "integer", "tinyint", "varchar", "varchar(3)", "double", "real", "boolean", "date",
    "timestamp", "timestamp(6)", "decimal(10, 2)", "decimal(38, 38)", "json", "varbinary",
    "array(bigint)", "array(varchar)", "map(varchar, bigint)", "row(a bigint, b varchar)",
    "row(bigint, array(row(x double)))", "timestamp with time zone", "interval day to second",
    "char(3)", "time", "uuid", "decimal(99)", "enum('a')", "struct(a int)", "bigint[]",
]  # fmt: skip
_ZONES = ["UTC", "Europe/Berlin", "America/New_York", "+01:00", "x"]
_PATTERNS = ["a.*b", "(a)|b", "a*", "^a$", r"\d+", "((((a)))", "[a", "a{1,99999}", "(?i)x", "%Y-%m",
             "%Y%%%x", "yyyy-MM-dd", "'x'y", "$.a[0]", '$["a b"]', "$..a", "a+b+c", "%,05d|%s|%.2f",
             "%1000000000s", "%", "%_%", "a%_b%"]  # fmt: skip
_EXPRESSIONS = {
    "int": """
{number}
a
({int} {arithmetic} {int})
-{int}
length({text})
nullif({int}, {int})
coalesce({int}, {int}, null)
if({bool}, {int}, {int})
case {int} when {int} then {int} when {int} then {int} else {int} end
case when {bool} then {int} when {bool} then {int} end
cast({any} as bigint)
try_cast({any} as bigint)
try({int})
{ints}[{int}]
element_at({ints}, {int})
cardinality({ints})
date_diff({unit}, {date}, {date})
extract(year from {date})
reduce({ints}, {int}, ({name}, {name}) -> {int}, {name} -> {int})
reduce({ints}, 0, (s, x) -> s + x, s -> s)
strpos({text}, {text})
levenshtein_distance({text}, {text})
greatest({int}, {int}, {int})
mod({int}, {int})
row({int}, {text})[1]
{row}.a
(select {int})
(select max({column}) from {relation})
json_array_length({text})
bitwise_and({int}, {int})
position({text} in {text})
""",
    "text": """
{string}
s
upper({text})
{text} || {text}
concat({text}, {text}, {text})
substr({text}, {int}, {int})
substring({text} from {int} for {int})
trim(both {text} from {text})
replace({text}, {text}, {text})
lpad({text}, {int}, {text})
rpad({text}, 2000000000, 'x')
split_part({text}, {text}, {int})
regexp_replace({text}, {pattern}, {string})
regexp_extract({text}, {pattern}, {int})
array_join({texts}, {text}, {text})
cast({any} as varchar)
json_extract_scalar({text}, {pattern})
json_format(cast({any} as json))
date_format({date}, {pattern})
format({pattern}, {any}, {any})
typeof({any})
nullif({text}, {text})
coalesce({text}, {text})
case {text} when {text} then {text} when {string} then {text} end
url_extract_host({text})
reverse({text})
normalize({text}, NFD)
to_hex(to_utf8({text}))
map({texts}, {texts})[{text}]
U&{string}
concat_ws({text}, {text}, {text})
""",
    "bool": """
a > 1
{int} {comparison} {int}
{text} {comparison} {text}
{text} like {text}
{text} like {string} escape {string}
{int} between {int} and {int}
{int} in ({int}, {int}, {int})
{int} in (select {int} from {relation})
{int} {comparison} all (select {int})
({int}, {text}) in (select {int}, {text})
exists (select 1 from {relation} where {bool})
not {bool}
({bool} and {bool} or {bool})
{any} is null
{any} is not distinct from {any}
any_match({ints}, {name} -> {bool})
contains({ints}, {int})
regexp_like({text}, {pattern})
true
({double} = {double})
{row} = {row}
arrays_overlap({ints}, {ints})
""",
    "double": """
1e0
b
{double} / {double}
sqrt({double})
round({double}, {int})
cast({int} as double)
greatest({double}, {double})
nullif({double}, {double})
random()
avg({int})
array_max({ints}) * 1e0
1.5 / {int}
decimal '1.50' % 0.7
truncate(1.55, 1)
power({double}, {double})
width_bucket({double}, {double}, {double}, {int})
""",
    "date": """
date '2024-01-31'
timestamp '2024-01-31 10:00:00.123'
d
current_date
current_timestamp
date_add({unit}, {int}, {date})
date_trunc({unit}, {date})
{date} + interval '{int_}' day
{date} - interval {string} month
from_unixtime({int})
date_parse({text}, {pattern})
cast({any} as date)
cast({text} as timestamp)
{date} at time zone {zone}
last_day_of_month({date})
from_iso8601_timestamp({text})
timestamp {string}
""",
    "ints": """
array[1, 2, null]
l1
array[{int}, {int}]
array[]
sequence({int}, {int})
transform({ints}, {name} -> {int})
filter({ints}, {name} -> {bool})
zip_with({ints}, {ints}, ({name}, {name}) -> {int})
array_distinct({ints} || {ints})
array_union({ints}, {ints})
slice({ints}, {int}, {int})
repeat({int}, {int})
array_agg({int} order by {int})
map_values({map})
cast({any} as array(bigint))
flatten(array[{ints}, {ints}])
array_sort({ints})
concat({ints}, {ints}, {ints})
""",
    "texts": """
array['a', s]
array[{text}, {text}]
split({text}, {text})
regexp_extract_all({text}, {pattern})
map_keys({map})
transform({texts}, {name} -> upper({name}))
cast({any} as array(varchar))
""",
    "map": """
map(array['a', 'b'], array[1, 2])
map(array[{text}], array[{int}])
map_filter({map}, ({name}, {name}) -> {bool})
transform_values({map}, ({name}, {name}) -> {int})
map_concat({map}, {map})
map_agg({text}, {int})
split_to_map({text}, ',', '=')
cast({text} as map(varchar, bigint))
""",
    "row": """
r
row({int}, {text})
({int}, {text}, {date})
cast(row({int}, {text}) as row(a bigint, b varchar))
cast({any} as {type})
""",
    "any": """
{int}
{text}
{bool}
{double}
{date}
{ints}
{texts}
{map}
{row}
null
{function}({any})
{function}({any}, {any})
{function}({any}, {any}, {any})
{function}()
{function}(distinct {any})
{function}({any}, {name} -> {any})
{name}({any})
cast({any} as {type})
sum({int}) filter (where {bool}) over (partition by {any} order by {int} {frame})
{window}({any}) over (order by {any} {frame})
lag({any}, {int_}, {any}) over (order by {int})
listagg({text}, {string}) within group (order by {text})
grouping({column})
X'{hex}'
json {string}
interval {string} day to second
{name} -> {any}
{column}.{name}
{any} collate {name}
({any}).{name}
""",
}
_SELECTS = """
select {any} from t
select {bool}, {int}, {text} from {relation} where {bool}
select {double}, {date}, {ints} from {relation}
select {texts}, {map}, {row} from t
select {any}
select {any}, {any} as {name}, {column} from {relation} where {bool}
select * from {relation} where {bool} order by {any} limit {int_}
select {name}.* from {relation} as {name}
select distinct {any} from {relation} order by 1
select {any}, count(*), sum({int}) from {relation} group by {any} having {bool}
select {any}, {function}({any}) from {relation} group by 1
select {column} from {relation} group by rollup ({column}, {int})
{select} union all {select}
({select}) intersect ({select}) order by 1 limit 1
with {name} as ({select}) select * from {name}
with {name} ({name}) as ({select}), y as (select * from {name}, {name}) select {any} from y
values ({any}, {any}), ({any}, {any})
select {any} from {relation} window w as (order by {any} {frame})
select sum({int}) over w from {relation} window w as (partition by {any})
select {any} offset {int_} rows fetch first {int_} rows only
table {dotted}
select {any} from {dotted} for timestamp as of timestamp {string}
""".strip().splitlines()
_RELATIONS = """
t
t
t
t as t
t as {name}
{dotted}
({select}) as {name}
({select}) as {name} ({name}, {name})
unnest({ints}) as {name} ({name})
t cross join unnest({ints}, {map}) with ordinality as {name} ({name}, {name}, {name}, {name})
(values ({any}, {any})) as {name} (a, b)
t join {relation} on {bool}
t as {name} left join t as {name} using (a)
t full join t as y using (a, s)
t, lateral (select {any}) as {name} (x)
t tablesample bernoulli ({int_})
information_schema.tables
awsdatacatalog.information_schema.columns as {name}
"INFORMATION_SCHEMA".{name}
{name}.{name}.{name}
{function}({any})
""".strip().splitlines()
_STATEMENTS = """
{select}
{select}
{select}
{select};
explain {select}
explain (format json) {select}
create table {dotted} as {select}
create table {dotted} with (format = {string}, partitioned_by = array[{string}]) as {select}
create or replace view {dotted} as {select}
unload ({select}) to {string} with (format = {string})
prepare {name} from {select}
execute {name} using {any}, {any}
show tables in {name} {string}
{any}
{select}; {select}
""".strip().splitlines()
_COMPOSED = """
select {case}
select {case} as {name}, {case} from t where {bool}
select nullif({case}, {case})
select nullif(nullif(nullif({case}, {case}), {case}), {case})
select coalesce({case}, {case}), typeof({case}), {case} is null
select * from (select {case} as {name}) as {name}
select {name} from (select {case}) as {name} ({name})
with {name} as (select {case} as {name}) select * from {name}, {name} as y
select array[{case}], row({case}, {case}), ({case})
select if({bool}, {case}, {case}) from t
select case {case} when {case} then {case} when {case} then {case} end
select transform(array[1, 2], {name} -> {case})
select transform(array[{case}], {name} -> {name})
select any_match(array[{case}], {name} -> {name} = {case})
select reduce(array[{case}], {case}, ({name}, x) -> x, x -> x)
select {case} as {name} order by {name}
select try({case}), cast({case} as varchar), try_cast({case} as bigint), cast({case} as json)
(select {case}) union (select {case})
select max({case}) over (partition by {case} order by a {frame}) from t
select array_agg(distinct {case}), {case} from t group by {case} having {bool}
values ({case}), ({case})
select {function}({case}), {function}({case}, {case})
select {case} in ({case}, {case}), {case} between {case} and {case}, {case} = {case}
select {case} || {case}, {case} + {case}, ({case})[1]
""".strip().splitlines()
_FRAMES = [
    "", "rows between 1 preceding and current row", "range unbounded preceding", "rows {int}",
    "groups between {int} preceding and {int} following", "range between {name} preceding and 1",
]  # fmt: skip
_GAPS = [" ", "\n", ";", " -- */ ; drop table t\n", " /* ; -- */ ", " /* /* */ ", "\t", "\0", "\r",
         " (", ")", "[", "]", " ? ", " :: ", " -> ", "'", '"', "`", ","]  # fmt: skip
_DEEPEST, _TYPED = 4, 9
_HOLE = re.compile(r"\{(\w+)\}")
_FUNCTIONS = sorted({*SCALARS, *LAMBDAS, *AGGREGATES, *WINDOWS})
_CASES = cases()
_VALUES = [
    case.removeprefix("select ")
    for case in _CASES
    if case.startswith("select ") and len(split(case)) == 1 and " from (" not in case
]
"""Expressions of the cases: values whose translation is known to be right."""

TABLES = Tables(
    t=pa.table(
        {
            "a": pa.array([1, 2, None], pa.int64()),
            "b": pa.array([0.5, None, 2.0], pa.float64()),
            "s": ["x", "it's", None],
            "d": pa.array([0, 1, None], pa.date32()),
            'q"; drop table t; --': pa.array([1, 2, 3], pa.int32()),
            "l1": pa.array([[1], None, []], pa.list_(pa.int64())),
            "r": pa.array([{"a": 1, "b'": "x"}, None, None]),
        }
    )
)


@dataclass(frozen=True)
class Asked:
    """A statement, and the values of its `?`."""

    sql: str
    parameters: tuple[str, ...]


class _Writer:
    """Writes SQL by chance: templates whose holes are filled, each for itself."""

    def __init__(self, chance: random.Random) -> None:
        self._chance = chance
        self._depth = 0
        self._same = ""
        """A value that has been drawn: values of one type fit together."""

    def fill(self, template: str) -> str:
        """A template with each `{kind}` drawn."""
        return _HOLE.sub(lambda hole: self._drawn(hole[1]), template)

    def _pick(self, choices: Sequence[str]) -> str:
        return self._chance.choice(choices)

    def _drawn(self, kind: str) -> str:
        if kind not in _EXPRESSIONS:
            return str(getattr(self, f"_{kind}")())
        lines = _LINES[kind]
        if self._depth >= _DEEPEST:
            return self.fill(lines[0]) if kind != "any" else self._literal()
        self._depth += 1
        if kind == "any" and self._chance.random() < 0.8:
            # a value of a known type, so that the translation goes further than to its name
            lines = lines[:_TYPED]
        try:
            return self.fill(self._pick(lines))
        finally:
            self._depth -= 1

    def _text_of(self) -> str:
        """A raw text: plain, hostile, or any characters."""
        kind = self._chance.random()
        if kind < 0.85:
            return self._pick(_PLAIN if kind < 0.3 else _HOSTILE)
        ends = (0x7F, 0x7FF, 0xD7FF, 0x10FFFF)
        points = [self._chance.randint(0, self._chance.choice(ends)) for _ in range(6)]
        return "".join(chr(p) for p in points if not 0xD800 <= p <= 0xDFFF)

    def _name(self) -> str:
        if self._chance.random() < 0.8:
            return self._pick(_PLAIN)
        return '"' + self._text_of().replace('"', '""') + '"'

    def _dotted(self) -> str:
        if self._chance.random() < 0.8:
            return "t"
        return ".".join(self._name() for _ in range(self._chance.choice((1, 1, 2, 3))))

    def _column(self) -> str:
        chosen = self._chance.random()
        if chosen < 0.6:
            return self._pick(("a", "b", "s", "d", "l1", "r", "t.a", "r.a", "x", "y", "value"))
        if chosen < 0.65:
            return self._pick(('"$path"', 't."$file_size"', "table_schema", "comment"))
        return '"q""; drop table t; --"' if chosen < 0.7 else self._dotted()

    def _string(self) -> str:
        return "'" + self._text_of().replace("'", "''") + "'"

    def _pattern(self) -> str:
        return "'" + self._pick(_PATTERNS).replace("'", "''") + "'"

    def _literal(self) -> str:
        return self._string() if self._chance.random() < 0.5 else self._number()

    def _number(self) -> str:
        kind = self._chance.random()
        if kind < 0.96:
            return str(self._chance.randint(0, 3))
        return "?" if kind < 0.98 else self._pick(_NUMBERS)

    def _int_(self) -> str:
        return self._pick(("0", "1", "2", "-1", "99999999999", "'1'"))

    def _hex(self) -> str:
        return self._pick(("", "00", "ab", "a", "xyz", "'"))

    def _unit(self) -> str:
        return self._pick(("'day'", "'month'", "'hour'", "'year'", "'week'")) or self._string()

    def _zone(self) -> str:
        return "'" + self._pick(_ZONES) + "'"

    def _arithmetic(self) -> str:
        return self._pick(("+", "-", "*", "/", "%"))

    def _comparison(self) -> str:
        return self._pick(("=", "<>", "<", ">=", "!=", "is distinct from"))

    def _type(self) -> str:
        return self._pick(_TYPES) if self._chance.random() < 0.9 else self._name()

    def _function(self) -> str:
        return self._pick(_FUNCTIONS if self._chance.random() < 0.9 else _FOREIGN)

    def _window(self) -> str:
        return self._pick(sorted(WINDOWS))

    def _frame(self) -> str:
        return self.fill(self._pick(_FRAMES))

    def _relation(self) -> str:
        return self._within(_RELATIONS, "t")

    def _case(self) -> str:
        if self._same and self._chance.random() < 0.9:
            return self._same
        self._same = self._pick(_VALUES)
        return self._same

    def _select(self) -> str:
        return self._within(_SELECTS, "select 1")

    def _within(self, lines: Sequence[str], otherwise: str) -> str:
        if self._depth >= _DEEPEST:
            return otherwise
        self._depth += 1
        try:
            return self.fill(self._pick(lines))
        finally:
            self._depth -= 1

    def nested(self) -> str:
        """A function in itself, many times."""
        name, count = self._function(), self._chance.choice((5, 12, 25))
        rest = "".join(f", {self._literal()}" for _ in range(self._chance.randint(0, 2)))
        return f"select {f'{name}(' * count}{self._literal()}{f'{rest})' * count}"

    def mutated(self, text: str) -> str:
        """A text with a hostile piece in it, or with a piece of another one."""
        at = self._chance.randint(0, len(text))
        other = self._pick(_CASES)
        start = self._chance.randint(0, len(other))
        piece = self._pick(
            (self._pick(_GAPS), self._pick(_HOSTILE), self._literal(), other[start : start + 20])
        )
        return text[:at] + piece + text[at + self._chance.randint(0, 5) :]

    def statement(self) -> str:
        """A statement of the grammar, one of the cases changed, or a function in itself."""
        kind = self._chance.random()
        if kind < 0.35:
            return self.fill(self._pick(_COMPOSED))
        if kind < 0.75:
            text = self.fill(self._pick(_STATEMENTS))
            return self.mutated(text) if self._chance.random() < 0.1 else text
        if kind < 0.95:
            return self.mutated(self._pick(_CASES))
        return self.nested()

    def parameters(self, count: int) -> tuple[str, ...]:
        """Values for as many `?`, sometimes one too many."""
        more = self._chance.random() < 0.01
        kinds = (self._literal, self._number, self._string, self._text_of)
        return tuple(self._chance.choice(kinds)() for _ in range(count + more))


_LINES = {kind: lines.strip().splitlines() for kind, lines in _EXPRESSIONS.items()}


def asked(chance: random.Random) -> Asked:
    """One statement, with values for its parameters."""
    writer = _Writer(chance)
    sql = writer.statement()
    try:
        count = sum(token.token_type == TokenType.PLACEHOLDER for token in tokens(sql))
    except SqlError:
        count = 0
    return Asked(sql, writer.parameters(count))
