"""How much memory the kernel lets a service have, so that none takes the machine's."""

from __future__ import annotations

import os
from dataclasses import replace

from labctl.config.model import ServiceSettings, mebibytes
from labctl.services.model import Context, Process, Service

__all__ = ["data_limit_mib", "limited_process"]

_SPARE_MIB, _SPARE_MIB_PER_CORE = 448, 32
"""Address space that is taken but not used: above all the stacks of threads, up to 8 MiB each, of
which many programs have some for each core."""


def limited_process(service: Service, context: Context) -> Process:
    """Return the process of a service, with the most memory that it may have."""
    process = service.native.process(context)
    return replace(process, data_mib=data_limit_mib(service, context.settings))


def data_limit_mib(service: Service, settings: ServiceSettings) -> int:
    """Return how much private memory, in MiB, each process of a service may have.

    It is what RLIMIT_DATA counts (setrlimit(2)): the heap, the stacks of threads, and whatever else
    is writable and not shared.
    """
    if settings.memory is not None:
        return mebibytes(settings.memory)
    added = 0
    if service.heap is not None and settings.heap is not None:
        added = max(0, mebibytes(settings.heap) - mebibytes(service.heap))
    spare = _SPARE_MIB + _SPARE_MIB_PER_CORE * (os.cpu_count() or 1)
    return 2 * (service.native.memory_mib + added) + spare
