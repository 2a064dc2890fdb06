"""Commands in hints, written so that they work for the lab the user is at."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Mapping
from types import MappingProxyType

from labctl.cli import COMMANDS

__all__ = ["addressed"]

VARIABLES: Mapping[str, str] = MappingProxyType(
    {"--lab": "LABCTL_LAB_NAME", "--profile": "LABCTL_PROFILE"}
)
"""The variable for each option: a value that is set there holds for the next command, too."""
_COMMAND = re.compile(r"\blabctl (?P<name>[a-z]+)\b(?P<rest>[^`,;·]*)")


def addressed(text: str, options: Mapping[str, str | None]) -> str:
    """`text` with the user's `--lab` and `--profile` in each `labctl COMMAND` that it names.

    `options` has what was given on the command line. A command that says `--lab` itself is left
    as it is.
    """
    given = [
        f"{option} {shlex.quote(value)} "
        for option, value in options.items()
        if value and os.environ.get(VARIABLES[option]) != value
    ]

    def write(match: re.Match[str]) -> str:
        if match["name"] not in COMMANDS or "--lab" in match["rest"]:
            return match[0]
        return match[0].replace("labctl ", f"labctl {''.join(given)}", 1)

    return _COMMAND.sub(write, text) if given else text
