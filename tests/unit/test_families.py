"""Which processes belong to a service."""

from __future__ import annotations

import os
import subprocess
import sys

import psutil

from labctl.runtimes.native.families import families_below, family_of, still_there, with_descendants
from labctl.state.sockets import is_free
from tests.waiting import wait_for

PARENT = """
import subprocess, sys
child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=sys.stdin)
print(child.pid, flush=True)
child.wait()
"""

WITHOUT_FIRST_THREAD = """
import ctypes, socket, sys, threading
server = socket.create_server(("127.0.0.1", 0))
print(server.getsockname()[1], flush=True)
threading.Thread(target=sys.stdin.read).start()
ctypes.CDLL(None).pthread_exit(None)
"""


def test_a_family_is_a_process_and_all_that_it_started() -> None:
    command = [sys.executable, "-c", PARENT]
    pipe = subprocess.PIPE
    with (
        subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True) as one,
        subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True) as other,
    ):
        assert one.stdout is not None
        assert other.stdout is not None
        children = {one.pid: int(one.stdout.readline()), other.pid: int(other.stdout.readline())}
        found = families_below(os.getpid(), children)
        own = family_of(os.getpid())
    assert {pid: [p.pid for p in family] for pid, family in found.items()} == {
        pid: [pid, child] for pid, child in children.items()
    }
    assert {p.pid for p in own} >= {os.getpid(), *children, *children.values()}


def test_descendants_are_found_with_those_that_they_have() -> None:
    script = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {PARENT!r}])"
    pipe = subprocess.PIPE
    with subprocess.Popen([sys.executable, "-c", script], stdin=pipe, stdout=pipe, text=True) as it:
        assert it.stdout is not None
        youngest = int(it.stdout.readline())
        found = with_descendants([psutil.Process(it.pid)])
        middle = psutil.Process(youngest).ppid()
    assert [process.pid for process in found] == [it.pid, middle, youngest]


def test_a_process_that_is_gone_has_no_family() -> None:
    with subprocess.Popen([sys.executable, "-c", ""]) as gone:
        pass
    assert family_of(gone.pid) == []
    assert families_below(os.getpid(), [gone.pid]) == {gone.pid: []}


def test_a_process_that_nobody_asked_for_is_over() -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as child:
        process = psutil.Process(child.pid)
        assert still_there([process], seconds=0) == [process]
        child.kill()
        assert still_there([process], seconds=60) == []
        # Not asked for: it is there as long as this process has not.
        assert process.status() == psutil.STATUS_ZOMBIE


def test_a_process_whose_first_thread_alone_has_ended_is_not_over() -> None:
    command = [sys.executable, "-c", WITHOUT_FIRST_THREAD]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True) as child:
        assert child.stdout is not None
        port = int(child.stdout.readline())
        process = psutil.Process(child.pid)
        wait_for(lambda: process.status() == psutil.STATUS_ZOMBIE)
        assert still_there([process], seconds=0) == [process]
        assert not is_free(port)
        child.kill()
        assert still_there([process], seconds=60) == []
        assert is_free(port)
