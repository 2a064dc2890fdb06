"""Becomes the process that a JSON file describes: `{"argv": […], "env": {…}, "cwd": …}`.

supervisord starts services through this, so that no argument or value passes its own quoting
and expansion rules, and secrets stay in one private file. A script of its own: no imports of ours.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

__all__ = ["launch"]


def launch(description: Path) -> None:
    """Replace this process. Returns only by an exception (no such program, no such folder)."""
    process = json.loads(description.read_text(encoding="utf-8"))
    if process["cwd"] is not None:
        os.chdir(process["cwd"])
    os.execvpe(process["argv"][0], process["argv"], {**os.environ, **process["env"]})  # noqa: S606


if __name__ == "__main__":
    launch(Path(sys.argv[1]))
