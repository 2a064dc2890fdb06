"""Everything that `labctl status` says: services, pipeline, differing files, and what is wrong."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from enum import StrEnum
from types import MappingProxyType
from typing import Any

from labctl.config.lab_config import lab_file
from labctl.lab.lab import Lab
from labctl.lab.observe.pipeline_state import PipelineStatus, read_pipeline
from labctl.lab.observe.service_status import LabStatus, read_status
from labctl.watching.differences import drift
from labctl.watching.places import find_places

__all__ = ["DOWN", "Tone", "status_data", "status_of", "tone_of"]


class Tone(StrEnum):
    """The meaning of a state to somebody who waits for changes."""

    GOOD = "good"
    BUSY = "busy"
    BAD = "bad"
    OFF = "off"


DOWN = "down"
"""State of a service whose process has just ended."""
_TONES: Mapping[str, Tone] = MappingProxyType(
    {
        "ready": Tone.GOOD,
        "running": Tone.GOOD,
        "RUNNING": Tone.GOOD,
        "waiting": Tone.BUSY,
        "starting": Tone.BUSY,
        "restarting": Tone.BUSY,
        "rebuilding": Tone.BUSY,
        "retrying": Tone.BAD,
        DOWN: Tone.BAD,
        "not answering": Tone.BAD,
        "disk full": Tone.BAD,
        "failed": Tone.BAD,
        "FAILED": Tone.BAD,
        "PAUSED": Tone.BAD,
        "not applied": Tone.BAD,
        "stopped": Tone.OFF,
    }
)
"""Tone of each state of a service, connector or table."""


def tone_of(state: str) -> Tone | None:
    """Return the tone of a state; None for one that has none."""
    return _TONES.get(state)


def status_of(lab: Lab) -> dict[str, Any]:
    """Return `status_data` of a lab, running or not."""
    with ThreadPoolExecutor(max_workers=3) as pool:
        services = pool.submit(read_status, lab)
        # What it asks answers at once, or is known not to run.
        pipeline = pool.submit(read_pipeline, lab) if lab.running else None
        places = find_places(lab.project, lab.config, lab_file(lab.project, lab.name))
        differs = pool.submit(drift, lab, places) if lab.running else None
    return status_data(
        services.result(),
        pipeline.result() if pipeline else PipelineStatus([], [], None),
        differs.result() if differs else (),
    )


def status_data(
    status: LabStatus, pipeline: PipelineStatus, differs: Sequence[str] = ()
) -> dict[str, Any]:
    """Return the data of `--output json`: all three, and `problems`; `ready` if there are none.

    `differs` has a sentence per file that the lab does not run by.
    """
    problems = ["the lab is not running"]
    if status.running:
        problems = [*status.problems(), *pipeline.problems()]
    both = {**vars(status), **vars(pipeline), "differs": list(differs)}
    return {**both, "ready": not problems, "problems": problems}
