"""What can stop a table or the application, and whether trying again can help."""

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
"""What the line of py4j's message begins with that names the Java exception."""


class PermanentError(Exception):
    """Trying again will not help: someone has to change something first.

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

    It is the record that is bad: `what` says why, for whoever puts it aside or stops for it.
    """


class SchemaChangeError(PermanentError):
    """The source changed a column in a way its table cannot follow."""


def in_one_line(error: BaseException) -> str:
    """What went wrong, without Java's stack: the innermost cause it names, or the first line."""
    lines = str(error).strip().splitlines()
    causes = [line for line in lines if line.startswith(_CAUSE)]
    if causes:
        return causes[-1].removeprefix(_CAUSE)
    named = [line for line in lines[1:] if line.startswith(_JAVA_ERROR)]
    if named:
        return named[0].removeprefix(_JAVA_ERROR)
    return lines[0] if lines else type(error).__name__
