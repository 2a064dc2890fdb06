"""Notes every death of a service: an event listener that supervisord runs.

Appends one JSON line a death to the file named on its command line: service, time, whether it
was given up. Runs as a script of its own so that it costs no imports.
https://supervisord.org/events.html
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

__all__ = ["listen"]


def listen(deaths: Path) -> None:
    """Serve supervisord's event protocol on standard input and output until it ends."""
    while True:
        sys.stdout.write("READY\n")
        sys.stdout.flush()
        header = dict(pair.split(":", 1) for pair in sys.stdin.readline().split())
        if not header:
            return
        payload = sys.stdin.read(int(header["len"]))
        values = dict(pair.split(":", 1) for pair in payload.split())
        # `expected` would be an exit asked for; supervisord sends no EXITED for its own stops.
        death = {
            "service": values["processname"],
            "at": time.time(),
            "gave_up": header["eventname"] == "PROCESS_STATE_FATAL",
        }
        with deaths.open("a", encoding="utf-8") as handle:
            handle.write(json.dumps(death) + "\n")
        sys.stdout.write("RESULT 2\nOK")
        sys.stdout.flush()


if __name__ == "__main__":
    listen(Path(sys.argv[1]))
