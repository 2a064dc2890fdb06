"""`labctl watch`."""

from __future__ import annotations

import signal
import sys
import time
from dataclasses import replace
from typing import Any

from rich.text import Text

from labctl.cli.app import Invocation, command, root
from labctl.cli.format import Format
from labctl.cli.output import print_error, stdout
from labctl.json_text import to_json_line
from labctl.lab.lab import Lab
from labctl.watching.differences import differences, relative
from labctl.watching.places import Places, Role
from labctl.watching.watcher import Outcome, Watcher

__all__ = ["watch_command"]

_WORDS = {
    Role.LAB: "the lab",
    Role.CONNECTOR: "connectors",
    Role.PROPERTIES: "tables",
    Role.CODE: "the Spark application",
    Role.SPARK: "its settings",
    Role.WORKER: "Kafka Connect's settings",
    Role.SCHEMA: "schemas",
}


@command(root, "watch", example="labctl watch")
def watch_command(invocation: Invocation) -> None:
    """Apply files to the running lab as they are saved, each to the least that needs it.

    A connector is updated in place, a table's query restarts with its new properties, a schema
    file is run. A file that cannot be used is an error with its line, and the lab goes on as
    before. Ctrl-C ends it, once what is under way is done.
    """
    first = invocation.lab()

    def find() -> Lab:
        # Whatever lab.toml calls the lab by now: this one is watched.
        return replace(invocation.lab(), state=first.state, profile=first.profile)

    signal.signal(signal.SIGTERM, signal.default_int_handler)
    watcher = Watcher(find, lambda outcome: _tell(invocation, first, outcome), name=invocation.name)
    _begin(invocation, first, watcher.places)
    watcher.run()


def _begin(invocation: Invocation, lab: Lab, places: Places) -> None:
    """Say what is watched, and what is different from what runs."""
    found = differences(lab, places)
    files: dict[Role, list[str]] = {}
    for path, use in sorted(places.uses.items()):
        files.setdefault(use.role, []).append(relative(lab, path))
    if invocation.format is Format.JSON:
        _line({"watching": files, "differs": found})
        return
    stdout.print(f"Watching lab {lab.name!r}; Ctrl-C ends it.")
    for role in Role:
        if names := files.get(role):
            shown = ", ".join(names) if len(names) < 4 else f"{names[0]} and {len(names) - 1} more"
            stdout.print(Text(f"  {_WORDS[role]}: {shown}"))
    for sentence in found:
        stdout.print(Text(f"differs: {invocation.addressed(sentence)}"))


def _tell(invocation: Invocation, lab: Lab, outcome: Outcome) -> None:
    names = [relative(lab, path) for path in outcome.files]
    if outcome.error is not None and invocation.format is not Format.JSON:
        hint = invocation.addressed(outcome.error.hint or "")
        print_error(outcome.error, invocation.format, hint=hint)
        return
    seconds = round(outcome.seconds, 2)
    if invocation.format is Format.JSON:
        error = outcome.error
        said = {"said": outcome.said} if error is None else {"error": _error(error)}
        _line({"files": names, "seconds": seconds, **said})
        return
    shown = names[0] if len(names) == 1 else f"{len(names)} files"
    line = f"{time.strftime('%H:%M:%S')}  {shown}: {outcome.said} ({seconds:.1f} s)"
    stdout.print(Text(invocation.addressed(line)))


def _error(error: Any) -> dict[str, Any]:
    return {"message": error.what, "hint": error.hint, "details": list(error.details)}


def _line(data: Any) -> None:
    """Write one JSON object per line, for programs that read the lines as they come."""
    sys.stdout.write(to_json_line(data) + "\n")
    sys.stdout.flush()
