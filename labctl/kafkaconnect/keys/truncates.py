"""The keys with which a TRUNCATE at the source reaches silver."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from labctl.kafkaconnect.keys.check import unwrapping
from labctl.kafkaconnect.keys.lists import names
from labctl.sources.engine_registry import engine_of_connector

__all__ = ["missing_truncates", "truncate_keys"]

_SKIPPED, _TRUNCATE = "skipped.operations", "t"
_STAYS = "labctl.TruncateStays"


def truncate_keys(config: Mapping[str, str], unwrap: str) -> dict[str, str]:
    """Return the missing keys of a file whose `unwrap` turns changes into rows.

    Debezium skips TRUNCATE by default, and its transform would drop it. Some engines do not allow
    TRUNCATE of a captured table.
    """
    engine = engine_of_connector(config["connector.class"])
    if engine is not None and not engine.connector.sees_truncate:
        return {}
    found = {}
    skipped = names(config.get(_SKIPPED, _TRUNCATE))
    if _TRUNCATE in skipped:
        found[_SKIPPED] = ",".join(one for one in skipped if one != _TRUNCATE) or "none"
    aliases = names(config.get("transforms"))
    types = {alias: config.get(f"transforms.{alias}.type") for alias in aliases}
    free = "labctl-truncates" if "truncates" in types else "truncates"
    own = next((alias for alias, kind in types.items() if kind == _STAYS), free)
    if own not in aliases or aliases.index(own) > aliases.index(unwrap):
        aliases = [alias for alias in aliases if alias != own]
        aliases.insert(aliases.index(unwrap), own)
        found["transforms"] = ",".join(aliases)
    if types.get(own) != _STAYS:
        found[f"transforms.{own}.type"] = _STAYS
    return found


def missing_truncates(config: Mapping[str, str]) -> Iterator[str]:
    """Yield a sentence on missing keys for each transform that turns changes into rows."""
    for alias in unwrapping(config):
        if lacking := truncate_keys(config, alias):
            keys = ", ".join(f'"{key}": "{value}"' for key, value in lacking.items())
            yield (
                "rows that a TRUNCATE removes at the source stay in silver; to have them removed, "
                f"write {keys}"
            )
