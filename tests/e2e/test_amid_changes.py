"""A column is added while a service is away that keeps its schema: it arrives nevertheless."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from labctl.kafkaconnect.connect_client import ConnectClient
from labctl.kafkaconnect.opening import connect_client
from labctl.lab.connectors.connector_states import is_running, restart_failed_tasks
from labctl.lab.lab import Lab
from labctl.runtimes.native.native_runtime import NativeRuntime
from labctl.sources import connect
from labctl.testing.eventually import Eventually
from labctl.testing.lab_faults import Faults
from labctl.testing.plugin import SilverReader
from tests.e2e.fault_trial import RECOVERY_SECONDS, Verify
from tests.e2e.test_schema_change import add_column
from tests.e2e.wide_tables import WIDE, insert_row

pytestmark = pytest.mark.long


@pytest.mark.parametrize("away", ["registry", "postgres"])
def test_a_schema_that_nobody_keeps_while_a_service_is_away_is_kept_afterwards(
    away: str,
    lab: Lab,
    faults: Faults,
    eventually: Eventually,
    verify_equal: Verify,
    silver: SilverReader,
    new_key: Callable[[], int],
) -> None:
    """The registry keeps schemas in PostgreSQL. Connect gives up a task whose request fails."""
    table, key = WIDE["mysql"], new_key()
    client = connect_client(lab.endpoints.connect)
    connector = lab.config.sources["mysql"].connector
    with faults.away(away), connect(lab.endpoints, "mysql") as database:
        add_column(database, table, f"without_{key}", "integer")
        insert_row(database, table, key, "typical")
        eventually(lambda: not is_running(client.status(connector)), seconds=RECOVERY_SECONDS)
        print(client.status(connector)["tasks"][0].get("trace"))
    # A task that is started again may fail again: the registry is still finding PostgreSQL.
    eventually(
        lambda: _runs(lab, client, connector) and silver(table.silver, f"id = {key}"),
        seconds=RECOVERY_SECONDS,
    )
    verify_equal(table.silver)


def _runs(lab: Lab, client: ConnectClient, connector: str) -> bool:
    if not isinstance(lab.runtime, NativeRuntime):
        restart_failed_tasks(client)  # as `labctl up` does: in containers nobody else does it
    return is_running(client.status(connector))
