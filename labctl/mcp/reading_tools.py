"""Tools that change nothing: one for each command of `labctl` that reads."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field

from labctl.mcp import documentation, project_files
from labctl.mcp.lab_command import ToolCommand

__all__ = ["reading_tools"]

Answer = dict[str, Any]
Tables = Annotated[list[str] | None, Field(description="Silver tables; all if it is left out.")]
Connectors = Annotated[
    list[str] | None, Field(description="Connectors, by the names of their files without .json.")
]
Where = Annotated[
    list[str] | None, Field(description="Only records with these fields: NAME=VALUE each.")
]
Rows = Annotated[int, Field(ge=1, le=1000, description="The most rows of the answer.")]


def reading_tools(labctl: ToolCommand, project: Path) -> list[Callable[..., Any]]:
    """Return the tools; a name is the command's words, joined by `_`."""

    async def status() -> Answer:
        """Show services, connectors, tables, how far behind they are, and what is wrong."""
        return await labctl("status", seconds=60)

    async def doctor() -> Answer:
        """Look for what would keep the lab from running."""
        return await labctl("doctor", seconds=120)

    async def logs(service: str, lines: Annotated[int, Field(ge=1, le=500)] = 60) -> dict[str, Any]:
        """Print the last lines that a service logged."""
        return await labctl("logs", f"--lines={lines}", "--", service, seconds=30)

    async def query(
        sql: Annotated[str, Field(description="One SELECT over silver tables, or SHOW TABLES.")],
        as_of: Annotated[str | None, Field(description="An instant, or -5m: time travel.")] = None,
        written_after: Annotated[str | None, Field(description="Only rows written since.")] = None,
        written_until: Annotated[str | None, Field(description="Only rows until then.")] = None,
        *,
        deleted: Annotated[bool, Field(description="Rows deleted at the source, too.")] = False,
        rows: Rows = 100,
    ) -> Answer:
        """Run SQL over the silver tables: now, as of a time, or what changed."""
        options = _given({"as-of": as_of, "from": written_after, "to": written_until})
        flags = ["--deleted"] if deleted else []
        answer = await labctl("query", *options, *flags, "--", sql, seconds=120)
        return _first_rows(answer, rows)

    async def trace(table: str, where: Where = None) -> Answer:
        """Follow one row from its source to silver: where it is, what differs, where it stopped.

        The exit code is 3 if it has not arrived.
        """
        return await labctl("trace", *_each("where", where), "--", table, seconds=120)

    async def verify(
        tables: Tables = None, timeout: Annotated[float, Field(ge=0, le=600)] = 60
    ) -> Answer:
        """Compare every source row with silver, by content. The exit code is 0 if all are equal."""
        words = ("verify", f"--timeout={timeout:g}", "--", *(tables or ()))
        return await labctl(*words, seconds=timeout + 300)

    async def topics_list() -> Answer:
        """List Kafka's topics and how many records each holds."""
        return await labctl("topics", "list", seconds=60)

    async def topics_show(
        topic: str, where: Where = None, count: Annotated[int, Field(ge=1, le=100)] = 1
    ) -> Answer:
        """Show the newest records of a topic, decoded."""
        words = ("topics", "show", *_each("where", where), f"--count={count}", "--", topic)
        return await labctl(*words, seconds=120)

    async def topics_deadletters_list(tables: Tables = None) -> Answer:
        """List the records that were put aside, by table: where each is, and why."""
        return await labctl("topics", "deadletters", "list", "--", *(tables or ()), seconds=60)

    async def topics_bronze_check(topic: str) -> Answer:
        """Read every bronze file of a topic; name damaged files, and records that are in none."""
        return await labctl("topics", "bronze", "check", "--", topic, seconds=300)

    async def connectors_list() -> Answer:
        """List the connectors and their states."""
        return await labctl("connectors", "list", seconds=60)

    async def connectors_status(names: Connectors = None) -> Answer:
        """Show each connector with its tasks and the reason of a failure."""
        return await labctl("connectors", "status", "--", *(names or ()), seconds=60)

    async def connectors_validate(names: Connectors = None) -> Answer:
        """Check connector files and what keeps their tables from being captured."""
        return await labctl("connectors", "validate", "--", *(names or ()), seconds=120)

    async def connectors_diff(names: Connectors = None) -> Answer:
        """Show what Kafka Connect runs differently from the files."""
        return await labctl("connectors", "diff", "--", *(names or ()), seconds=60)

    async def table_list() -> Answer:
        """List the captured tables: source, topic, silver table and properties file."""
        return await labctl("table", "list", seconds=60)

    async def table_check(
        names: Annotated[
            list[str] | None,
            Field(description="Silver tables, or SOURCE.SCHEMA.TABLE of tables to be captured."),
        ] = None,
    ) -> Answer:
        """Say where each table stands from its source to silver, and what keeps it."""
        return await labctl("table", "check", "--", *(names or ()), seconds=120)

    async def snapshot_list() -> Answer:
        """List the lab's snapshots."""
        return await labctl("snapshot", "list", seconds=60)

    async def catalog_list() -> Answer:
        """List the catalog's tables and views."""
        return await labctl("catalog", "list", seconds=60)

    def docs_search(words: str, pages: Annotated[int, Field(ge=1, le=20)] = 5) -> Answer:
        """Find the passages of labctl's documentation that have most of these words."""
        return {"passages": documentation.search(words, pages)}

    def files_list() -> Answer:
        """List the project's files that the lab runs by."""
        return {"files": project_files.listed(project)}

    def files_read(path: str) -> Answer:
        """Read a file of the project: lab.toml, a connector file, a table's properties."""
        return {"path": path, "text": project_files.read(project, path)}

    return [
        *(status, doctor, logs, query, trace, verify),
        *(topics_list, topics_show, topics_deadletters_list, topics_bronze_check),
        *(connectors_list, connectors_status, connectors_validate, connectors_diff),
        *(table_list, table_check, snapshot_list, catalog_list),
        *(docs_search, files_list, files_read),
    ]


def _given(options: dict[str, str | None]) -> list[str]:
    return [f"--{name}={value}" for name, value in options.items() if value is not None]


def _each(option: str, values: list[str] | None) -> list[str]:
    return [f"--{option}={value}" for value in values or ()]


def _first_rows(answer: Answer, most: int) -> Answer:
    """Return an answer with its first rows, and how many it had."""
    result = answer["result"]
    if isinstance(result, dict) and isinstance(result.get("rows"), list):
        rows = result["rows"]
        answer["result"] = {**result, "rows": rows[:most], "rows_in_all": len(rows)}
    return answer
