"""Values that exist only once something was made, and their place in what is planned."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from labctl.errors import LabError

__all__ = ["Output", "Outputs", "outputs_in", "plain", "resolve"]

Outputs = Mapping[str, Mapping[str, str]]
"""By stack (or `kafka`, for what only its API tells) and name."""

_KEY = "Output"


@dataclass(frozen=True, order=True)
class Output:
    """The output `name` of `stack`. In a rendered file: `{"Output": "data.ClusterArn"}`."""

    stack: str
    name: str

    def __str__(self) -> str:
        return f"{self.stack}.{self.name}"


def plain(value: Any) -> Any:
    """`value` as JSON can hold it."""
    return _map(value, lambda output: {_KEY: str(output)})


def resolve(value: Any, outputs: Outputs) -> Any:
    """`value`, rendered or not, with every output put in. Raises LabError for a missing one."""

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
    """Every output that `value` waits for."""
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
