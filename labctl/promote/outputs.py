"""Values that exist only once a stack is made, and placeholders for them in a plan."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from labctl.errors import LabError

__all__ = ["Output", "Outputs", "outputs_in", "plain", "resolve"]

Outputs = Mapping[str, Mapping[str, str]]
"""Values by stack and name. The stack `kafka` stands for values from MSK's API."""

_KEY = "Output"


@dataclass(frozen=True, order=True)
class Output:
    """The output `name` of `stack`. In a rendered file: `{"Output": "data.ClusterArn"}`."""

    stack: str
    name: str

    def __str__(self) -> str:
        return f"{self.stack}.{self.name}"


def plain(value: Any) -> Any:
    """Return `value` with each output in its JSON form."""
    return _map(value, lambda output: {_KEY: str(output)})


def resolve(value: Any, outputs: Outputs) -> Any:
    """Return `value`, rendered or not, with outputs resolved; raise LabError if one is missing."""

    def look_up(output: Output) -> str:
        try:
            return outputs[output.stack][output.name]
        except KeyError:
            raise LabError(
                f"The stack {output.stack} has no output {output.name}",
                hint="`labctl promote apply` makes what is missing, in order",
            ) from None

    return _map(value, look_up)


def outputs_in(value: Any) -> set[Output]:
    """Return every output that `value` refers to."""
    found: set[Output] = set()
    _map(value, found.add)
    return found


def _map(value: Any, put: Any) -> Any:
    if isinstance(value, Output):
        return put(value)
    if isinstance(value, Mapping):
        if set(value) == {_KEY} and isinstance(value[_KEY], str):
            stack, _, name = value[_KEY].partition(".")
            return put(Output(stack, name))
        return {key: _map(held, put) for key, held in value.items()}
    if isinstance(value, list | tuple):
        return [_map(held, put) for held in value]
    return value
