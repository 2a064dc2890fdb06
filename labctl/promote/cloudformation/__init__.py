"""CloudFormation templates, one per stack, as plain dictionaries."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from labctl.promote.aws_names import Stack, stacks_of
from labctl.promote.cloudformation import (
    api_stack,
    connect_stack,
    data_stack,
    foundation_stack,
    spark_stack,
)
from labctl.promote.promotion import Promotion

__all__ = ["templates"]

_BUILDERS: dict[Stack, Callable[[Promotion], dict[str, Any]]] = {
    "foundation": foundation_stack.template,
    "data": data_stack.template,
    "connect": connect_stack.template,
    "spark": spark_stack.template,
    "api": api_stack.template,
}


def templates(promotion: Promotion) -> dict[Stack, dict[str, Any]]:
    """Return the template of every stack, in creation order."""
    return {stack: _BUILDERS[stack](promotion) for stack in stacks_of(promotion)}
