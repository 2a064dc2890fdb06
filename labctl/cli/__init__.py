"""`labctl`: one file per command."""

from __future__ import annotations

import os
import sys
from collections.abc import Collection, Mapping, Sequence
from importlib import import_module
from types import MappingProxyType
from typing import NamedTuple

__all__ = ["COMMANDS", "SECTIONS", "main"]


class _Command(NamedTuple):
    module: str | None
    """The module of this package that registers it; None for a group that others register with."""
    summary: str
    """Its line in help, which does not wrap it."""
    commands: Mapping[str, _Command] = MappingProxyType({})
    """The commands below it that have modules of their own."""


SECTIONS: Mapping[str, Mapping[str, _Command]] = MappingProxyType(
    {
        "The lab": {
            "init": _Command("init", "Make a new project: lab.toml, connectors, tables, a test."),
            "up": _Command("up", "Start the lab; fetch what is missing."),
            "down": _Command("down", "Stop the lab; its data stays."),
            "destroy": _Command("down", "Stop the lab and delete its data, secrets and logs."),
            "restart": _Command("restart", "Restart one service."),
            "status": _Command("status", "Show services, connectors, tables, and what is wrong."),
            "ui": _Command("ui", "Show the lab on a page: from a row to the lake, live."),
            "logs": _Command("logs", "Print what a service logged."),
            "watch": _Command("watch", "Apply files to the running lab as they are saved."),
            "snapshot": _Command("snapshot", "Save the whole lab, and go back to it in seconds."),
            "doctor": _Command("doctor", "Look for what would keep the lab from running."),
            "demo": _Command("demo", "Start, seed, change a row, and read it back."),
        },
        "The pipeline": {
            "seed": _Command("seed", "Load data sets into the databases and stream them."),
            "connectors": _Command("connectors", "Validate, apply and look after connectors."),
            "table": _Command(
                "table",
                "Add, check, remove, import, rebuild captured tables.",
                {"rebuild": _Command("rebuild", "Write a silver table again from bronze.")},
            ),
            "topics": _Command(
                "topics",
                "Show records: in Kafka, in bronze files, put aside.",
                {
                    "bronze": _Command("bronze", "List bronze files, show their records."),
                    "deadletters": _Command(
                        "deadletters", "Show records put aside, and replay them."
                    ),
                },
            ),
        },
        "Reading the lake": {
            "query": _Command("query", "Run SQL over silver: now, as of a time, what changed."),
            "athena": _Command(
                "athena",
                "Ask Athena's API: in a shell, once, or what was asked.",
                {"shell": _Command("sql", "Ask Athena's API in a shell, or a file of statements.")},
            ),
            "catalog": _Command("catalog", "List the catalog's tables; write what it lacks."),
        },
        "Proof": {
            "verify": _Command("verify", "Compare every source row with silver, by content."),
            "trace": _Command("trace", "Follow one row from its source to silver."),
            "test": _Command(
                None,
                "Measure latency, or this machine; test by faults, by tables.",
                {
                    "latency": _Command(
                        "latency", "Measure a change's way from commit to query, by hop."
                    ),
                    "soak": _Command("soak", "Make faults under load, and count what was lost."),
                    "bench": _Command("bench", "Measure this machine: start, first load, one row."),
                    "fault": _Command("fault", "Kill, pause or cut off a service, once."),
                    "conformance": _Command(
                        "conformance", "Prove it on generated tables and histories."
                    ),
                },
            ),
        },
        "Clients": {
            "client": _Command(
                None,
                "Run psql, mysql, sqlcmd, kafka, aws or a notebook.",
                {
                    "env": _Command("env", "Print variables for psql, mysql, aws and others."),
                    "psql": _Command("psql", "Run psql on the lab's PostgreSQL."),
                    "mysql": _Command("mysql", "Run mysql on the lab's MySQL."),
                    "sqlcmd": _Command("sqlcmd", "Run sqlcmd on the lab's SQL Server."),
                    "kafka": _Command("kafka", "Run Kafka's own tools on the lab's Kafka."),
                    "aws": _Command("aws", "Run the AWS CLI on the lab's object store."),
                    "source": _Command("source_sql", "Run one statement at a source, any engine."),
                    "notebook": _Command(
                        "notebook", "Open a notebook on the lab: Spark SQL, time travel."
                    ),
                    "mcp": _Command("mcp", "Give coding agents the lab's commands as tools."),
                },
            ),
        },
        "Elsewhere": {
            "promote": _Command("promote", "Plan, check and apply the same files on AWS."),
            "tools": _Command(
                None,
                "The lake API, parts, images, the SQL Server stand-in.",
                {
                    "api": _Command("api", "Switch the lake API on, ask it much, see its cache."),
                    "artifacts": _Command(
                        "artifacts", "Fetch, list and verify what services are made of."
                    ),
                    "images": _Command("images", "Build images for Compose from packages alone."),
                    "sqlserver": _Command(
                        "sqlserver", "Run the SQL Server stand-in outside a lab."
                    ),
                },
            ),
        },
    }
)
"""The commands of `labctl`, in the order of `labctl --help`, under its headings."""

COMMANDS: Mapping[str, _Command] = MappingProxyType(
    {name: command for commands in SECTIONS.values() for name, command in commands.items()}
)
"""The same without the headings."""


_SHORT: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {name: (group, name) for group, command in COMMANDS.items() for name in command.commands}
    | {"sql": ("athena", "shell"), "tables": ("table",)}
)
"""All words of a command, by its own word alone or by its old name."""


def main() -> None:
    """Run the console script. It imports the command that was typed, and only names the others."""
    from labctl.cli.app import root
    from labctl.state.proxies import leave_loopback_out
    from sqlapi.pandas_left_out import leave_pandas_out

    leave_pandas_out()
    leave_loopback_out()
    sys.argv[1:] = _as_today(sys.argv[1:])
    _register(None, COMMANDS, {*sys.argv[1:], *os.environ.get("COMP_WORDS", "").split()})
    root()


def _register(group: str | None, commands: Mapping[str, _Command], typed: Collection[str]) -> None:
    from labctl.cli.app import announce

    wanted = {command.module for name, command in commands.items() if name in typed}
    for name, command in commands.items():
        if name in typed and command.commands:
            _register(name, command.commands, typed)
        if command.module is not None and command.module in wanted:
            import_module(f"labctl.cli.{command.module}")
        elif command.module is not None or name not in typed:
            announce(name, command.summary, group)


def _as_today(arguments: Sequence[str]) -> list[str]:
    """Return the arguments with all words of the command; tell a user who left some out."""
    place = _first_word(arguments)
    if place is None or (today := _SHORT.get(arguments[place])) is None:
        return [*arguments]
    print(
        f"note: `labctl {arguments[place]}` is `labctl {' '.join(today)}`",
        file=sys.stderr,
    )
    return [*arguments[:place], *today, *arguments[place + 1 :]]


def _first_word(arguments: Sequence[str]) -> int | None:
    """Return the position of the command that was typed; the options before it have values."""
    words = iter(enumerate(arguments))
    for place, word in words:
        if not word.startswith("-"):
            return place
        if "=" not in word:
            next(words, None)
    return None
