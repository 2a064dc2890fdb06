"""A TOML file into its model, or an error that names file, key and what was meant."""

from __future__ import annotations

import tomllib
from difflib import get_close_matches
from pathlib import Path
from typing import Any, TypeVar

from pydantic import ValidationError

from labctl.config.aws import AwsProfile
from labctl.config.section import Section
from labctl.errors import ExitCode, LabError

__all__ = ["read_section"]

S = TypeVar("S", bound=Section)


def read_section(path: Path, model: type[S], *, hint: str) -> S:
    """Read and check `path`. Raises LabError (USAGE) naming file and key, with `hint`."""
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise LabError(f"{path} is not valid TOML: {error}", exit_code=ExitCode.USAGE) from None
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
            known = _known_keys(root, location[:-1])
            close = get_close_matches(location[-1], known, n=1)
            suggestion = f"did you mean {close[0]!r}?" if close else f"known: {', '.join(known)}"
            lines.append(f"{key}: unknown key; {suggestion}")
        elif not key:
            lines.append(issue["msg"].removeprefix("Value error, "))
        else:
            lines.append(f"{key}: {issue['msg']} (found {_found(issue['input'])})")
    return LabError(
        f"{path} is not usable: {lines[0]}",
        details=tuple(lines[1:]),
        hint=hint,
        exit_code=ExitCode.USAGE,
    )


def _found(value: object) -> str:
    """What was written, shortened: of a section, its keys."""
    return f"the keys {', '.join(value)}" if isinstance(value, dict) else repr(value)


def _location(loc: tuple[int | str, ...]) -> list[str]:
    """Keys as they are in the file: without pydantic's marks for a key and a profile's runtime."""
    parts = [str(part) for part in loc if part != "[key]"]
    if parts[:1] == ["profiles"] and len(parts) > 2:
        del parts[2]
    return parts


def _known_keys(root: type[Section], location: list[str]) -> list[str]:
    """The keys allowed at `location`, walking the models as pydantic did."""
    model: Any = root
    if location[:1] == ["profiles"]:
        # Only the longer profile has sections; of the others, all keys are among its own.
        model, location = AwsProfile, location[2:]
    for part in location:
        field = getattr(model, "model_fields", {}).get(part)
        if field is None:
            continue  # a key of a dictionary, such as a service's name
        annotation = field.annotation
        arguments = getattr(annotation, "__args__", ())
        model = next((a for a in (annotation, *arguments) if hasattr(a, "model_fields")), model)
    return sorted(field.alias or name for name, field in model.model_fields.items())
