"""Errors in the format of AWS's JSON protocols."""

from __future__ import annotations

from typing import Any

__all__ = ["ApiError", "invalid_request"]


class ApiError(Exception):
    """An error response; `code` is the name of one of the service's error shapes."""

    def __init__(self, code: str, message: str, *, status: int = 400, **members: Any) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.status = status
        self.members = members

    def __reduce__(self) -> tuple[Any, ...]:
        return _again, (self.code, self.message, self.status, self.members)

    def body(self) -> dict[str, Any]:
        return {
            "__type": self.code,
            "message": self.message,
            "Message": self.message,
        } | self.members


def _again(code: str, message: str, status: int, members: dict[str, Any]) -> ApiError:
    return ApiError(code, message, status=status, **members)


def invalid_request(message: str) -> ApiError:
    """Return Athena's InvalidRequestException."""
    return ApiError("InvalidRequestException", message, AthenaErrorCode="INVALID_INPUT")
