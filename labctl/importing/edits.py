"""The configuration of one connector while it is adapted to a lab."""

from __future__ import annotations

from collections.abc import Mapping

from labctl.kafkaconnect.connector_files import ParsedFile

__all__ = ["Edits"]


class Edits:
    """A configuration with its edits, and messages about them, which never contain secrets."""

    def __init__(self, parsed: ParsedFile, config: Mapping[str, str] | None = None) -> None:
        """Start from `config`, the file's configuration in today's keys, or from the file's own."""
        self._parsed = parsed
        self.config = dict(parsed.config if config is None else config)
        self.said: list[str] = []
        self.notes: list[str] = []
        self.problems: list[str] = []

    def set(self, key: str, value: str, why: str) -> None:
        """Set `key` to `value`; if this changes anything, add a message."""
        if self.config.get(key) == value:
            return
        verb = "is now" if key in self.config else "is added"
        self.config[key] = value
        shown = f"{verb}: {value}" if verb == "is added" else f"{verb} {value}"
        self.say(key, f"{shown} ({why})")

    def set_all(self, values: Mapping[str, str], why: str) -> None:
        """Set several keys for one reason, with one message."""
        changed = [key for key, value in values.items() if self.config.get(key) != value]
        if changed:
            self.config |= values
            self.said.append(f"{', '.join(changed)} are set: {why}")

    def remove(self, key: str, why: str) -> None:
        """Remove `key` if it is there."""
        if key in self.config:
            del self.config[key]
            self.say(key, f"is left out: {why}")

    def say(self, key: str, what: str) -> None:
        """Add a message about an edit of a key."""
        self.said.append(f"{self._parsed.place(key)}: {key} {what}")

    def note(self, key: str, what: str) -> None:
        """Add a note about a key that a person should check."""
        self.notes.append(f"{self._parsed.place(key)}: {key} {what}")

    def refuse(self, key: str, what: str) -> None:
        """Add a problem with a key that must be solved before the import."""
        self.problems.append(f"{self._parsed.place(key)}: {key}: {what}")

    def in_order(self) -> dict[str, str]:
        """Return the configuration with the file's keys in their order, then the new keys."""
        left = dict(self.config)
        ordered = {key: left.pop(key) for key in self._parsed.config if key in left}
        return ordered | left
