"""Deaths are told even where the file of them was torn by a crash of the machine."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, cast

import pytest

from labctl.lab.state import LabState
from labctl.runtimes.native.runtime import NativeRuntime

WHOLE = {"service": "kafka", "at": 5.0, "gave_up": False}


@pytest.mark.parametrize(
    "torn", [b'{"service": "kaf', b"\0\0\0\xff", b"7", b'{"service": "kafka"}']
)
def test_a_torn_line_hides_no_other(
    torn: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    state = LabState("unit")
    state.create()
    whole = json.dumps(WHOLE).encode()
    state.deaths.write_bytes(b"\n".join((whole, torn, whole, b"")))
    unused = cast(Any, None)
    assert NativeRuntime(unused, state, unused, {}, {}).deaths() == {"kafka": [5.0, 5.0]}
