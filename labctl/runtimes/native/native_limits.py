"""Limits of services: memory, so that none uses up the machine's, and the time to stop."""

from __future__ import annotations

import os
from dataclasses import replace

from labctl.config.services import ServiceSettings, mebibytes
from labctl.services.service import Context, Process, Service

__all__ = ["data_limit_mib", "limited_process"]

_SPARE_MIB, _SPARE_MIB_PER_CORE = 448, 32
"""Address space that is reserved but not used, mainly thread stacks of up to 8 MiB each. Many
programs have several threads per core."""


def limited_process(service: Service, context: Context) -> Process:
    """Return the process of a service, with its memory limit and how it is stopped."""
    return replace(
        service.native_form.process(context),
        stop=service.stop,
        data_mib=data_limit_mib(service, context.settings),
    )


def data_limit_mib(service: Service, settings: ServiceSettings) -> int:
    """Return how much private memory, in MiB, each process of a service may have.

    RLIMIT_DATA counts this memory (setrlimit(2)): the heap, thread stacks and all other memory
    that is writable and not shared.
    """
    if settings.memory is not None:
        return mebibytes(settings.memory)
    added = 0
    if service.heap is not None and settings.heap is not None:
        added = max(0, mebibytes(settings.heap) - mebibytes(service.heap))
    spare = _SPARE_MIB + _SPARE_MIB_PER_CORE * (os.cpu_count() or 1)
    return 2 * (service.native_form.memory_mib + added) + spare
