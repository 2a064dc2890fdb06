"""The shell in a terminal: lines edited, remembered and completed by prompt-toolkit."""

from __future__ import annotations

from pathlib import Path

from prompt_toolkit import PromptSession
from prompt_toolkit.filters import Condition
from prompt_toolkit.history import FileHistory
from prompt_toolkit.shortcuts import CompleteStyle

from labctl.cli.app import Invocation
from labctl.cli.output import print_error, stderr
from labctl.cli.sqlshell.completion import SqlCompleter
from labctl.cli.sqlshell.session import Session
from labctl.cli.sqlshell.shell_input import is_complete
from labctl.errors import LabError

__all__ = ["converse"]


def converse(invocation: Invocation, session: Session, history: Path) -> None:
    """Read and run statements until `\\q` or Ctrl-D; Ctrl-C drops what is typed or stops what runs.

    `history` is the file that remembers what was typed.
    """
    history.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    history.touch(mode=0o600)
    prompt: PromptSession[str] = PromptSession(
        message=lambda: f"{session.database}=> ",
        prompt_continuation=lambda width, _line, _wraps: "-> ".rjust(width),
        multiline=Condition(lambda: not is_complete(prompt.default_buffer.text)),
        history=FileHistory(str(history)),
        completer=SqlCompleter(session.names, lambda: session.database, session.completions()),
        complete_while_typing=False,
        complete_in_thread=True,
        complete_style=CompleteStyle.MULTI_COLUMN,
    )
    while not session.left:
        try:
            text = prompt.prompt()
        except KeyboardInterrupt:
            continue
        except EOFError:
            return
        try:
            session.run_all(text)
        except LabError as error:
            print_error(error, invocation.format, hint=invocation.addressed(error.hint or ""))
        except KeyboardInterrupt:
            stderr.print("stopped")
