"""The reference of the command line: one page per command, made from the commands themselves."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from importlib import import_module
from typing import Any

import typer

from labctl.cli import COMMANDS

__all__ = ["command_of", "command_pages", "is_command"]

ON_EVERY_COMMAND = ("--lab", "--profile", "--output")


def command_pages() -> dict[str, str]:
    """Markdown of each command of the root, by its name, in the order of `labctl --help`."""
    root = _root()
    context = root.context_class(root, info_name="labctl")
    pages = {}
    for name, described in COMMANDS.items():
        lines = [f"# labctl {name}", "", f"{described.summary}", ""]
        lines += _described(root.commands[name], name, context, level=2)
        pages[name] = "\n".join(lines).rstrip() + "\n"
    return pages


def command_of(words: Sequence[str]) -> tuple[Any, list[str]]:
    """Return the command that `labctl WORDS` runs, and the words that are its arguments."""
    command, rest = _root(), [*words]
    while (below := getattr(command, "commands", None)) is not None and rest and rest[0] in below:
        command = below[rest.pop(0)]
    return command, rest


def is_command(*words: str | None) -> bool:
    """Return whether `labctl WORDS` begins with a command that exists, or stops at a group."""
    command = _root()
    for word in words:
        below = getattr(command, "commands", None)
        if below is None or word is None:
            return True
        if word not in below:
            return False
        command = below[word]
    return True


@cache
def _root() -> Any:
    for command in COMMANDS.values():
        for one in (command, *command.commands.values()):
            if one.module is not None:
                import_module(f"labctl.cli.{one.module}")
    from labctl.cli.app import root

    return typer.main.get_command(root)


def _described(command: Any, name: str, parent: Any, *, level: int) -> Iterator[str]:
    context = command.context_class(command, info_name=name, parent=parent)
    usage = command.get_usage(context).removeprefix("Usage: ")
    if (below := getattr(command, "commands", None)) is not None:
        for each, one in below.items():
            yield from (f"{'#' * level} labctl {name} {each}", "")
            yield from _described(one, each, context, level=level + 1)
        return
    if command.help:
        yield from (_text(command.help), "")
    yield from ("```", usage, "```", "")
    rows = [
        (parameter.param_type_name, *parameter.get_help_record(context))
        for parameter in command.params
        if parameter.get_help_record(context) is not None
    ]
    own = [row for row in rows if not any(option in row[1] for option in ON_EVERY_COMMAND)]
    if own:
        yield from ("| argument or option | what it does |", "| --- | --- |")
        yield from (f"| `{_cell(names)}` | {_cell(said)} |" for _, names, said in own)
        yield ""
    if command.epilog:
        example = re.sub(r"^Example: ", "", command.epilog)
        yield from ("For example:", "", f"    {example}", "")


def _text(words: str) -> str:
    """Help as Markdown: what looks like HTML is text."""
    return words.replace("<", "&lt;").replace("\f", "")


def _cell(words: str) -> str:
    plain = re.sub(r" <(str|list\[str\]|path)>", "", " ".join(words.split()))
    return plain.replace("|", "\\|")
