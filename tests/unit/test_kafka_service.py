"""What the broker is started with."""

from __future__ import annotations

import re

from labctl.services.kafka_service import cluster_id


def test_a_cluster_id_is_never_taken_for_an_option() -> None:
    ids = {cluster_id(f"lab-{number}") for number in range(1000)}
    assert len(ids) == 1000
    assert all(re.fullmatch(r"\w[\w-]{21}", one) for one in ids)
