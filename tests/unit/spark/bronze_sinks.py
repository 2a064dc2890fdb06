"""Sinks, and a folder of this machine instead of the object store."""

from __future__ import annotations

import shutil
from pathlib import Path

from lakecontract.bronze_partitioner import partitioner_of, partitioner_problems
from lakecontract.sink_config import SinkConfig
from lakehouse.storage import FileInfo

__all__ = ["PARTITIONER", "LocalStorage", "sink_config"]

PARTITIONER = "io.confluent.connect.storage.partitioner."


def sink_config(
    partitioner: str = "DailyPartitioner",
    *,
    flush_size: int = 1_000_000,
    rotate_interval_ms: int | None = None,
    rotate_on_folder_change: bool | None = None,
    max_open_files: int | None = None,
    position_fields: tuple[str, str, str] = (
        "__kafka_partition",
        "__kafka_offset",
        "__kafka_timestamp",
    ),
    **values: str,
) -> SinkConfig:
    """A sink with one of the connector's partitioners; `values` are its keys, with `_` for `.`."""
    keys = {
        "partitioner.class": f"{PARTITIONER}{partitioner}",
        "timezone": "UTC",
        "locale": "en-US",
        "timestamp.extractor": "Record",
        **{key.replace("_", "."): value for key, value in values.items()},
    }
    assert partitioner_problems(keys) == []
    found = partitioner_of(keys)
    changes = not found.is_by_value if rotate_on_folder_change is None else rotate_on_folder_change
    return SinkConfig(
        name="sink",
        topics_regex=r".+",
        topics_dir="topics",
        bucket="lake",
        partitioner=found,
        flush_size=flush_size,
        rotate_interval_ms=rotate_interval_ms,
        rotate_schedule_interval_ms=500,
        rotate_on_folder_change=changes,
        max_open_files=max_open_files,
        codec="null",
        tolerate_errors=False,
        position_fields=position_fields,
    )


class LocalStorage:
    """What `LakeFiles` does, with local paths."""

    def exists(self, path: str) -> bool:
        return Path(path).exists()

    def entries(self, folder: str) -> list[FileInfo]:
        return [_info(path) for path in sorted(Path(folder).glob("*"))]

    def folders(self, folder: str, _files: str) -> list[str]:
        return [info.path for info in self.entries(folder) if info.is_folder]

    def files_below(self, folder: str, *, with_times: bool = False) -> list[FileInfo]:
        found = (path for path in sorted(Path(folder).rglob("*")) if path.is_file())
        return [_info(path, with_times=with_times) for path in found]

    def list_after(self, folder: str, prefix: str, after: str) -> list[FileInfo]:
        names = (info for info in self.entries(folder) if info.name.startswith(prefix))
        return [info for info in names if not info.is_folder and info.name > after]

    def read(self, path: str, limit: int | None = None) -> bytes:
        return Path(path).read_bytes()[:limit]

    def write(self, path: str, content: bytes) -> None:
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        Path(path).write_bytes(content)

    def move(self, path: str, target: str) -> None:
        Path(target).parent.mkdir(parents=True, exist_ok=True)
        shutil.move(path, target)

    def delete(self, path: str) -> None:
        Path(path).unlink(missing_ok=True)

    def delete_empty(self, folder: str) -> bool:
        if self.entries(folder):
            return False
        Path(folder).rmdir()
        return True


def _info(path: Path, *, with_times: bool = False) -> FileInfo:
    facts = path.stat()
    modified = int(facts.st_mtime * 1000) if with_times else None
    return FileInfo(str(path), facts.st_size, path.is_dir(), modified)
