"""Errors that can stop a table or the application, and whether a retry can help."""

from __future__ import annotations

__all__ = [
    "BadRecordError",
    "ConfigurationError",
    "PermanentError",
    "SchemaChangeError",
    "UnusableSchemaError",
    "in_one_line",
]

_CAUSE = "Caused by: "
_JAVA_ERROR = ": "
"""Prefix of the line in py4j's message that names the Java exception."""


class PermanentError(Exception):
    """A retry will not help: someone has to change something first.

    `what` says what happened and where, `hint` what to do about it.
    """

    def __init__(self, what: str, *, hint: str) -> None:
        super().__init__(f"{what}. {hint}")
        self.what = what
        self.hint = hint


class ConfigurationError(PermanentError):
    """A property, argument or connector setting is wrong; nothing has been written."""


class BadRecordError(PermanentError):
    """A record cannot be decoded, and the table's policy is to stop."""


class UnusableSchemaError(PermanentError):
    """A record names a schema that is not in the registry, or that no record can be read with.

    The record itself is bad. `what` gives the reason, for code that puts it aside or stops.
    """


class SchemaChangeError(PermanentError):
    """The source changed a column in a way its table cannot follow."""


def in_one_line(error: BaseException) -> str:
    """Return the innermost cause that an error names, or its first line, without Java's stack."""
    lines = str(error).strip().splitlines()
    causes = [line for line in lines if line.startswith(_CAUSE)]
    if causes:
        return causes[-1].removeprefix(_CAUSE)
    named = [line for line in lines[1:] if line.startswith(_JAVA_ERROR)]
    if named:
        return named[0].removeprefix(_JAVA_ERROR)
    return lines[0] if lines else type(error).__name__
