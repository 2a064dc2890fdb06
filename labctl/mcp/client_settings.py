"""The settings by which a coding agent finds the server: `.mcp.json` in the project's folder."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from labctl.errors import ExitCode, LabError
from labctl.state.file_changes import change_files

__all__ = ["SETTINGS", "write_settings"]

SETTINGS = ".mcp.json"
_SERVERS = "mcpServers"
_NAME = "labctl"


def write_settings(project: Path, options: tuple[str, ...], *, allow_changes: bool) -> Path:
    """Write the server into the project's settings, beside the servers that are there.

    Returns the file. Raises LabError (USAGE), with nothing changed, if the file is no such
    settings.
    """
    path = project / SETTINGS
    settings = _read(path)
    arguments = ["-P", "-m", "labctl", *options, "client", "mcp", "serve"]
    arguments += ["--allow-changes"] if allow_changes else []
    settings.setdefault(_SERVERS, {})[_NAME] = {"command": sys.executable, "args": arguments}
    text = json.dumps(settings, indent=2, ensure_ascii=False) + "\n"
    change_files(project, {path: text.encode()})
    return path


def _read(path: Path) -> dict[str, Any]:
    try:
        settings = json.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise _refused(path, str(error)) from None
    if not isinstance(settings, dict) or not isinstance(settings.get(_SERVERS, {}), dict):
        raise _refused(path, f"it is no JSON object with an object {_SERVERS!r}")
    return settings


def _refused(path: Path, why: str) -> LabError:
    return LabError(
        f"{path} cannot be read: {why}",
        hint="correct it, or move it away and run the command again; nothing was changed",
        exit_code=ExitCode.USAGE,
    )
