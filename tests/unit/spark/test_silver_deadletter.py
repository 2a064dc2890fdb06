"""Letters are kept until they are replayed, and read back as they were."""

from __future__ import annotations

import pytest

from lakehouse.deadletter import DeadLetters
from lakehouse.decode import Undecodable
from lakehouse.replay import overtaken
from lakehouse.storage import FileInfo

TOPIC = "tickit.ecomm.sale"


class MemoryStorage:
    """What `DeadLetters` asks of `LakeFiles`, in memory."""

    def __init__(self) -> None:
        self.objects: dict[str, bytes] = {}

    def write(self, path: str, content: bytes) -> None:
        self.objects[path] = content

    def read(self, path: str) -> bytes:
        return self.objects[path]

    def delete(self, path: str) -> None:
        del self.objects[path]

    def entries(self, folder: str) -> list[FileInfo]:
        names = {
            path.removeprefix(f"{folder}/").split("/")[0]
            for path in self.objects
            if path.startswith(f"{folder}/")
        }
        return [
            FileInfo(f"{folder}/{name}", 0, is_folder=f"{folder}/{name}" not in self.objects)
            for name in sorted(names)
        ]


def letter(offset: int, *, key: bytes | None = b"7", value: bytes | None = b"\xff") -> Undecodable:
    headers = (("apicurio.value.globalId", b"\x00" * 8), ("empty", None))
    return Undecodable(TOPIC, 0, offset, 1_700_000_000_123, f"reason {offset}", key, value, headers)


@pytest.fixture
def letters() -> DeadLetters:
    return DeadLetters(MemoryStorage(), "s3a://lake/deadletter/")  # type: ignore[arg-type]


def test_a_letter_is_read_back_as_it_was(letters: DeadLetters) -> None:
    written = [letter(11, value=None), letter(2), letter(3, key=None)]
    letters.write(written)
    letters.write(written[:1])

    assert letters.waiting(TOPIC) == sorted(written, key=lambda one: one.offset)
    assert letters.count(TOPIC) == 3


def test_count_and_newest_are_known_after_a_restart(letters: DeadLetters) -> None:
    letters.write([letter(2), letter(11)])
    again = DeadLetters(letters._storage, "s3a://lake/deadletter")
    assert (again.count(TOPIC), again.newest(TOPIC)) == (0, None)

    again.look(TOPIC)

    assert again.count(TOPIC) == 2
    assert again.newest(TOPIC) == f"{TOPIC} partition 0 offset 11: reason 11"


def test_replayed_letters_wait_no_more_until_the_table_is_rebuilt(letters: DeadLetters) -> None:
    letters.write([letter(2), letter(11)])

    letters.replayed([letter(2)])
    assert [one.offset for one in letters.waiting(TOPIC)] == [11]
    assert letters.count(TOPIC) == 1

    letters.reopen(TOPIC)
    assert [one.offset for one in letters.waiting(TOPIC)] == [2, 11]


def test_letters_of_an_old_topic_are_out_of_the_way(letters: DeadLetters) -> None:
    letters.write([letter(2)])

    letters.give_up(TOPIC)
    letters.reopen(TOPIC)

    assert letters.waiting(TOPIC) == []
    assert (letters.count(TOPIC), letters.newest(TOPIC)) == (0, None)


def test_a_letter_is_overtaken_by_a_later_record_of_its_key_and_partition() -> None:
    mine, other, without = letter(5), letter(6, key=b"8"), letter(7, key=None)

    later = [(0, 4, b"7"), (1, 9, b"7"), (0, 9, b"8")]

    assert overtaken([mine, other, without], later) == [other]
    assert overtaken([mine], [(0, 6, b"7")]) == [mine]
