"""PostgreSQL's publications, and the changes that one withholds from its connector.

A publication may be older than the lab, or somebody else may have created it: each of its options,
row filters and column lists can drop changes without an error anywhere.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from labctl.sources.base import TableRef, quoted

if TYPE_CHECKING:
    from labctl.kafkaconnect.connector_files import ConnectorFile
    from labctl.sources.base import Source

__all__ = [
    "OPTIONS",
    "OPTIONS_OF_18",
    "Publication",
    "Shown",
    "postgres_instances",
    "postgres_unrecorded",
    "read_publication",
    "readded",
    "shown_of",
]

_MARKS = ('"', '"')
_OPERATIONS = "publish = 'insert, update, delete, truncate'"
_VIA_ROOT = "publish_via_partition_root = true"
"""Option that publishes a partition's changes under its table's name, including those of
partitions created later."""
_GENERATED = "publish_generated_columns = stored"
"""Option that also publishes stored generated columns, from PostgreSQL 18 on."""
OPTIONS = f"{_OPERATIONS}, {_VIA_ROOT}"
"""Options that a publication needs so that its connector gets every change of its tables."""
OPTIONS_OF_18 = f"{OPTIONS}, {_GENERATED}"
"""The same options from PostgreSQL 18 on."""

_PUBLICATION = """
SELECT pubinsert AND pubupdate AND pubdelete AND pubtruncate, pubviaroot,
    coalesce(to_jsonb(p) ->> 'pubgencols', 's') = 's', puballtables,
    pg_has_role(pubowner, 'USAGE'), pg_get_userbyid(pubowner)
FROM pg_publication p WHERE pubname = %s
"""
_SHOWN = """
SELECT to_jsonb(r) ->> 'prqual' IS NOT NULL,
    ARRAY(SELECT attname::text FROM pg_attribute
        WHERE attrelid = prrelid AND attnum > 0 AND NOT attisdropped
        AND to_jsonb(r) ->> 'prattrs' IS NOT NULL
        AND NOT to_jsonb(r) -> 'prattrs' @> to_jsonb(attnum)
        ORDER BY attnum)
FROM pg_publication_rel r JOIN pg_publication p ON p.oid = prpubid
WHERE pubname = %s AND prrelid = to_regclass(%s)
"""
_MEMBERS = """
SELECT nspname, relname, r.oid FROM pg_publication_rel r
JOIN pg_publication p ON p.oid = prpubid JOIN pg_class c ON c.oid = prrelid
JOIN pg_namespace n ON n.oid = relnamespace WHERE pubname = %s
"""
_UNCHANGEABLE = """
SELECT EXISTS (SELECT FROM pg_class c JOIN pg_attribute ON attrelid = c.oid
    WHERE (c.oid = to_regclass(%s)
        OR c.oid IN (SELECT relid FROM pg_partition_tree(to_regclass(%s))))
    AND relreplident = 'f' AND attgenerated = 'v' AND NOT attisdropped)
"""


@dataclass(frozen=True)
class Publication:
    """A publication that exists."""

    name: str
    wrong: tuple[str, ...]
    """Options that withhold changes from its connector, with the values that they must have."""
    has_all_tables: bool
    """True if it is FOR ALL TABLES: no table can be added or dropped."""
    is_own: bool
    """True if labctl may alter it."""
    owner: str

    @property
    def correction(self) -> str:
        """The statement that gives it the options it needs."""
        return f"ALTER PUBLICATION {quoted(self.name, _MARKS)} SET ({', '.join(self.wrong)})"

    def refuses(self, database: Source, ref: TableRef) -> str | None:
        """Return why it cannot publish all of a table; None if it does, or if labctl can add it."""
        if self.refused is not None:
            return self.refused
        if shown_of(database, self.name, ref).is_filtered:
            return (
                f"publication {self.name} has a row filter for it, and changes of other rows would "
                f"not come; {readded(database, self.name, ref)}"
            )
        if self.is_own or ref in (database.captured(self.name) or ()):
            return None
        return (
            f"publication {self.name} of {self.owner} does not have it, and labctl may not alter "
            f"it; run, as {self.owner}: ALTER PUBLICATION {database.quote(self.name)} ADD TABLE "
            f"{database.qualified(ref)}"
        )

    @property
    def refused(self) -> str | None:
        """Why it cannot be used at all; None if it is right, or if labctl may correct it."""
        if self.is_own or not self.wrong:
            return None
        return (
            f"publication {self.name} of {self.owner} does not publish every change, and labctl "
            f"may not alter it; run, as {self.owner}: {self.correction}"
        )


@dataclass(frozen=True)
class Shown:
    """The part of a table that a publication shows."""

    is_filtered: bool = False
    """True if it has a row filter."""
    left_out: tuple[str, ...] = ()
    """Columns that its column list leaves out."""


def read_publication(database: Source, name: str) -> Publication | None:
    """Return a publication; None if there is none of that name."""
    found = database.execute(_PUBLICATION, (name,))
    if not found:
        return None
    ((publishes_all, via_root, generated, all_tables, is_own, owner),) = found
    options = ((publishes_all, _OPERATIONS), (via_root, _VIA_ROOT), (generated, _GENERATED))
    wrong = tuple(option for is_right, option in options if not is_right)
    return Publication(name, wrong, all_tables, is_own, owner)


def shown_of(database: Source, name: str, ref: TableRef) -> Shown:
    """Return the part of a table that a publication shows: all if the table is not yet in it."""
    found = database.execute(_SHOWN, (name, database.qualified(ref)))
    return Shown(found[0][0], tuple(found[0][1])) if found else Shown()


def readded(database: Source, name: str, ref: TableRef) -> str:
    """Return the statements that make a publication show all of a table."""
    alter, table = f"ALTER PUBLICATION {database.quote(name)}", database.qualified(ref)
    return f"{alter} DROP TABLE {table}; {alter} ADD TABLE {table}"


def postgres_instances(
    database: Source, refs: Collection[TableRef], publication: str
) -> Mapping[TableRef, frozenset[str]]:
    """Return the row by which each table is in the publication: added again, it has another row.

    A table that is there by its schema, or because all tables are, has none.
    """
    rows = database.execute(_MEMBERS, (publication,))
    found = {TableRef(schema, name): row for schema, name, row in rows}
    return {ref: frozenset({f"{publication}, row {found[ref]}"}) for ref in refs if ref in found}


def postgres_unrecorded(
    database: Source, refs: Collection[TableRef], file: ConnectorFile
) -> Mapping[TableRef, str]:
    """Return why not all changes reach the connector, by table; complete tables are left out."""
    name = file.publication
    publication = read_publication(database, name)
    if publication is None:
        return dict.fromkeys(refs, f"there is no publication {name}: labctl connectors apply")
    if publication.wrong:
        why = publication.refused or (
            f"publication {name} does not publish every change: labctl connectors apply"
        )
        return dict.fromkeys(refs, why)
    published = database.captured(name) or set()
    found: dict[TableRef, str] = {}
    for ref in refs:
        if (refused := publication.refuses(database, ref)) is not None:
            found[ref] = refused
        elif ref not in published:
            found[ref] = (
                f"publication {name} does not have the table that is {ref} now: "
                "labctl connectors apply"
            )
        elif _is_unchangeable(database, ref):
            found[ref] = (
                "a virtual generated column was added to it, and with REPLICA IDENTITY FULL "
                "PostgreSQL refuses its UPDATE and DELETE: labctl connectors apply"
            )
    return found


def _is_unchangeable(database: Source, ref: TableRef) -> bool:
    """Return whether a virtual generated column with FULL makes UPDATE and DELETE fail."""
    ((found,),) = database.execute(_UNCHANGEABLE, (database.qualified(ref),) * 2)
    return bool(found)
