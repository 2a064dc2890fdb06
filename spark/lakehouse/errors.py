"""What can stop a table or the application, and whether trying again can help."""

from __future__ import annotations

__all__ = ["BadRecordError", "ConfigurationError", "PermanentError", "SchemaChangeError"]


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


class SchemaChangeError(PermanentError):
    """The source changed a column in a way its table cannot follow."""
