"""Removal of the values of password keys from what is shown."""

from __future__ import annotations

import re
from collections.abc import Mapping

__all__ = ["HIDDEN", "hide_secrets", "is_secret", "shown_value"]

_SECRET_KEY = re.compile(
    r"passw(or)?d|secret|token|passphrase|credential|access[.]key|jaas[.]config|user[.]info"
    r"|customer[.]key|ssl[.]?key$|private[.]?key|key[.]pem",
    re.IGNORECASE,
)
_REFERENCE = re.compile(r"\$\{[^}]*\}")
_ASSIGNED = re.compile(
    r"((?:passw(?:or)?d|secret|token|passphrase)[\w.]*\"?\s*[=:]\s*)(\"[^\"]*\"|[^\s,;&)}]+)",
    re.IGNORECASE,
)
_LITERAL = 3
"""Shortest value that is hidden: a shorter one would match unrelated text."""
HIDDEN = "***"


def is_secret(key: str) -> bool:
    """Return whether a configuration key's value must not be shown."""
    return _SECRET_KEY.search(key) is not None


def hide_secrets(text: str, config: Mapping[str, str] | None = None) -> str:
    """Return `text` with assigned passwords and the secret values of `config` hidden."""
    for key, value in (config or {}).items():
        literal = _REFERENCE.sub("", value)
        if is_secret(key) and len(literal) >= _LITERAL:
            text = text.replace(value, HIDDEN)
    return _ASSIGNED.sub(rf"\1{HIDDEN}", text)


def shown_value(key: str, value: str | None) -> str | None:
    """Return a key's value in the form that may be shown. A reference is shown as it is."""
    if value is None or not is_secret(key) or not _REFERENCE.sub("", value):
        return value
    return HIDDEN
