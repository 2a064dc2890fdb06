"""`labctl catalog`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

import typer
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from labctl.cli.app import Invocation, command, group
from labctl.cli.output import print_result
from labctl.counted import counted
from labctl.lab.catalog.lab_catalog import CatalogTable, catalog_of
from labctl.lab.tables.table_requests import register_tables
from labctl.lake.glue_changes import Change
from labctl.services import metastore_service
from sqlapi.catalog.views import view_text

__all__ = ["apply_command", "diff_command", "list_command", "show_command", "sync_command"]

app = group("catalog")
TablesArgument = Annotated[
    list[str] | None, typer.Argument(help="Which tables of the lake [default: all].")
]


@command(app, "list", example="labctl catalog list tickit")
def list_command(
    invocation: Invocation,
    databases: Annotated[
        list[str] | None, typer.Argument(help="Which databases [default: the lake's and gold's].")
    ] = None,
) -> None:
    """List what the catalog has: tables, their read-optimized and real-time names, views."""
    catalog = catalog_of(invocation.lab())
    tables = catalog.tables(databases or catalog.databases())
    data = {"tables": [_summary(table) for table in tables]}
    print_result(invocation.format, data, lambda: _listed(tables))


@command(app, "show", example="labctl catalog show event_ro")
def show_command(
    invocation: Invocation,
    name: Annotated[str, typer.Argument(help="database.table, or its name alone.")],
) -> None:
    """Show one definition: columns, partition keys, formats, properties."""
    table = catalog_of(invocation.lab()).table(name)
    print_result(invocation.format, table.definition, lambda: _shown(table))


@command(app, "diff", example="labctl catalog diff")
def diff_command(invocation: Invocation, tables: TablesArgument = None) -> None:
    """Show what the catalog lacks, or has in another way than the lake.

    A lab on this machine describes its tables by itself: there is nothing unless something else
    was defined by the name of one.
    """
    changes = catalog_of(invocation.lab()).changes(tables or ())
    _print(invocation, changes, "The catalog is as the lake is")


@command(app, "sync", example="labctl --profile aws catalog sync")
def sync_command(invocation: Invocation, tables: TablesArgument = None) -> None:
    """Write that to the catalog, and what the sources say of their columns; nothing else.

    The lab's Hive metastore learns of the tables, too.
    """
    lab = invocation.lab()
    changes = catalog_of(lab).sync(tables or ())
    told = register_tables(lab, tables or ()) if metastore_service.SERVICE in lab.services else None
    _print(invocation, changes, "Nothing to write: the catalog is as the lake is", told)


@command(app, "apply", example="labctl catalog apply")
def apply_command(
    invocation: Invocation,
    views: Annotated[
        list[str] | None,
        typer.Argument(help="Which views and statements [default: all]."),
    ] = None,
) -> None:
    """Make the views of gold/ and what queries/ has, each as its file says it.

    Those that are so already stay.
    """
    changes = catalog_of(invocation.lab()).apply(views or ())
    _print(invocation, changes, "Nothing to write: all is as the files say")


def _print(
    invocation: Invocation, changes: Sequence[Change], none: str, told: list[str] | None = None
) -> None:
    """`told` are the tables now registered in Hive's metastore; None: the lab has no metastore."""
    data: dict[str, Any] = {
        "changes": [
            {
                "action": change.action,
                "what": change.what,
                "details": list(change.details),
                "refused": change.refused or None,
            }
            for change in changes
        ]
    }
    text: list[RenderableType] = [_changes(changes) if changes else none]
    if told is not None:
        data["hive"] = told
        text.append(f"{counted(len(told), 'table', 'are')} registered in Hive's metastore")
    print_result(invocation.format, data, lambda: Group(*text))


def _changes(changes: Sequence[Change]) -> RenderableType:
    lines = []
    for change in changes:
        lines.append(Text(f"{change.action} {change.what}"))
        lines += [Text(f"  {detail}", style="dim") for detail in change.details]
        if change.refused:
            lines.append(Text(f"  will not be written: {change.refused}", style="yellow"))
    return Group(*lines)


def _summary(table: CatalogTable) -> dict[str, Any]:
    return {
        "name": table.name,
        "kind": table.kind,
        "columns": table.columns,
        "partition_keys": list(table.partition_keys),
        "location": table.location,
    }


def _listed(tables: Sequence[CatalogTable]) -> RenderableType:
    if not tables:
        return "the catalog has none"
    shown = Table(box=None, pad_edge=False)
    for title in ("table", "kind", "columns", "partitioned by", "location"):
        shown.add_column(title, justify="right" if title == "columns" else "left", overflow="fold")
    for table in tables:
        keys = ", ".join(table.partition_keys)
        shown.add_row(table.name, table.kind, str(table.columns), keys, table.location)
    return shown


def _shown(table: CatalogTable) -> RenderableType:
    storage = table.definition.get("StorageDescriptor") or {}
    columns = Table(box=None, pad_edge=False)
    for title in ("column", "type", ""):
        columns.add_column(title, overflow="fold")
    for column in storage.get("Columns") or []:
        columns.add_row(column["Name"], column["Type"], column.get("Comment") or "")
    for key in table.definition.get("PartitionKeys") or []:
        columns.add_row(key["Name"], key["Type"], "partition key")
    facts = {
        "kind": table.kind,
        "location": table.location,
        "input format": storage.get("InputFormat") or "",
        "output format": storage.get("OutputFormat") or "",
        "serde": (storage.get("SerdeInfo") or {}).get("SerializationLibrary") or "",
    }
    properties = {
        **((storage.get("SerdeInfo") or {}).get("Parameters") or {}),
        **(table.definition.get("Parameters") or {}),
    }
    lines = [f"{key}: {value}" for key, value in {**facts, **properties}.items() if value]
    if told := view_text(table.definition.get("ViewOriginalText") or ""):
        lines = ["kind: view", "", told["originalSql"]]
    return Group(Text(table.name, style="bold"), columns, *map(Text, lines))
