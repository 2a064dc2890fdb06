"""Event listener of supervisord that restarts Kafka Connect tasks after passing failures.

A passing failure means that another service was unavailable. Connect itself never restarts such
tasks: if a converter requests a schema while the registry is down, its task fails permanently.
supervisord sends this listener an event every few seconds. It is a separate script that imports
nothing of labctl, to start quickly. https://supervisord.org/events.html
"""

from __future__ import annotations

import base64
import json
import sys
import time
import urllib.request
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

__all__ = ["Mender", "is_passing"]

PASSING = (
    "java.net.ConnectException",
    "java.net.SocketException",
    "java.net.SocketTimeoutException",
    "java.net.http.HttpTimeoutException",
    "java.net.http.HttpConnectTimeoutException",
    "java.io.EOFException",
    "java.io.IOException: HTTP/1.1 header parser received no bytes",
    "java.nio.channels.ClosedChannelException",
    "org.apache.kafka.common.errors.TimeoutException",
    "org.apache.kafka.common.errors.DisconnectException",
    # Debezium checks its schema history topic while it starts, and may be too late.
    "java.util.concurrent.RejectedExecutionException: Task io.debezium.storage.kafka.history",
    # The registry does not answer or has an internal error; its client reports no details. If the
    # registry refuses a request with a reason, the exception has another name.
    "io.apicurio.registry.rest.client.exception.RestClientException",
)
"""First words of the causes that mark a failure as passing, whatever the source."""
_CAUSED = "Caused by: "
_SECONDS = 3.0
_FIRST_PAUSE_SECONDS = 5.0
_LONGEST_PAUSE_SECONDS = 60.0


def is_passing(trace: str, of_sources: Sequence[str]) -> bool:
    """Return whether a task's failure has a cause that may be over by now."""
    causes = (line.strip().removeprefix(_CAUSED) for line in trace.splitlines())
    return any(cause.startswith((*PASSING, *of_sources)) for cause in causes)


class Mender:
    """Watcher of the connectors of the Connect whose configuration is in `folder`.

    `passing_errors` is the file there with the errors of source databases, one in each line.
    """

    def __init__(self, folder: Path, passing_errors: str) -> None:
        self._folder = folder
        self._passing_errors = passing_errors
        self._pauses: dict[str, float] = {}
        self._not_before: dict[str, float] = {}

    def look(self) -> list[str]:
        """Restart connectors with passing failures unless it is too soon; return their names."""
        begun = []
        now = time.monotonic()
        connectors = self._ask("GET", "/connectors?expand=status")
        of_sources = (self._folder / self._passing_errors).read_text(encoding="utf-8").splitlines()
        for name, entry in connectors.items():
            parts = [entry["status"]["connector"], *entry["status"]["tasks"]]
            failed = [part for part in parts if part["state"] == "FAILED"]
            due = now >= self._not_before.get(name, 0.0)
            if not failed:
                if due:
                    self._pauses.pop(name, None)
                continue
            if due and all(is_passing(part.get("trace", ""), of_sources) for part in failed):
                # The pause doubles each time; it is reset once the connector has run that long.
                pause = self._pauses.get(name, _FIRST_PAUSE_SECONDS)
                self._pauses[name] = min(2 * pause, _LONGEST_PAUSE_SECONDS)
                self._not_before[name] = now + pause
                path = f"/connectors/{quote(name)}/restart?includeTasks=true&onlyFailed=true"
                self._ask("POST", path)
                begun.append(name)
        return begun

    def _ask(self, method: str, path: str) -> dict[str, Any]:
        """Send a request to Connect. Raises OSError if it does not answer or never started."""
        settings = self._lines("worker.properties")
        login = "=".join(next(iter(self._lines("rest-users").items()))).replace("=", ":", 1)
        request = urllib.request.Request(  # noqa: S310 - the lab's own address
            settings["listeners"] + path,
            method=method,
            headers={"Authorization": "Basic " + base64.b64encode(login.encode()).decode()},
        )
        with urllib.request.urlopen(request, timeout=_SECONDS) as answer:  # noqa: S310
            found: dict[str, Any] = json.loads(answer.read() or b"{}")
        return found

    def _lines(self, name: str) -> dict[str, str]:
        text = (self._folder / name).read_text(encoding="utf-8")
        return dict(line.split("=", 1) for line in text.splitlines() if "=" in line)


def listen(mender: Mender) -> None:
    """Serve supervisord's event protocol on standard input and output until it ends."""
    while True:
        sys.stdout.write("READY\n")
        sys.stdout.flush()
        header = dict(pair.split(":", 1) for pair in sys.stdin.readline().split())
        if not header:
            return
        sys.stdin.read(int(header["len"]))
        try:
            for name in mender.look():
                print(f"{time.strftime('%F %T')} {name} is started again", file=sys.stderr)
        except (OSError, ValueError, KeyError):
            """Connect does not run or is just starting; the next event tries again."""
        sys.stdout.write("RESULT 2\nOK")
        sys.stdout.flush()


if __name__ == "__main__":
    listen(Mender(Path(sys.argv[1]), sys.argv[2]))
