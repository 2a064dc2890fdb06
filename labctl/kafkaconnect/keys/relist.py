"""Makes keys.json from the plugins: `python -m labctl.kafkaconnect.keys.relist`.

For maintainers, after a plugin's version changed. Needs the parts (`labctl artifacts fetch`) and a
JDK on the PATH.
"""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

from labctl.artifacts.lock import load_lock
from labctl.artifacts.store import ArtifactStore
from labctl.services.connect import CONVERTER, PLUGINS

__all__ = ["PARTS", "main"]

HERE = Path(__file__).parent
PARTS = ("kafka", *PLUGINS, CONVERTER)
"""Kafka first: the others are loaded beside it, each by itself, as Connect does."""


def main() -> None:
    """Ask the plugins, and write the table."""
    lock, store = load_lock(), ArtifactStore()
    done = subprocess.run(
        ["java", str(HERE / "ListKeys.java"), *(str(store.path(part)) for part in PARTS)],
        stdout=subprocess.PIPE,
        check=True,
    )
    versions = {part: lock.artifacts[part].version for part in PARTS}
    table = {"versions": versions, **json.loads(done.stdout)}
    (HERE / "keys.json").write_text(json.dumps(table, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
