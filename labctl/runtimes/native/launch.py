"""Script that becomes the process of a JSON file, such as the supervisor's configuration writes.

supervisord starts services through this script. Arguments and values then bypass supervisord's
quoting and expansion rules, and secrets stay in one private file. It imports nothing of labctl.
"""

from __future__ import annotations

import json
import os
import resource
import shutil
import sys
from pathlib import Path

__all__ = ["ADDED_ENVIRONMENT", "MOVED", "launch"]

ADDED_ENVIRONMENT = "added-environment.json"
"""File next to the description in which a test may temporarily put additions to `env`."""
MOVED = "moved.json"
"""File next to the description with a temporary `argv` and `env`, for example with other ports."""


def launch(description: Path) -> None:
    """Replace this process. Returns only with an exception (no such program, no such folder).

    Deletes temporary files of an earlier process that was killed.
    """
    process = json.loads(description.read_text(encoding="utf-8"))
    moved = description.with_name(MOVED)
    if moved.is_file():
        process |= json.loads(moved.read_text(encoding="utf-8"))
    shutil.rmtree(process["temp"], ignore_errors=True)
    Path(process["temp"]).mkdir(mode=0o700, parents=True, exist_ok=True)
    env = {
        **os.environ,
        "TMPDIR": process["temp"],
        # Java ignores TMPDIR.
        "JDK_JAVA_OPTIONS": f'-Djava.io.tmpdir="{process["temp"]}"',
        **process["env"],
    }
    if process.get("programs") is not None:
        env["PATH"] = os.pathsep.join([process["programs"], env.get("PATH", os.defpath)])
    added = description.with_name(ADDED_ENVIRONMENT)
    if added.is_file():
        env |= json.loads(added.read_text(encoding="utf-8"))
    if process["cwd"] is not None:
        os.chdir(process["cwd"])
    if process["data_bytes"]:
        _, most = resource.getrlimit(resource.RLIMIT_DATA)
        wanted = process["data_bytes"]
        allowed = wanted if most == resource.RLIM_INFINITY else min(wanted, most)
        resource.setrlimit(resource.RLIMIT_DATA, (allowed, allowed))
    os.execvpe(process["argv"][0], process["argv"], env)  # noqa: S606


if __name__ == "__main__":
    launch(Path(sys.argv[1]))
