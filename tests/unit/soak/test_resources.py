"""What a soak run says of growth: the begin against the end, with a bound between them."""

from __future__ import annotations

from types import SimpleNamespace
from typing import cast

import pytest

from labctl.lab.lab import Lab
from labctl.lake import Lake
from labctl.runtimes.runtime_protocols import ProcessState, Usage
from labctl.soak.resources import ResourceSampler

MIB = 1024**2


class Samples(ResourceSampler):
    """Samples without waiting between them, of a service that takes what the list says."""

    def __init__(self, memory: list[int]) -> None:
        told = iter(memory)
        runtime = SimpleNamespace(
            states=lambda: {"kafka": ProcessState("RUNNING", None, 0.0)},
            inspector=SimpleNamespace(usages=lambda: {"kafka": Usage(next(told), {})}),
        )
        super().__init__(cast("Lab", SimpleNamespace(runtime=runtime)), cast("Lake", None), [])
        for _ in memory:
            self._sample()


@pytest.mark.parametrize(
    ("memory", "within"),
    [
        ([300, 400, 380, 390, 400, 410], True),  # It has warmed up.
        ([400, 400, 500, 600, 756, 756], True),  # At the bound: 400 and a quarter, and 256.
        ([400, 400, 500, 600, 757, 757], False),
        ([400, 400, 600, 800, 700, 700], True),  # A peak in the middle is no leak.
    ],
)
def test_growth_is_the_end_against_the_highest_of_the_begin(
    memory: list[int], within: bool
) -> None:
    (growth,) = Samples([value * MIB for value in memory]).growth()
    assert (growth.what, growth.of) == ("memory", "kafka")
    assert growth.begin == 400 * MIB
    assert growth.bound == 756 * MIB
    assert growth.within is within
