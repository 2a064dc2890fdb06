"""The Spark application of a project: the shipped package, or the project's own in its place."""

from __future__ import annotations

import ast
from importlib.util import find_spec
from pathlib import Path

import lakecontract
from labctl.errors import ExitCode, LabError
from labctl.shipped import own_or_shipped
from lakecontract.options import JAR

__all__ = [
    "APPLICATION",
    "PACKAGE",
    "application_files",
    "application_package",
    "contract_package",
    "own_jar",
    "require_contract",
    "shipped_package",
]

APPLICATION = "spark/silver.py"
"""The script for `spark-submit`. A project may replace it, and the package beside it."""
PACKAGE = "lakehouse"
_DECLARED = "CONTRACT"
"""Name in the package that holds the contract's version which the application needs."""


def shipped_package() -> Path:
    """Return the folder of the application's package that labctl comes with."""
    spec = find_spec(PACKAGE)
    assert spec is not None  # noqa: S101 - labctl's own distribution has it
    assert spec.submodule_search_locations is not None  # noqa: S101 - it is a package
    return Path(spec.submodule_search_locations[0])


def contract_package() -> Path:
    """Return the folder of the contract's package."""
    return Path(lakecontract.__path__[0])


def application_package(project: Path) -> Path:
    """Return the folder of the application's package: the project's own, else the shipped one."""
    own = own_or_shipped(project, APPLICATION).parent / PACKAGE
    return own if own.is_dir() else shipped_package()


def application_files(project: Path) -> list[Path]:
    """Return the files of the application's code: its script, its package and the contract's."""
    return [
        own_or_shipped(project, APPLICATION),
        *sorted(application_package(project).rglob("*.py")),
        *sorted(contract_package().rglob("*.py")),
    ]


def own_jar(project: Path) -> Path:
    """Return the jar of the application's own Java classes, for Spark's class path."""
    return application_package(project) / JAR


def require_contract(project: Path) -> None:
    """Raise LabError (USAGE) if the project's application is not one that labctl can work with.

    It must be complete, and need the version of the contract that labctl has. The package is read,
    not imported: it may need modules that only Spark's driver has.
    """
    own = (project / APPLICATION).parent / PACKAGE
    if own.is_dir() and not (project / APPLICATION).is_file():
        raise LabError(
            f"{own} is not used: the project has no {APPLICATION} that starts it",
            hint="copy labctl's script (docs/own-application.md), or remove the folder",
            exit_code=ExitCode.USAGE,
        )
    file = application_package(project) / "__init__.py"
    needed = _declared(file)
    if needed == lakecontract.VERSION:
        return
    says = f"needs version {needed}" if needed is not None else f"has no number {_DECLARED}"
    raise LabError(
        f"{file} {says}, and this labctl has version {lakecontract.VERSION} of the contract with"
        " the Spark application",
        hint=(
            "use the labctl that the application was made for, or copy the changes of labctl's own"
            f" package {PACKAGE} into yours, then set {_DECLARED} = {lakecontract.VERSION} there"
            " (docs/own-application.md)"
        ),
        exit_code=ExitCode.USAGE,
    )


def _declared(file: Path) -> int | None:
    """Return the number that a module assigns to `CONTRACT`; None if it assigns none.

    Raises LabError (USAGE) for a file that is no module.
    """
    try:
        body = ast.parse(file.read_bytes()).body
    except SyntaxError as error:
        problem = f"{file}:{error.lineno}: {error.msg}"
    except ValueError as error:  # a null byte
        problem = f"{file}:1: {error}"
    except OSError as error:
        problem = f"{file} cannot be read: {error.strerror}"
    else:
        return _number(body)
    raise LabError(problem, hint="correct the application's package", exit_code=ExitCode.USAGE)


def _number(body: list[ast.stmt]) -> int | None:
    for node in body:
        match node:
            case (
                ast.Assign(targets=[ast.Name(id=name)], value=ast.Constant(value=int(number)))
                | ast.AnnAssign(target=ast.Name(id=name), value=ast.Constant(value=int(number)))
            ) if name == _DECLARED and not isinstance(number, bool):
                return number
    return None
