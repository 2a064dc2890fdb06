"""A table's timeline, read from the names of its files."""

from __future__ import annotations

import json
from pathlib import Path

import fastavro
import pytest

from sqlapi.hudi.timeline import Instant, Timeline
from sqlapi.table_folder import TableFolder
from sqlapi.table_format import State

CLEAN = fastavro.parse_schema(
    {
        "type": "record",
        "name": "HoodieCleanMetadata",
        "fields": [
            {"name": "totalFilesDeleted", "type": "int"},
            {"name": "earliestCommitToRetain", "type": "string"},
        ],
    }
)


def _table(root: Path, version: int, files: dict[str, bytes]) -> Timeline:
    hoodie = root / "silver/sale/.hoodie"
    folder = hoodie / "timeline" if version >= 8 else hoodie
    folder.mkdir(parents=True)
    (hoodie / "hoodie.properties").write_text(
        f"#saved\nhoodie.table.version={version}\nhoodie.table.type=MERGE_ON_READ\n"
    )
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    return Timeline.load(TableFolder.local(root / "silver/sale"))


def _clean(path: Path, deleted: int, retain: str) -> bytes:
    with path.open("wb") as file:
        fastavro.writer(
            file, CLEAN, [{"totalFilesDeleted": deleted, "earliestCommitToRetain": retain}]
        )
    return path.read_bytes()


def test_what_is_told_of_takes_the_place_of_what_was_under_way(tmp_path: Path) -> None:
    begun = "20230101000000002.deltacommit.inflight"
    first = "20230101000000001_20230101000000500.deltacommit"
    timeline = _table(tmp_path, 9, {first: b"", begun: b""})
    done = Instant.named("20230101000000002_20230101000000900.deltacommit")
    assert done
    extended = timeline.extended([done])
    assert [write.file_name for write in extended.writes] == [first, done.file_name]
    assert extended.completion_mark() == "20230101000000900"
    assert not extended.unfinished()


@pytest.mark.parametrize(
    "name", ["20230101000000001", ".20230101000000001.deltacommit.crc", "history", "manifest_1"]
)
def test_other_files_of_a_timeline_name_no_action(name: str) -> None:
    assert Instant.named(name) is None


def test_actions_are_listed_once_in_their_furthest_state(tmp_path: Path) -> None:
    timeline = _table(
        tmp_path,
        9,
        {
            "20230101000000001.deltacommit.requested": b"",
            "20230101000000001.deltacommit.inflight": b"",
            "20230101000000001_20230101000000500.deltacommit": b"",
            "20230101000001000.compaction.requested": b"",
            "20230101000001000.compaction.inflight": b"",
            "20230101000001000_20230101000003000.commit": b"",
            "20230101000002000.deltacommit.requested": b"",
            "20230101000002000.deltacommit.inflight": b"",
            ".20230101000002000.deltacommit.inflight.crc": b"",
            "history/manifest_1": b"",
        },
    )
    assert [(i.requested, i.action, i.state, i.completed) for i in timeline.instants] == [
        ("20230101000000001", "deltacommit", State.COMPLETED, "20230101000000500"),
        ("20230101000001000", "commit", State.COMPLETED, "20230101000003000"),
        ("20230101000002000", "deltacommit", State.INFLIGHT, None),
    ]
    assert timeline.latest == "20230101000001000"
    assert timeline.completion_mark() == "20230101000003000"


def test_table_version_6_keeps_its_timeline_elsewhere(tmp_path: Path) -> None:
    timeline = _table(
        tmp_path,
        6,
        {
            "20230101000000001.commit": b"",
            "20230101000000001.inflight": b"",
            "20230101000000001.commit.requested": b"",
            "20230101000001000.inflight": b"",
        },
    )
    assert [(i.requested, i.action, i.state) for i in timeline.instants] == [
        ("20230101000000001", "commit", State.COMPLETED),
        ("20230101000001000", "commit", State.INFLIGHT),
    ]
    assert timeline.completion_mark() == "20230101000000001"


def test_the_past_is_readable_from_what_the_last_clean_kept(tmp_path: Path) -> None:
    timeline = _table(
        tmp_path,
        9,
        {
            "20230101000000001_20230101000000002.deltacommit": b"",
            "20230101000004000_20230101000004001.clean": _clean(
                tmp_path / "a", 2, "20230101000003000"
            ),
            "20230101000005000_20230101000005001.clean": _clean(tmp_path / "b", 0, ""),
        },
    )
    assert timeline.earliest_readable() == "20230101000003000"


def test_the_past_before_the_archive_is_not_readable(tmp_path: Path) -> None:
    timeline = _table(
        tmp_path,
        9,
        {"20230101000000005_20230101000000006.deltacommit": b"", "history/manifest_1": b"1"},
    )
    assert timeline.earliest_readable() == "20230101000000005"


def test_all_of_the_past_is_readable_otherwise(tmp_path: Path) -> None:
    timeline = _table(tmp_path, 9, {"20230101000000005_20230101000000006.deltacommit": b""})
    assert timeline.earliest_readable() is None


@pytest.mark.parametrize(
    ("moment", "fields"),
    [("20230101000000000", None), ("20230101000000001", ["a"]), ("20230101000009000", ["a", "b"])],
)
def test_knows_the_schema_of_a_moment(
    tmp_path: Path, moment: str, fields: list[str] | None
) -> None:
    def commit(*names: str) -> bytes:
        schema = {"fields": [{"name": name, "type": "int"} for name in names]}
        return json.dumps({"extraMetadata": {"schema": json.dumps(schema)}}).encode()

    timeline = _table(
        tmp_path,
        6,
        {
            "20230101000000001.deltacommit": commit("a"),
            "20230101000002000.deltacommit": commit("a", "b"),
            "20230101000003000.deltacommit": b"{}",
        },
    )
    schema = timeline.schema_at(moment)
    found = [field["name"] for field in schema["fields"]] if schema else None  # type: ignore[attr-defined]
    assert found == fields


def test_no_table_is_a_file_not_found(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        Timeline.load(TableFolder.local(tmp_path))
