"""The reference of `lab.toml`: its keys, values and defaults, made from the models that read it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from docsite.docstrings import attributes
from labctl.config.aws import AwsProfile
from labctl.config.lab_config import ComposeProfile, LabConfig, NativeProfile
from labctl.config.services import Command, OwnService
from labctl.engine_names import INSTALLED
from labctl.sources import ENGINES

__all__ = ["aws_keys", "keys"]

HEADER = ("| key | values | default | meaning |", "| --- | --- | --- | --- |")
PLAIN = {str: "text", int: "number", bool: "`true`, `false`", float: "number"}


def keys() -> str:
    """Return a table for each section of `lab.toml`, but for those of managed services."""
    sections = _sections(LabConfig, "")
    profiles = (
        *_sections(NativeProfile, "profiles.NAME"),
        *_sections(ComposeProfile, "profiles.NAME"),
    )
    return _tables([*sections, *profiles])


def aws_keys() -> str:
    """Return every key of a profile of managed services."""
    return _tables(_sections(AwsProfile, "profiles.NAME"))


def _tables(sections: Iterable[tuple[str, type[BaseModel]]]) -> str:
    lines: list[str] = []
    for name, model in sections:
        rows = list(_rows(model))
        if not rows:
            continue
        what = " ".join((model.__doc__ or "").split("\n\n")[0].split())
        runtime = model.model_fields.get("runtime")
        title = f"`[{name}]`" if name else "At the top of the file"
        if runtime is not None:
            (value,) = get_args(runtime.annotation)
            title += f' with `runtime = "{value}"`'
        elif model is OwnService:
            title += " of your own"
        lines += [f"### {title}", what, "", *HEADER, *rows, ""]
    return "\n".join(lines).rstrip()


def _sections(model: type[BaseModel], name: str) -> Iterator[tuple[str, type[BaseModel]]]:
    yield name, model
    for key, field in model.model_fields.items():
        for below, many in _models(field.annotation):
            if "runtime" not in below.model_fields:
                path = ".".join(filter(None, (name, key, "NAME" if many else "")))
                yield from _sections(below, path)


def _rows(model: type[BaseModel]) -> Iterator[str]:
    said = attributes(model)
    for name, field in model.model_fields.items():
        if _models(field.annotation):
            continue
        key = field.alias or name
        meaning = " ".join(said.get(name, "").split())
        is_engine = any(rule == INSTALLED for rule in field.metadata)
        values = _names(ENGINES) if is_engine else _values(field.annotation)
        cells = (f"`{key}`", values, _default(field), meaning)
        yield "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _names(values: Iterable[Any]) -> str:
    return ", ".join(f"`{json.dumps(value)}`" for value in values)


def _models(annotation: Any) -> list[tuple[type[BaseModel], bool]]:
    """Return the sections in this type, each with whether there may be many by name."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [(annotation, False)]
    if get_origin(annotation) is dict:
        return [(model, True) for model, _ in _models(get_args(annotation)[1])]
    if get_origin(annotation) in (Annotated, Union, UnionType):
        return [found for one in get_args(annotation) for found in _models(one)]
    return []


def _values(annotation: Any) -> str:
    """Describe the values that a key may have."""
    if annotation == Command:
        return "text, list of text"
    within = get_args(annotation)
    match get_origin(annotation):
        case None if isinstance(annotation, type) and issubclass(annotation, BaseModel):
            words = "table with " + ", ".join(f"`{name}`" for name in annotation.model_fields)
        case None:
            words = PLAIN[annotation]
        case origin if origin is Annotated:
            words = _values(within[0])
        case origin if origin is Literal:
            words = _names(within)
        case origin if origin in (list, tuple):
            words = f"list of {_values(within[0])}"
        case origin if origin is dict:
            words = f"table of {_values(within[1])}"
        case _:
            words = ", ".join(_values(one) for one in within if one is not type(None))
    return words


def _default(field: FieldInfo) -> str:
    if field.is_required():
        return "needed"
    value = field.get_default(call_default_factory=True, validated_data={})
    if value is None or value is PydanticUndefined or value in ((), [], {}):
        return ""
    if isinstance(value, BaseModel):
        value = value.model_dump()
    return f"`{json.dumps(value, default=lambda one: one.model_dump())}`"
