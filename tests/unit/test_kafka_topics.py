"""Which topics a stream reads."""

from __future__ import annotations

import pytest

from labctl.kafka.offsets import NO_LOG
from lakehouse.kafka import Topics


def test_a_name_is_no_pattern() -> None:
    topics = Topics("tickit.ecomm.sale", is_pattern=False)
    assert topics.include("tickit.ecomm.sale")
    assert not topics.include("tickitxecommxsale")
    assert topics.source_option() == ("subscribe", "tickit.ecomm.sale")


def test_a_pattern_is_for_whole_names() -> None:
    topics = Topics(r"tickit\.ecomm\..*", is_pattern=True)
    assert topics.include("tickit.ecomm.sale")
    assert not topics.include("old.tickit.ecomm.sale")
    assert topics.source_option() == ("subscribePattern", r"^(?:tickit\.ecomm\..*)$")


def test_what_librdkafka_logs_by_itself_is_dropped(caplog: pytest.LogCaptureFixture) -> None:
    NO_LOG.error("FAIL [rdkafka#consumer-1]: Connection refused")
    assert not caplog.records
