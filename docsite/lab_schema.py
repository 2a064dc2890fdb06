"""The JSON schema of `lab.toml` for editors, made from the models that read it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from docsite.docstrings import attributes
from labctl.config.lab_config import LabConfig
from labctl.config.section import Section

__all__ = ["lab_schema"]


def lab_schema() -> str:
    """Return the schema, with what each key means."""
    schema = LabConfig.model_json_schema()
    models = {model.__name__: model for model in _sections(Section)}
    _describe(schema, LabConfig)
    for name, definition in schema["$defs"].items():
        if name in models:
            _describe(definition, models[name])
    dialect = {"$schema": "https://json-schema.org/draft/2020-12/schema"}
    return json.dumps({**dialect, **schema, "title": "lab.toml"}, indent=1) + "\n"


def _sections(section: type[Section]) -> Iterator[type[Section]]:
    for one in section.__subclasses__():
        yield one
        yield from _sections(one)


def _describe(definition: dict[str, Any], model: type[Section]) -> None:
    said = attributes(model)
    for name, field in model.model_fields.items():
        shown = definition.get("properties", {}).get(field.alias or name)
        if shown is not None and name in said:
            shown.setdefault("description", " ".join(said[name].split()))
