"""Optional packages: the extra that installs them, and the error when they are missing."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Literal

from labctl.errors import ExitCode, LabError

__all__ = ["require_extra"]

_MODULES = {
    "promote": ("cfnlint", "aws_msk_iam_sasl_signer"),
    "reports": ("plotly",),
    "notebook": ("jupyterlab", "ipykernel", "matplotlib"),
    "mcp": ("mcp",),
    "lakeapi": (
        *("fastapi", "fastapi_offline", "pydantic_settings", "orjson", "redis"),
        *("prometheus_client", "structlog"),
    ),
}
"""Modules that labctl imports from each extra of pyproject.toml."""
_PURPOSE = {
    "promote": "Promotion and logins to MSK need",
    "reports": "Pages with charts need",
    "lakeapi": "The lake API needs",
    "notebook": "Notebooks need",
    "mcp": "The server for coding agents needs",
}


def require_extra(extra: Literal["promote", "reports", "lakeapi", "notebook", "mcp"]) -> None:
    """Raise LabError (ENVIRONMENT) if packages of `extra` are not installed."""
    if missing := [name for name in _MODULES[extra] if find_spec(name) is None]:
        raise LabError(
            f"{_PURPOSE[extra]} packages that are not installed: {', '.join(missing)}",
            hint=f"pip install 'labctl[{extra}]'",
            exit_code=ExitCode.ENVIRONMENT,
        )
