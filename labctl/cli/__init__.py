"""`labctl`: one file per command."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from importlib import import_module
from types import MappingProxyType
from typing import NamedTuple

__all__ = ["COMMANDS", "SECTIONS", "main"]


class _Command(NamedTuple):
    module: str
    """The module of this package that registers it."""
    summary: str
    """Its line in `labctl --help`, which does not wrap it."""


SECTIONS: Mapping[str, Mapping[str, _Command]] = MappingProxyType(
    {
        "The lab": {
            "init": _Command("init", "Make a new project: lab.toml, connectors, tables, a test."),
            "up": _Command("up", "Start the lab; fetch what is missing."),
            "down": _Command("down", "Stop the lab; its data stays."),
            "destroy": _Command("down", "Stop the lab and delete its data, secrets and logs."),
            "restart": _Command("restart", "Restart one service."),
            "status": _Command("status", "Show services, connectors, tables, and what is wrong."),
            "logs": _Command("logs", "Print what a service logged."),
            "watch": _Command("watch", "Apply files to the running lab as they are saved."),
            "snapshot": _Command("snapshot", "Save the whole lab, and go back to it in seconds."),
            "doctor": _Command("doctor", "Look for what would keep the lab from running."),
            "demo": _Command("demo", "Start, seed, change a row, and read it back."),
        },
        "The pipeline": {
            "seed": _Command("seed", "Load data sets into the databases and stream them."),
            "connectors": _Command("connectors", "Validate, apply and look after connectors."),
            "table": _Command("table", "Add, list, check, remove and import captured tables."),
            "topics": _Command("topics", "List Kafka topics, show their records decoded."),
            "bronze": _Command("bronze", "List bronze files, show their records."),
            "deadletters": _Command("deadletters", "Show records put aside, and replay them."),
            "rebuild": _Command("rebuild", "Write a silver table again from bronze."),
        },
        "Reading the lake": {
            "query": _Command("query", "Run SQL over silver: now, as of a time, what changed."),
            "sql": _Command("sql", "Ask Athena's API in a shell, or a file of statements."),
            "athena": _Command("athena", "Run SQL by Athena's API; its history and kept queries."),
            "catalog": _Command("catalog", "List the catalog's tables; write what it lacks."),
            "api": _Command("api", "Switch the lake API on, ask it much, see what it keeps."),
            "notebook": _Command("notebook", "Open a notebook on the lab: Spark SQL, time travel."),
        },
        "Proof": {
            "verify": _Command("verify", "Compare every source row with silver, by content."),
            "trace": _Command("trace", "Follow one row from its source to silver."),
            "latency": _Command("latency", "Measure a change's way from commit to query, by hop."),
            "soak": _Command("soak", "Make faults under load, and count what was lost."),
            "bench": _Command("bench", "Measure this machine: start, first load, one row."),
            "conformance": _Command("conformance", "Prove it on generated tables and histories."),
        },
        "Clients": {
            "env": _Command("env", "Print variables for psql, mysql, aws and other clients."),
            "psql": _Command("psql", "Run psql on the lab's PostgreSQL."),
            "mysql": _Command("mysql", "Run mysql on the lab's MySQL."),
            "sqlcmd": _Command("sqlcmd", "Run sqlcmd on the lab's SQL Server."),
            "kafka": _Command("kafka", "Run Kafka's own tools on the lab's Kafka."),
            "aws": _Command("aws", "Run the AWS CLI on the lab's object store."),
        },
        "Elsewhere": {
            "promote": _Command("promote", "Plan, check and apply the same files on AWS."),
            "images": _Command("images", "Build images for Compose from packages alone."),
            "artifacts": _Command("artifacts", "Fetch, list and verify what services are made of."),
            "sqlserver": _Command("sqlserver", "Run the SQL Server stand-in outside a lab."),
        },
    }
)
"""What `labctl` can do, in the order of `labctl --help`, under its headings."""

COMMANDS: Mapping[str, _Command] = MappingProxyType(
    {name: command for commands in SECTIONS.values() for name, command in commands.items()}
)
"""The same without the headings."""


def main() -> None:
    """Run the console script. It imports the command that was typed, and only names the others."""
    from labctl.cli.app import announce, root
    from labctl.state.proxies import leave_loopback_out
    from sqlapi.pandas_left_out import leave_pandas_out

    leave_pandas_out()
    leave_loopback_out()
    if _first_word(sys.argv[1:]) == "tables":
        print(
            "error: `labctl tables` is `labctl table` now\nnext:  labctl table import --help",
            file=sys.stderr,
        )
        sys.exit(2)
    typed = {COMMANDS[word].module for word in sys.argv[1:] if word in COMMANDS}
    for name, command in COMMANDS.items():
        if command.module in typed:
            import_module(f"labctl.cli.{command.module}")
        else:
            announce(name, command.summary)
    root()


def _first_word(arguments: Sequence[str]) -> str | None:
    """Return the command that was typed; the options before it have values."""
    words = iter(arguments)
    for word in words:
        if not word.startswith("-"):
            return word
        if "=" not in word:
            next(words, None)
    return None
