"""The configuration of one connector while it is made fit for a lab."""

from __future__ import annotations

from collections.abc import Mapping

from labctl.kafkaconnect.files import ParsedFile

__all__ = ["Edits"]


class Edits:
    """What becomes of a configuration, and what is said of it. Values of secrets never are."""

    def __init__(self, parsed: ParsedFile, config: Mapping[str, str] | None = None) -> None:
        """`config` is the file's in today's keys, where that is another one."""
        self._parsed = parsed
        self.config = dict(parsed.config if config is None else config)
        self.said: list[str] = []
        self.notes: list[str] = []
        self.problems: list[str] = []

    def set(self, key: str, value: str, why: str) -> None:
        """Have `key` be `value`; what was there is said to be changed, if it was another one."""
        if self.config.get(key) == value:
            return
        verb = "is now" if key in self.config else "is added"
        self.config[key] = value
        shown = f"{verb}: {value}" if verb == "is added" else f"{verb} {value}"
        self.say(key, f"{shown} ({why})")

    def set_all(self, values: Mapping[str, str], why: str) -> None:
        """`set` of several keys for one reason, told in one line."""
        changed = [key for key, value in values.items() if self.config.get(key) != value]
        if changed:
            self.config |= values
            self.said.append(f"{', '.join(changed)} are set: {why}")

    def remove(self, key: str, why: str) -> None:
        """Leave `key` out, if it is there."""
        if key in self.config:
            del self.config[key]
            self.say(key, f"is left out: {why}")

    def say(self, key: str, what: str) -> None:
        """Tell what was done with a key."""
        self.said.append(f"{self._parsed.place(key)}: {key} {what}")

    def note(self, key: str, what: str) -> None:
        """Tell what a person should look at."""
        self.notes.append(f"{self._parsed.place(key)}: {key} {what}")

    def refuse(self, key: str, what: str) -> None:
        """Tell what has to be decided first."""
        self.problems.append(f"{self._parsed.place(key)}: {key}: {what}")

    def in_order(self) -> dict[str, str]:
        """Keys that were there, in their order; new ones where the keys they belong to end."""
        left = dict(self.config)
        ordered = {key: left.pop(key) for key in self._parsed.config if key in left}
        return ordered | left
