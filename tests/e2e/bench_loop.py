"""Figures of the developer's loop, on a lab that runs: `python -m tests.e2e.bench_loop [LAB]`.

Run it in the lab's project. Prints one JSON object, kept as docs/benchmarks/loop.json. Files are as
they were afterwards.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from labctl.json_text import to_json
from labctl.kafkaconnect.opening import connect_client
from labctl.lab.connectors.connector_states import is_running
from labctl.lab.connectors.source_files import source_file
from labctl.lab.lab import Lab
from labctl.lab.observe.service_status import read_status
from labctl.latency.change import followed_row, make_change
from labctl.latency.environment import describe
from labctl.watching.watcher import Outcome, Watcher
from lakecontract.table_names import quoted

_TIMES = 10
_COMMANDS = 5
_SNAPSHOTS = 3
_NAME = "bench"
_KEY = "max.batch.size"
_POLL_SECONDS = 0.005
_LONGEST_SECONDS = 120.0


def main() -> None:
    """Measure everything and print the figures."""
    load = os.getloadavg()
    name = sys.argv[1] if len(sys.argv) > 1 else None
    lab = Lab.find(name=name).require_running()
    services = {service.name: service.detail or "" for service in read_status(lab).services}
    table = next(iter(lab.tables)).name
    one_row = f"SELECT * FROM {quoted(table)} LIMIT 1"
    figures = {
        "environment": asdict(describe(Path(__file__).parents[2], services, load)),
        "labctl --help": _command("--help"),
        "labctl status": _command("--lab", lab.name, "status"),
        "labctl query, one row": _command("--lab", lab.name, "query", one_row),
        **_watch(lab, name),
        **_snapshot(lab),
    }
    print(to_json(figures))


def _watch(lab: Lab, name: str | None) -> dict[str, Any]:
    """From a file saved until what runs has the new setting, and runs."""
    told: list[Outcome] = []
    stop = threading.Event()
    watcher = Watcher(lambda: Lab.find(name=name), told.append, name=name)
    thread = threading.Thread(target=watcher.run, args=(stop,))
    thread.start()
    try:
        return {
            "watch: connector file saved until the new setting runs": _connector(lab, told),
            "watch: properties file saved until the table runs by it": _table(lab, told),
        }
    finally:
        stop.set()
        thread.join()


def _connector(lab: Lab, told: list[Outcome]) -> dict[str, Any]:
    file = source_file(lab, next(iter(lab.config.sources)))
    client = connect_client(lab.endpoints.connect)

    def runs(value: str) -> bool:
        tasks = client.task_configs(file.name)
        return all(task.get(_KEY) == value for task in tasks) and is_running(
            client.status(file.name)
        )

    return _saved(
        file.path,
        lambda text, number: text.replace("{", f'{{"{_KEY}": "{1000 + number}",', 1),
        lambda number: runs(str(1000 + number)),
        told,
    )


def _table(lab: Lab, told: list[Outcome]) -> dict[str, Any]:
    """Until the watcher says so, which waits for the table itself."""
    before = len(told)
    return _saved(
        next(iter(lab.tables)).properties.file,
        lambda text, number: f"{text}\nlab.keep.minutes={10 + number}\n",
        lambda number: len(told) > before + number,
        told,
    )


def _snapshot(lab: Lab) -> dict[str, Any]:
    """Saved and restored on the lab itself: a restore counts until a new change is in silver."""
    seconds: dict[str, list[float]] = {"saved": [], "restored": [], "queryable": []}
    try:
        for _ in range(_SNAPSHOTS):
            seconds["saved"].append(_seconds("snapshot", "save", _NAME, "--replace", lab=lab))
            begun = time.monotonic()
            seconds["restored"].append(_seconds("snapshot", "restore", _NAME, lab=lab))
            restored = Lab.find(name=lab.name).require_running()
            make_change(restored, followed_row(restored))
            seconds["queryable"].append(time.monotonic() - begun)
    finally:
        _seconds("snapshot", "delete", _NAME, lab=lab)
    return {
        "snapshot saved": _figures(seconds["saved"]),
        "snapshot restored, every service usable": _figures(seconds["restored"]),
        "snapshot restored until a new change is queryable": _figures(seconds["queryable"]),
    }


def _saved(
    path: Path, edited: Callable[[str, int], str], holds: Callable[[int], bool], told: list[Outcome]
) -> dict[str, Any]:
    text = path.read_text(encoding="utf-8")
    seconds = []
    try:
        for number in range(_TIMES):
            before = len(told)
            saved = time.monotonic()
            path.write_text(edited(text, number), encoding="utf-8")
            _wait(lambda number=number: holds(number))  # type: ignore[misc]
            seconds.append(time.monotonic() - saved)
            _wait(lambda before=before: len(told) > before)  # type: ignore[misc]
            if told[-1].error is not None:
                raise SystemExit(str(told[-1].error))
    finally:
        path.write_text(text, encoding="utf-8")
    before = len(told)
    _wait(lambda: len(told) > before)
    return _figures(seconds)


def _wait(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + _LONGEST_SECONDS
    while not holds():
        if time.monotonic() > deadline:
            raise SystemExit(f"not so after {_LONGEST_SECONDS:.0f} s")
        time.sleep(_POLL_SECONDS)


def _command(*arguments: str) -> dict[str, Any]:
    return _figures([_seconds(*arguments) for _ in range(_COMMANDS)])


def _seconds(*arguments: str, lab: Lab | None = None) -> float:
    chosen = ("--lab", lab.name) if lab else ()
    begun = time.monotonic()
    subprocess.run(
        [sys.executable, "-m", "labctl", *chosen, *arguments], capture_output=True, check=True
    )
    return time.monotonic() - begun


def _figures(seconds: list[float]) -> dict[str, Any]:
    return {
        "count": len(seconds),
        "median": round(statistics.median(seconds), 2),
        "minimum": round(min(seconds), 2),
        "maximum": round(max(seconds), 2),
    }


if __name__ == "__main__":
    main()
