"""Tools that change something: files of the project, the lab, its pipeline or its sources."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field

from labctl.mcp import project_files
from labctl.mcp.lab_command import ToolCommand
from labctl.soak.faulting import FaultKind

__all__ = ["changing_tools"]

Answer = dict[str, Any]
Names = Annotated[list[str] | None, Field(description="All if it is left out.")]
_START_SECONDS = 900
_LOAD_SECONDS = 1800


def changing_tools(labctl: ToolCommand, project: Path) -> list[Callable[..., Any]]:
    """Return the tools; a name is the command's words, joined by `_`."""

    async def up(services: Names = None) -> Answer:
        """Start the lab, or some services; create and capture what the project's files name."""
        return await labctl("up", "--", *(services or ()), seconds=_START_SECONDS)

    async def restart(service: str) -> Answer:
        """Restart one service with its current configuration and code."""
        return await labctl("restart", "--", service, seconds=300)

    async def seed(scale: Annotated[float | None, Field(gt=0, le=10)] = None) -> Answer:
        """Load the lab's data sets into the databases and stream them."""
        options = [] if scale is None else [f"--scale={scale:g}"]
        return await labctl("seed", *options, seconds=_LOAD_SECONDS)

    async def connectors_apply(names: Names = None, *, start_over: bool = False) -> Answer:
        """Create or update connectors from their files."""
        flags = ["--start-over"] if start_over else []
        return await labctl("connectors", "apply", *flags, "--", *(names or ()), seconds=300)

    async def connectors_restart(name: str) -> Answer:
        """Restart a connector and its failed tasks."""
        return await labctl("connectors", "restart", "--", name, seconds=120)

    async def connectors_snapshot(name: str, *, start_over: bool = False) -> Answer:
        """Load every table of a connector again."""
        flags = ["--start-over"] if start_over else []
        return await labctl("connectors", "snapshot", *flags, "--", name, seconds=_LOAD_SECONDS)

    async def connectors_backfill(
        table: str,
        where: Annotated[str | None, Field(description="A condition in the source's SQL.")] = None,
        columns: Annotated[
            list[str] | None, Field(description="Only rows in which these are not NULL.")
        ] = None,
    ) -> Answer:
        """Load a silver table, or a part of it, again while its changes go on."""
        options = [] if where is None else [f"--where={where}"]
        options += [f"--column={column}" for column in columns or ()]
        words = ("connectors", "backfill", *options, "--", table)
        return await labctl(*words, seconds=_LOAD_SECONDS)

    async def table_add(
        table: Annotated[str, Field(description="SOURCE.SCHEMA.TABLE")],
    ) -> Answer:
        """Capture a table of a source: write its files, start it, wait for its rows."""
        return await labctl("table", "add", "--", table, seconds=_LOAD_SECONDS)

    async def table_remove(table: str) -> Answer:
        """Stop capturing a silver table; its rows in the lake stay."""
        return await labctl("table", "remove", "--", table, seconds=300)

    async def table_rebuild(table: str, *, from_topic: bool = False) -> Answer:
        """Write a silver table again from its bronze files, or from all that its topic has."""
        flags = ["--from-topic"] if from_topic else []
        return await labctl("table", "rebuild", *flags, "--", table, seconds=_LOAD_SECONDS)

    async def topics_deadletters_replay(table: str) -> Answer:
        """Put a table's records that were put aside into it, once the cause is fixed."""
        return await labctl("topics", "deadletters", "replay", "--", table, seconds=300)

    async def snapshot_save(name: str, *, replace: bool = False) -> Answer:
        """Save the whole lab at one point in time."""
        flags = ["--replace"] if replace else []
        return await labctl("snapshot", "save", *flags, "--", name, seconds=600)

    async def snapshot_restore(name: str) -> Answer:
        """Go back to a snapshot: what happened since is lost."""
        return await labctl("snapshot", "restore", "--", name, seconds=600)

    async def client_source(
        source: Annotated[str, Field(description="A source of lab.toml.")],
        sql: Annotated[str, Field(description="One statement in the SQL of its engine.")],
    ) -> Answer:
        """Run one statement at a source, as the owner of its tables; it is committed."""
        return await labctl("client", "source", "--", source, sql, seconds=120)

    async def test_fault(
        kind: FaultKind,
        service: Annotated[str | None, Field(description="None for the whole lab.")] = None,
        seconds: Annotated[float, Field(ge=0.1, le=120)] = 10,
    ) -> Answer:
        """Cause one fault, and answer when it is over; the lab then recovers by itself."""
        words = ("test", "fault", f"--seconds={seconds:g}", "--", kind.value)
        of = () if service is None else (service,)
        return await labctl(*words, *of, seconds=seconds + _START_SECONDS)

    def files_write(path: str, text: str) -> Answer:
        """Write a file of the project as a whole; `up` and `connectors_apply` read it."""
        project_files.write(project, path, text)
        return {"path": path, "bytes": len(text.encode())}

    return [
        *(up, restart, seed, table_add, table_remove, table_rebuild),
        *(connectors_apply, connectors_restart, connectors_snapshot, connectors_backfill),
        *(topics_deadletters_replay, snapshot_save, snapshot_restore),
        *(client_source, test_fault, files_write),
    ]
