"""A TOML file into its model, or an error that names file, key and what was meant."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from difflib import get_close_matches
from pathlib import Path
from typing import Any, TypeVar

from pydantic import Tag, ValidationError
from pydantic_core import ErrorDetails

from labctl.config.section import Section
from labctl.errors import ExitCode, LabError
from lakecontract.regular_files import read_text

__all__ = ["line_of_key", "read_section"]

S = TypeVar("S", bound=Section)

_ENVIRONMENT = "environment"
_HEADER = re.compile(r"\s*\[+([^\[\]]+)\]+\s*(?:#.*)?$")
_KEY = re.compile(r"\s*([A-Za-z0-9_.\"' -]+?)\s*=")


def read_section(path: Path, model: type[S], *, hint: str) -> S:
    """Read and check `path`. Raises LabError (USAGE) naming file and key, with `hint`."""
    try:
        data = tomllib.loads(read_text(path))
    except OSError as error:
        raise LabError(
            f"{path} cannot be read: {error.strerror}", hint=hint, exit_code=ExitCode.USAGE
        ) from None
    except (ValueError, RecursionError) as error:  # not UTF-8, not TOML, a number or nest too large
        raise LabError(
            f"{path} is not valid TOML: {error}", hint=hint, exit_code=ExitCode.USAGE
        ) from None
    try:
        return model.model_validate(data)
    except ValidationError as error:
        raise _explain(path, error, model, hint) from None


def _explain(path: Path, error: ValidationError, root: type[Section], hint: str) -> LabError:
    lines = []
    for issue in error.errors():
        location = _location(issue["loc"])
        if issue["type"].startswith("union_tag"):
            location.append("runtime")
        key = ".".join(location)
        if issue["type"] == "extra_forbidden":
            known = _known_keys(root, [str(part) for part in issue["loc"][:-1]])
            close = get_close_matches(location[-1], known, n=1)
            suggestion = f"did you mean {close[0]!r}?" if close else f"known: {', '.join(known)}"
            lines.append(f"{key}: unknown key; {suggestion}")
        elif not key:
            lines.append(_message(issue))
        elif _ENVIRONMENT in location:  # its values may be passwords
            lines.append(f"{key}: {_message(issue)}")
        else:
            lines.append(f"{key}: {_message(issue)} (found {_found(issue['input'])})")
    first = error.errors()[0]
    return LabError(
        f"{path}:{line_of_key(path, _location(first['loc']))} is not usable: {lines[0]}",
        details=tuple(lines[1:]),
        hint=hint,
        exit_code=ExitCode.USAGE,
    )


def line_of_key(path: Path, location: list[str]) -> int:
    """Return the line that sets a key, or its table's; the first where neither is found."""
    table: list[str] = []
    best, line = 0, 1
    for number, text in enumerate(read_text(path).splitlines(), start=1):
        if header := _HEADER.match(text):
            table = [part.strip(" \"'") for part in header[1].split(".")]
            here = table
        elif key := _KEY.match(text):
            here = [*table, *(part.strip(" \"'") for part in key[1].split("."))]
        else:
            continue
        shared = min(len(here), len(location))
        if shared > best and location[:shared] == here[:shared]:
            best, line = shared, number
    return line


def _message(issue: ErrorDetails) -> str:
    return issue["msg"].removeprefix("Value error, ")


def _found(value: object) -> str:
    """Return a shortened form of what was written; of a section, its keys."""
    if not isinstance(value, dict):
        return repr(value)
    return f"the keys {', '.join(value)}" if value else "no keys"


def _location(loc: tuple[int | str, ...]) -> list[str]:
    """Return the keys as in the file, without pydantic's marks for a key and for a chosen model."""
    parts = [str(part) for part in loc if part != "[key]"]
    if parts[:1] in (["profiles"], ["services"]) and len(parts) > 2:
        del parts[2]
    return parts


def _known_keys(root: type[Section], location: list[str]) -> list[str]:
    """Return the keys allowed at `location`, walking the models as pydantic did.

    Where one of several models may stand, pydantic's location names the one that was chosen.
    """
    model: Any = root
    choices: list[tuple[Any, str | None]] = []
    for part in location:
        field = model.model_fields.get(part)
        if field is not None:
            choices = list(_models(field.annotation))
            if len(choices) == 1:
                model = choices[0][0]
        elif chosen := [choice for choice, own in choices if _is_chosen_by(choice, own, part)]:
            model = chosen[0]
    return sorted(field.alias or name for name, field in model.model_fields.items())


def _models(annotation: Any, tag: str | None = None) -> Iterator[tuple[Any, str | None]]:
    """Yield every model in a type, and its tag; also in a dictionary's values and in a union."""
    if hasattr(annotation, "model_fields"):
        yield annotation, tag
    tags = (mark.tag for mark in getattr(annotation, "__metadata__", ()) if isinstance(mark, Tag))
    tag = next(tags, None)
    for argument in getattr(annotation, "__args__", ()):
        yield from _models(argument, tag)


def _is_chosen_by(model: Any, own_tag: str | None, tag: str) -> bool:
    """Return whether pydantic's `tag` chooses a model: by its own tag, or by a field's value."""
    return tag == own_tag or any(
        tag in getattr(f.annotation, "__args__", ()) for f in model.model_fields.values()
    )
