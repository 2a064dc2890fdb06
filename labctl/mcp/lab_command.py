"""A command of `labctl` as a tool runs it: its error is the tool's."""

from __future__ import annotations

from typing import Any

from mcp.server.mcpserver.exceptions import ToolError

from labctl.command_process import CommandError, LabCommand

__all__ = ["ToolCommand"]


class ToolCommand(LabCommand):
    """The command line of one project and one lab, for tools."""

    async def __call__(self, *words: str, seconds: float) -> dict[str, Any]:
        """Run a command; return `exit_code`, and `result`: what it printed.

        Raises ToolError with the command's own error and next step, or after `seconds`.
        """
        try:
            return await super().__call__(*words, seconds=seconds)
        except CommandError as error:
            raise ToolError(str(error)) from None
