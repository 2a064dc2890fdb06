"""Generator of keys.json from the plugins: `python -m labctl.kafkaconnect.keys.relist`.

Maintainers run it after a plugin's version has changed. It needs the artefacts (`labctl tools
artifacts fetch`) and a JDK on the PATH.
"""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

from labctl.artifacts.artifact_store import ArtifactStore
from labctl.artifacts.lock import load_lock

__all__ = ["main"]

HERE = Path(__file__).parent
_PLUGINS = ("debezium-", "apicurio-converter")


def main() -> None:
    """List the plugins' keys, and write the table."""
    lock, store = load_lock(), ArtifactStore()
    # Kafka comes first: the others are loaded beside it, each in isolation, as in Connect.
    parts = ["kafka", *(name for name in lock.artifacts if name.startswith(_PLUGINS))]
    done = subprocess.run(
        ["java", str(HERE / "ListKeys.java"), *(str(store.path(part)) for part in parts)],
        stdout=subprocess.PIPE,
        check=True,
    )
    versions = {part: lock.artifacts[part].version for part in parts}
    table = {"versions": versions, **json.loads(done.stdout)}
    (HERE / "keys.json").write_text(json.dumps(table, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
