"""CloudFormation templates, one per stack, as plain dictionaries."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from labctl.promote.cloudformation import api, connect, data, foundation, spark
from labctl.promote.names import Stack, stacks_of
from labctl.promote.promotion import Promotion

__all__ = ["templates"]

_BUILDERS: dict[Stack, Callable[[Promotion], dict[str, Any]]] = {
    "foundation": foundation.template,
    "data": data.template,
    "connect": connect.template,
    "spark": spark.template,
    "api": api.template,
}


def templates(promotion: Promotion) -> dict[Stack, dict[str, Any]]:
    """Return the template of every stack, in creation order."""
    return {stack: _BUILDERS[stack](promotion) for stack in stacks_of(promotion)}
