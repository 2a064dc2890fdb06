"""Sources that were put back to a state before their connectors' stored positions.

A connector then skips what is written until the log has passed its position. From there on, nothing
shows that changes are missing. So a note stays, among the lab's data, until the tables are known to
be right.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

from labctl.errors import LabError
from labctl.kafkaconnect.connect_client import RebalanceError
from labctl.kafkaconnect.opening import connect_client
from labctl.lab.connectors.source_files import source_file
from labctl.lab.lab import Lab
from labctl.sources import ENGINES, connect_server
from labctl.state.lab_state import write_private

__all__ = ["forget_restored", "restored_sources"]

_SECONDS = 5.0


def restored_sources(lab: Lab, running: Collection[str]) -> Mapping[str, str]:
    """Return the connectors in `running` that have skipped changes of a restored source.

    Maps each name to the reason. A source or a position that cannot be read is left out.
    """
    names = {s.connector: name for name, s in lab.config.sources.items() if s.connector in running}
    if not names or lab.promoted is not None:
        return {}
    with ThreadPoolExecutor(max_workers=len(names)) as pool:
        ahead = pool.map(lambda connector: _is_ahead(lab, connector, names[connector]), names)
        now = [connector for connector, is_it in zip(names, ahead, strict=True) if is_it]
    for connector in now:
        # Without room on the disk, it is named for as long as it is ahead.
        with suppress(OSError):
            write_private(_note(lab, connector), "")
    return {
        connector: _reason(connector, source)
        for connector, source in names.items()
        if connector in now or _note(lab, connector).exists()
    }


def forget_restored(lab: Lab, connector: str) -> None:
    """Forget that a connector has skipped changes: all of its tables are right again."""
    _note(lab, connector).unlink(missing_ok=True)


def _is_ahead(lab: Lab, connector: str, source: str) -> bool:
    client = connect_client(lab.endpoints.connect, seconds=_SECONDS)
    try:
        # Ask for the position first: meanwhile, the log only grows.
        offsets = client.offsets(connector)
        with connect_server(lab.endpoints, source) as server:
            config = source_file(lab, source).config
            log = ENGINES[server.engine].change_log(server, config)
            return any(log.is_ahead(position["offset"]) for position in offsets)
    except (LabError, RebalanceError):
        return False


def _reason(connector: str, source: str) -> str:
    return (
        f"its source {source} was put back to an earlier state, or its log was emptied: the log "
        "ended before the position that the connector had read to, and the connector skips what is "
        "written until the log has passed that. Load every table again: labctl connectors snapshot "
        f"{connector} --start-over"
    )


def _note(lab: Lab, connector: str) -> Path:
    return lab.state.notes(lab.profile) / f"{connector}.restored"
