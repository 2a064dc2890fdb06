"""What the kernel enforces for a worker, in a process of its own."""

from __future__ import annotations

import subprocess
import sys

_PROGRAM = """
import mmap, os, sys
from sqlapi.workers.limits import MIB, limit_memory, prepare_process, private_bytes

prepare_process()
assert open("/proc/self/oom_score_adj").read().strip() == "1000"
before = private_bytes()
kept = bytearray(32 * MIB)
assert private_bytes() >= before + 31 * MIB
limit_memory(64 * MIB)
for take in (lambda: bytearray(65 * MIB), lambda: mmap.mmap(-1, 65 * MIB, mmap.MAP_PRIVATE)):
    try:
        take()
    except (MemoryError, OSError):
        continue
    sys.exit("the kernel gave it")
with open(sys.executable, "rb") as file:
    mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)  # of a file: not counted
bytearray(32 * MIB)
limit_memory(128 * MIB)
bytearray(96 * MIB)
"""


def test_a_process_takes_no_more_memory_than_it_was_given() -> None:
    done = subprocess.run(
        [sys.executable, "-c", _PROGRAM], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
