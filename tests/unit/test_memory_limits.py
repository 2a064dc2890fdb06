"""The most memory that the kernel lets a service have."""

from __future__ import annotations

import pytest

from labctl.config.services import ServiceSettings
from labctl.runtimes.native.native_limits import data_limit_mib
from labctl.services.connect_service import SERVICE as CONNECT
from labctl.services.lab_services import SERVICES
from labctl.services.service import Service


@pytest.mark.parametrize("service", SERVICES, ids=lambda service: service.name)
def test_each_has_more_than_it_takes_and_not_the_machine_s(service: Service) -> None:
    assert service.native_form.memory_mib < data_limit_mib(service, ServiceSettings()) < 10 * 1024


def test_a_larger_heap_raises_it_and_lab_toml_has_the_last_word() -> None:
    own = data_limit_mib(CONNECT, ServiceSettings())
    assert data_limit_mib(CONNECT, ServiceSettings(heap="2g")) > own + 1024
    assert data_limit_mib(CONNECT, ServiceSettings(heap="16m")) == own
    assert data_limit_mib(CONNECT, ServiceSettings(heap="2g", memory="3g")) == 3 * 1024
