"""Single changes, for both engines and both table types, from the source to silver."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal

import pytest

from labctl.sources import Source, TableRef
from labctl.testing.eventually import Eventually
from labctl.testing.plugin import SilverReader
from tests.e2e.wide_tables import FLEETING, WIDE, insert_row

OpenSource = Callable[[str], Source]
NewKey = Callable[[], int]
Row = dict[str, object]


@dataclass(frozen=True)
class Subject:
    """A captured table, a row for it, and another value for one of its columns."""

    engine: str
    ref: TableRef
    key: str
    row: Row
    column: str
    other: object
    nullable: str

    @property
    def silver(self) -> str:
        return self.ref.name

    def insert(self, source: Source, key: int) -> None:
        row = {self.key: key, **self.row}
        marks = ", ".join(["%s"] * len(row))
        source.execute(
            f"INSERT INTO {source.qualified(self.ref)} ({', '.join(row)}) VALUES ({marks})",
            tuple(row.values()),
        )

    def update(self, source: Source, key: int, column: str, value: object) -> None:
        source.execute(
            f"UPDATE {source.qualified(self.ref)} SET {column} = %s WHERE {self.key} = %s",
            (value, key),
        )

    def delete(self, source: Source, key: int) -> None:
        source.execute(f"DELETE FROM {source.qualified(self.ref)} WHERE {self.key} = %s", (key,))


VENUE = Subject(
    "postgres",
    TableRef("ems", "venue"),
    "venueid",
    {"venuename": "Old Hall", "venuecity": "Bern", "venuestate": "BE", "venueseats": 100},
    "venueseats",
    250,
    "venuecity",
)
EVENT = Subject(
    "postgres",
    TableRef("ems", "event"),
    "eventid",
    {
        "venueid": 1,
        "catid": 1,
        "dateid": 1827,
        "eventname": "Tosca",
        "starttime": datetime(2008, 1, 1, 20, 0, 0, 1),
    },
    "eventname",
    "Tosca 🎭 טוסקה",
    "starttime",
)
LISTING = Subject(
    "mysql",
    TableRef("ecomm", "listing"),
    "listid",
    {
        "sellerid": 1,
        "eventid": 1,
        "dateid": 1827,
        "numtickets": 2,
        "priceperticket": Decimal("10.10"),
        "totalprice": Decimal("20.20"),
        "listtime": datetime(2008, 1, 1, 23, 59, 59, 999999),
    },
    "priceperticket",
    Decimal("999999.99"),
    "listtime",
)
SALE = Subject(
    "mysql",
    TableRef("ecomm", "sale"),
    "salesid",
    {
        "listid": 1,
        "sellerid": 1,
        "buyerid": 2,
        "eventid": 1,
        "dateid": 1827,
        "qtysold": 1,
        "pricepaid": Decimal("0.01"),
        "commission": Decimal("0.00"),
        "saletime": datetime(2008, 1, 1, 0, 0, 0, 1),
    },
    "pricepaid",
    Decimal("-0.10"),
    "commission",
)
USER = Subject(
    "sqlserver",
    TableRef("crm", "user"),
    "userid",
    {
        "username": "ABC12DEF",
        "firstname": "Zoë",
        "lastname": "O'Łańcut 山田",
        "city": "Zürich",
        "state": "ZH",
        "email": "zoe@example.org",
        "phone": "(044) 123-4567",
        "likesports": True,
        "likejazz": False,
    },
    "email",
    "zoë.o'łańcut@example.org",
    "city",
)
SUBJECTS = [
    pytest.param(VENUE, id="postgres-cow", marks=pytest.mark.long),
    pytest.param(EVENT, id="postgres-mor"),
    pytest.param(LISTING, id="mysql-cow"),
    pytest.param(SALE, id="mysql-mor", marks=pytest.mark.long),
    pytest.param(USER, id="sqlserver-mor"),
]


def _in_silver(value: object) -> object:
    """Silver shows the wall clock as if it were UTC."""
    return value.replace(tzinfo=UTC) if isinstance(value, datetime) else value


@dataclass(frozen=True)
class Follow:
    """Reads one row of silver until it is as expected."""

    silver: SilverReader
    eventually: Eventually
    subject: Subject

    def rows(self, key: int, **view: object) -> list[Row]:
        return self.silver(self.subject.silver, f"{self.subject.key} = {key}", **view)

    def shows(self, key: int, **expected: object) -> Row:
        """The one row of `key` once it has the `expected` values."""

        wanted = {name: _in_silver(value) for name, value in expected.items()}

        def look() -> Row:
            (row,) = self.rows(key, deleted=True) or [{}]
            assert {name: row.get(name) for name in wanted} == wanted
            return row

        return self.eventually(look, row=(self.subject.silver, {self.subject.key: key}))


@pytest.fixture(params=SUBJECTS)
def subject(request: pytest.FixtureRequest) -> Subject:
    chosen: Subject = request.param
    return chosen


@pytest.fixture
def follow(silver: SilverReader, eventually: Eventually, subject: Subject) -> Follow:
    return Follow(silver, eventually, subject)


@pytest.fixture
def database(source: OpenSource, subject: Subject) -> Source:
    return source(subject.engine)


@pytest.fixture
def next_key(subject: Subject, new_key: NewKey) -> NewKey:
    """Keys for the subject's table: a venue's is a smallint."""
    return (lambda: new_key() % 20_000 + 1_000) if subject is VENUE else new_key


def test_a_row_is_inserted_updated_and_deleted(
    subject: Subject, database: Source, follow: Follow, next_key: NewKey
) -> None:
    key = next_key()
    subject.insert(database, key)
    row = follow.shows(key, __op="c", __deleted="false", **subject.row)
    assert row[subject.key] == key

    subject.update(database, key, subject.column, subject.other)
    follow.shows(key, __op="u", __deleted="false", **subject.row | {subject.column: subject.other})

    subject.delete(database, key)
    follow.shows(key, __op="d", __deleted="true")
    assert follow.rows(key) == []


def test_a_deleted_row_keeps_its_last_values(
    subject: Subject, database: Source, follow: Follow, next_key: NewKey
) -> None:
    key = next_key()
    subject.insert(database, key)
    subject.delete(database, key)
    follow.shows(key, __op="d", **subject.row)


def test_a_key_can_be_used_again_after_its_row_was_deleted(
    subject: Subject, database: Source, follow: Follow, next_key: NewKey
) -> None:
    key = next_key()
    subject.insert(database, key)
    subject.delete(database, key)
    follow.shows(key, __deleted="true")
    subject.insert(database, key)
    follow.shows(key, __op="c", __deleted="false", **subject.row)
    assert len(follow.rows(key)) == 1


def test_a_changed_primary_key_is_a_delete_and_an_insert(
    subject: Subject, database: Source, follow: Follow, next_key: NewKey
) -> None:
    before, after = next_key(), next_key()
    subject.insert(database, before)
    follow.shows(before, __op="c")
    subject.update(database, before, subject.key, after)
    follow.shows(after, __deleted="false", **subject.row)
    follow.shows(before, __deleted="true")
    assert follow.rows(before) == []


def test_a_value_becomes_null_and_comes_back(
    subject: Subject, database: Source, follow: Follow, next_key: NewKey
) -> None:
    key, value = next_key(), subject.row[subject.nullable]
    subject.insert(database, key)
    subject.update(database, key, subject.nullable, None)
    follow.shows(key, __op="u", **subject.row | {subject.nullable: None})
    subject.update(database, key, subject.nullable, value)
    follow.shows(key, **subject.row)


def test_the_last_of_many_changes_within_a_millisecond_wins(
    subject: Subject, database: Source, follow: Follow, next_key: NewKey
) -> None:
    key = next_key()
    with database.transaction():
        subject.insert(database, key)
        for _ in range(50):
            subject.update(database, key, subject.nullable, None)
            subject.update(database, key, subject.nullable, subject.row[subject.nullable])
        subject.update(database, key, subject.column, subject.other)
    follow.shows(key, **subject.row | {subject.column: subject.other})


def test_a_hard_delete_removes_the_row(
    source: OpenSource, silver: SilverReader, eventually: Eventually, new_key: NewKey
) -> None:
    mysql, key, witness = source("mysql"), new_key(), new_key()
    mysql.execute(f"INSERT INTO {FLEETING} VALUES (%s, 'gone soon'), (%s, 'stays')", (key, witness))
    eventually(lambda: len(silver("fleeting", f"id IN ({key}, {witness})")) == 2)
    mysql.execute(f"DELETE FROM {FLEETING} WHERE id = %s", (key,))
    eventually(
        lambda: (
            [row["id"] for row in silver("fleeting", f"id IN ({key}, {witness})", deleted=True)]
            == [witness]
        )
    )


@pytest.mark.parametrize("engine", WIDE)
def test_text_arrives_character_by_character(
    engine: str,
    source: OpenSource,
    silver: SilverReader,
    eventually: Eventually,
    new_key: NewKey,
) -> None:
    table, key = WIDE[engine], new_key()
    text = "🎟️ 👩‍👩‍👧 שלום e\u0301\u0302 \u202eﷺ \u00a0\t\r\n𝄞 end "
    insert_row(source(engine), table, key, "null")
    source(engine).execute(f"UPDATE {table.ref} SET c_text = %s WHERE id = %s", (text, key))
    rows = eventually(
        lambda: silver(table.silver, f"id = {key} AND c_text IS NOT NULL"),
        row=(table.silver, {"id": key}),
    )
    assert rows[0]["c_text"] == text
