"""The command line's frame: options every command has, and how errors end one."""

from __future__ import annotations

import errno
import inspect
import os
import platform
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, wraps
from typing import TYPE_CHECKING, Annotated, Any, Concatenate, ParamSpec

import typer
from typer.core import TyperGroup

from labctl.cli import COMMANDS, SECTIONS
from labctl.cli.format import Format
from labctl.cli.hints import addressed
from labctl.errors import ExitCode, LabError

if TYPE_CHECKING:
    from labctl.lab.lab import Lab

__all__ = ["Invocation", "announce", "command", "group", "root"]

P = ParamSpec("P")


class _Sections(TyperGroup):
    """The root, whose help lists the commands under headings."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write one list of commands per section."""
        for title, commands in SECTIONS.items():
            with formatter.section(title):
                formatter.write_dl([(name, command.summary) for name, command in commands.items()])


root = typer.Typer(
    cls=_Sections,
    name="labctl",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


@dataclass(frozen=True)
class Invocation:
    """The options every command has."""

    name: str | None
    profile: str | None
    format: Format

    def lab(self, *, even_damaged: bool = False) -> Lab:
        """Return the command's lab.

        With `even_damaged` its lab.json need not be readable.
        """
        # Not above: the SQL Server stand-in is a command too, and has no use for all it brings.
        from labctl.lab.lab import Lab

        return Lab.find(name=self.name, profile=self.profile, even_damaged=even_damaged)

    def addressed(self, text: str) -> str:
        """`text` in which each command that it names is one for this lab and profile."""
        return addressed(text, {"--lab": self.name, "--profile": self.profile})


LabOption = Annotated[
    str | None,
    typer.Option("--lab", envvar="LABCTL_LAB_NAME", help="Name of the lab [default: lab.toml's]."),
]
ProfileOption = Annotated[
    str | None,
    typer.Option("--profile", envvar="LABCTL_PROFILE", help="Profile [default: lab.toml's]."),
]
OutputOption = Annotated[
    Format | None, typer.Option("--output", "-o", help="How results are printed [default: text].")
]

_COMMON = {"lab": LabOption, "profile": ProfileOption, "output": OutputOption}
_PASSING_ON = {"allow_interspersed_args": False, "ignore_unknown_options": True}
"""Options are another program's, from the first that is not ours or an argument on."""


def _print_version(wanted: bool) -> None:
    """Print what a report of a fault begins with, and end the command."""
    if wanted:
        typer.echo(version_line())
        raise typer.Exit


def version_line() -> str:
    """Return the versions of labctl and Python, and the machine's kind."""
    from importlib.metadata import version

    return (
        f"labctl {version('labctl')}, Python {platform.python_version()}, "
        f"{platform.system()} {platform.machine()}"
    )


@root.callback()
def before(
    ctx: typer.Context,
    lab: LabOption = None,
    profile: ProfileOption = None,
    output: OutputOption = None,
    version: Annotated[
        bool,
        typer.Option(
            "--version",
            is_eager=True,
            callback=_print_version,
            help="Print labctl's version, and Python's.",
        ),
    ] = False,
) -> None:
    """Run a local change-data-capture lakehouse: databases, Debezium, Kafka, Spark and Hudi."""
    ctx.obj = {"lab": lab, "profile": profile, "output": output}


def command(
    app: typer.Typer,
    name: str | None = None,
    *,
    example: str,
    rows: bool = False,
    passes_on: bool = False,
) -> Callable[[Callable[Concatenate[Invocation, P], None]], Callable[..., None]]:
    """Register a command that takes --lab, --profile and --output, before its name or after.

    The function gets them as an `Invocation`, first. `example` is shown below its help. `rows`: it
    prints rows, so `--output csv` fits it. One that `passes_on` its arguments to another program
    takes --lab, --profile and its own options only before anything else, and no --output.
    """
    options = {key: _COMMON[key] for key in _COMMON if not (passes_on and key == "output")}

    def register(function: Callable[Concatenate[Invocation, P], None]) -> Callable[..., None]:
        @wraps(function)
        def wrapper(ctx: typer.Context, **values: Any) -> None:
            early = ctx.find_root().obj
            common = {key: values.pop(key, None) or early[key] for key in _COMMON}
            invocation = Invocation(
                common["lab"], common["profile"], common["output"] or Format.TEXT
            )

            def run() -> None:
                if invocation.format is Format.CSV and not rows:
                    raise LabError(
                        "This command prints no rows, so it has no CSV",
                        hint="--output text, or json",
                        exit_code=ExitCode.USAGE,
                    )
                function(invocation, **values)  # type: ignore[call-arg]

            _run(run, invocation)

        signature = inspect.signature(function, eval_str=True)
        own = list(signature.parameters.values())[1:]
        added = [
            inspect.Parameter(
                key, inspect.Parameter.KEYWORD_ONLY, annotation=annotation, default=None
            )
            for key, annotation in options.items()
        ]
        context = inspect.Parameter(
            "ctx", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=typer.Context
        )
        keyword = [p.replace(kind=inspect.Parameter.KEYWORD_ONLY) for p in own]
        wrapper.__signature__ = signature.replace(parameters=[context, *keyword, *added])  # type: ignore[attr-defined]
        wrapper.__annotations__ = {p.name: p.annotation for p in [context, *keyword, *added]}
        epilog = "Example: " + example
        settings = _PASSING_ON if passes_on else {}
        app.command(name, epilog=epilog, context_settings=settings)(wrapper)
        return wrapper

    return register


def announce(name: str, summary: str, above: str | None) -> None:
    """Name a command of the root, or of the group `above`, in its help, without importing it."""
    (root if above is None else group(above)).command(name, help=summary)(lambda: None)


@cache
def group(name: str) -> typer.Typer:
    """Return a group of commands, which is below the root or below another group."""
    above = next((app for app, command in COMMANDS.items() if name in command.commands), None)
    summary = (COMMANDS[name] if above is None else COMMANDS[above].commands[name]).summary
    app = typer.Typer(name=name, help=summary, no_args_is_help=True, rich_markup_mode=None)
    (root if above is None else group(above)).add_typer(app)
    return app


_NOT_WRITTEN = (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EFBIG)
"""Errors of a disk that takes nothing more."""


def _run(action: Callable[[], None], invocation: Invocation) -> None:
    from labctl.cli.output import print_error, stderr

    try:
        action()
    except LabError as error:
        print_error(error, invocation.format, hint=invocation.addressed(error.hint or ""))
        raise typer.Exit(int(error.exit_code)) from None
    except KeyboardInterrupt:
        stderr.print("interrupted")
        raise typer.Exit(int(ExitCode.INTERRUPTED)) from None
    except BrokenPipeError:
        # The reader of our output left (`labctl … | head`): not an error of ours.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except OSError as error:
        if error.errno not in _NOT_WRITTEN:
            raise
        said = LabError(
            f"{error.filename or 'A file'} cannot be written: {error.strerror}",
            hint="make room on that disk, then run the command again",
            exit_code=ExitCode.ENVIRONMENT,
        )
        print_error(said, invocation.format, hint=said.hint or "")
        raise typer.Exit(int(said.exit_code)) from None
