"""`labctl`: one file a command."""

from __future__ import annotations

import sys
from importlib import import_module

__all__ = ["main"]

COMMANDS = {
    "up": "up",
    "down": "down",
    "destroy": "down",
    "restart": "restart",
    "status": "status",
    "logs": "logs",
    "doctor": "doctor",
    "env": "env",
    "artifacts": "artifacts",
    "images": "images",
    "seed": "seed",
    "connectors": "connectors",
    "topics": "topics",
    "bronze": "bronze",
    "deadletters": "deadletters",
    "query": "query",
    "verify": "verify",
    "rebuild": "rebuild",
    "sqlserver": "sqlserver",
    "bench": "bench",
    "latency": "latency",
    "soak": "soak",
    "promote": "promote",
    "demo": "demo",
}
"""The module that registers each command, in the order of `--help`."""


def main() -> None:
    """The console script. Imports the command that was typed; all of them when none was."""
    from labctl.cli.app import run

    typed = [COMMANDS[word] for word in sys.argv[1:] if word in COMMANDS]
    for module in dict.fromkeys(typed or COMMANDS.values()):
        import_module(f"labctl.cli.{module}")
    run()
