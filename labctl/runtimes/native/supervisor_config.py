"""supervisord's configuration file, and a private description file for each process.

https://supervisord.org/configuration.html
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
from collections.abc import Mapping
from itertools import chain
from pathlib import Path

from labctl.runtimes.runtime_protocols import (
    FULL_BELOW,
    LAST_WORDS,
    OUT_OF_MEMORY,
    RESTARTS_AT_MOST,
)
from labctl.services.connect_service import PASSING_ERRORS
from labctl.services.service import Process
from labctl.state.lab_state import LabState, write_private

__all__ = ["KEEPER", "configuration"]

KEEPER = "ports"
"""Namespace of the methods of labctl/state/keeper.py in supervisord's API."""
STEADY_SECONDS = 3
"""Seconds after which a process counts as started, so that its next death restarts the count."""


def configuration(state: LabState, processes: Mapping[str, Process]) -> str:
    """Return the configuration file's text, in which %(here)s is the lab's folder."""
    sections = [
        _section(
            "supervisord",
            {
                "logfile": "%(here)s/logs/supervisor.log",
                "logfile_maxbytes": "2MB",
                "logfile_backups": 2,
                "pidfile": "%(here)s/supervisord.pid",
                "childlogdir": "%(here)s/logs",
                "directory": "%(here)s",
                "umask": "077",
                "identifier": f"labctl-{state.name}",
                **({"user": "root"} if os.geteuid() == 0 else {}),
            },
        ),
        _section(
            "unix_http_server",
            {"file": f"%(here)s/{state.supervisor_socket.name}", "chmod": "0700"},
        ),
        _section(
            "rpcinterface:supervisor",
            {"supervisor.rpcinterface_factory": ("supervisor.rpcinterface:make_main_rpcinterface")},
        ),
        _section(
            f"rpcinterface:{KEEPER}",
            {"supervisor.rpcinterface_factory": "labctl.state.keeper:port_keeper"},
        ),
        _section(
            "eventlistener:events",
            {
                "command": (
                    f'{_script("events.py")} "%(here)s/{state.deaths.name}" {FULL_BELOW} '
                    f'"{OUT_OF_MEMORY}" {_quoted(*chain(*LAST_WORDS.items()))}'
                ),
                # BACKOFF: it died before it counted as running. TICK_5: every five seconds.
                "events": ("PROCESS_STATE_EXITED,PROCESS_STATE_BACKOFF,PROCESS_STATE_FATAL,TICK_5"),
                "stderr_logfile": "%(here)s/logs/supervisor-events.log",
                "stderr_logfile_maxbytes": "1MB",
            },
        ),
        _section(
            "eventlistener:mending",
            {
                "command": (
                    f'{_script("task_restarter.py")} "%(here)s/conf/connect" {PASSING_ERRORS}'
                ),
                "events": "TICK_5",
                "stderr_logfile": "%(here)s/logs/supervisor-mending.log",
                "stderr_logfile_maxbytes": "1MB",
            },
        ),
    ]
    sections += [
        _section(
            f"program:{name}",
            {
                "command": f'{_script("launch.py")} "%(here)s/{_describe(state, name, process)}"',
                "autostart": "false",
                "autorestart": "true",
                "startsecs": STEADY_SECONDS,
                "startretries": RESTARTS_AT_MOST,
                "stopsignal": process.stop.signal,
                "stopwaitsecs": process.stop.seconds,
                "killasgroup": "true",
                "redirect_stderr": "true",
                "stdout_logfile": f"%(here)s/logs/{state.log(name).name}",
                "stdout_logfile_maxbytes": "20MB",
                "stdout_logfile_backups": 2,
            },
        )
        for name, process in processes.items()
    ]
    return "\n".join(sections)


def _describe(state: LabState, name: str, process: Process) -> str:
    """Write the description of process `name`; return its file name, which has a digest."""
    text = json.dumps(
        {
            "argv": process.argv,
            "env": dict(process.env),
            "cwd": str(process.cwd) if process.cwd else None,
            "programs": str(process.programs) if process.programs else None,
            "data_bytes": process.data_mib and process.data_mib * 1024**2,
            "temp": str(state.temp(name)),
        }
    )
    folder = state.conf(name)
    file = folder / f"process-{hashlib.sha256(text.encode()).hexdigest()[:12]}.json"
    if not file.is_file():
        write_private(file, text)
    for stale in folder.glob("process-*.json"):
        if stale != file:
            stale.unlink()
    return str(file.relative_to(state.folder))


def _section(title: str, values: Mapping[str, object]) -> str:
    return "\n".join((f"[{title}]", *(f"{k} = {v}" for k, v in values.items()), ""))


def _script(name: str) -> str:
    """Return the command for a script in this folder, quoted for supervisord."""
    # -P: otherwise the script's folder, which has a `supervisor.py`, would come first in sys.path.
    return _quoted(sys.executable, "-P", str(Path(__file__).with_name(name)))


def _quoted(*words: str) -> str:
    return " ".join('"' + word.replace("%", "%%") + '"' for word in words)
