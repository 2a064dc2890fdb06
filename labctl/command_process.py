"""`labctl` as a process: its answer is what the command line prints with `--output json`."""

from __future__ import annotations

import asyncio
import contextlib
import json
import signal
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

__all__ = ["CommandError", "LabCommand", "with_json"]

MOST_BYTES = 4 * 1024 * 1024
"""The longest answer of a command; ask for fewer rows than that has room for."""
_STOP_SECONDS = 10.0
_ERROR_BYTES = 64 * 1024


class CommandError(Exception):
    """A command failed; the message is what it would have printed: what, details, next step."""


@dataclass(frozen=True)
class LabCommand:
    """The command line of one project and one lab."""

    project: Path
    options: tuple[str, ...] = ()
    """Options of every command: `--lab`, `--profile`."""

    async def __call__(self, *words: str, seconds: float) -> dict[str, Any]:
        """Run a command; return `exit_code`, and `result`: what it printed.

        Raises CommandError with the command's own error and next step, or after `seconds`.
        """
        process = await asyncio.create_subprocess_exec(
            # Not by a module of the project that happens to be called labctl.
            *(sys.executable, "-P", "-m", "labctl", *self.options, *with_json(words)),
            cwd=self.project,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=PIPE,
            stderr=PIPE,
            limit=MOST_BYTES,
        )
        try:
            async with asyncio.timeout(seconds):
                printed, said = await _output(process)
        except TimeoutError:
            raise CommandError(
                f"error: labctl {words[0]} did not end within {seconds:g} s, and was interrupted\n"
                "next: labctl status"
            ) from None
        finally:
            await _end(process)
        return _answer(printed, said, process.returncode or 0)


def with_json(words: Sequence[str]) -> list[str]:
    """Return the words with `--output json` before the arguments, which may begin with a dash."""
    words = [*words]
    place = words.index("--") if "--" in words else len(words)
    return [*words[:place], "--output", "json", *words[place:]]


async def _output(process: Process) -> tuple[bytes, bytes]:
    assert process.stdout is not None and process.stderr is not None  # noqa: S101
    printed, said = await asyncio.gather(
        _read(process.stdout, MOST_BYTES), _read(process.stderr, _ERROR_BYTES)
    )
    await process.wait()
    return printed, said


async def _read(stream: asyncio.StreamReader, most: int) -> bytes:
    """Read a stream to its end. Of one that is longer, return the last `most` bytes and one."""
    kept = b""
    while block := await stream.read(65536):
        kept = (kept + block)[-most - 1 :]
    return kept


async def _end(process: Process) -> None:
    """Interrupt a process that still runs, as Ctrl+C does, so that it tidies up; then kill it."""
    if process.returncode is not None:
        return
    with contextlib.suppress(ProcessLookupError):
        process.send_signal(signal.SIGINT)
    try:
        async with asyncio.timeout(_STOP_SECONDS):
            await process.wait()
    except TimeoutError:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await process.wait()


def _answer(printed: bytes, said: bytes, exit_code: int) -> dict[str, Any]:
    if len(printed) > MOST_BYTES:
        raise CommandError(
            f"error: the answer has more than {MOST_BYTES // 2**20} MB\n"
            "next: ask for fewer rows or fewer columns"
        )
    text = printed.decode(errors="replace").strip()
    if exit_code and not text:
        raise CommandError(_error(said.decode(errors="replace")))
    try:
        result = json.loads(text) if text else None
    except ValueError:
        result = text
    return {"exit_code": exit_code, "result": result}


def _error(said: str) -> str:
    """Return an error as labctl prints it for people: what, details, next step."""
    begin = said.find("{")
    try:
        error = json.loads(said[begin:])["error"]
    except (ValueError, KeyError, TypeError):
        return said.strip() or "error: the command failed and printed nothing"
    lines = [f"error: {error['message']}", *(f"  {line}" for line in error["details"])]
    if error["hint"]:
        lines.append(f"next: {error['hint']}")
    return "\n".join(lines)
