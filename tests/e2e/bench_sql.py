# ruff: noqa: S311 - chance, not secrets
"""Figures of the SQL API, on a lab that runs and has rows: `python -m tests.e2e.bench_sql [LAB]`.

Run it in the lab's project. Restarts the service. Prints one JSON object, kept as
docs/benchmarks/sql.json.
"""

from __future__ import annotations

import os
import random
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from pathlib import Path
from typing import Any

from labctl.json_text import to_json
from labctl.lab.catalog.athena_client import athena_of
from labctl.lab.lab import Lab
from labctl.lab.observe.service_status import read_status
from labctl.lake import Lake
from labctl.latency.environment import describe
from labctl.latency.statistics import percentiles_of
from labctl.services.sqlapi_service import SERVICE, SqlApi, api_client
from labctl.sources import connect
from labctl.tables import LabTable
from lakecontract.deletes import DELETED

_STARTS = 5
_POINTS = 200
_VIEWS = 20
_VIEW = "tickit_gold.sales_by_day_and_category"
_CHANGES = 20
_CHANGED = 300
"""A sale."""
_CHANGE_SECONDS = 60.0
_CLIENTS = 25
_QUERIES = 1_000
"""Of all clients together."""
_PAGE = 25
_KEYS = 1_000
"""Rows of a table that are asked for by key."""
_POLL_SECONDS = 0.01
_LONGEST_POLL = 0.25
_ENDED = ("SUCCEEDED", "FAILED", "CANCELLED")


def main() -> None:
    """Measure everything and print the figures."""
    load = os.getloadavg()
    lab = Lab.find(name=sys.argv[1] if len(sys.argv) > 1 else None).require_running()
    services = {service.name: service.detail or "" for service in read_status(lab).services}
    starts = [_start(lab) for _ in range(_STARTS)]
    memory = {"at start": _mib(lab)}
    tables = [_Asked(lab, table) for table in lab.tables]
    figures = {
        "environment": asdict(describe(Path(__file__).parents[2], services, load)),
        "seconds until the service answers": _percentiles(starts),
        "seconds of a point query": _points(lab, _largest(lab, tables)),
        "seconds of a view": _view(lab),
        "seconds from a change in MySQL until it is seen": _changes(lab),
        f"{_CLIENTS} clients": _together(lab, tables),
        "MiB": memory | {f"after {_POINTS + _QUERIES:,} queries": _mib(lab)},
    }
    print(to_json(figures))


class _Asked:
    """A table, and the keys that its rows have."""

    def __init__(self, lab: Lab, table: LabTable) -> None:
        self.name = table.name
        self._columns = table.properties.key_fields
        keys = ", ".join(f'"{column}"' for column in self._columns)
        answer = athena_of(lab).run(
            f"SELECT {keys} FROM {self.name} LIMIT {_KEYS}", database="default"
        )
        self.keys = [
            tuple(map(_literal, row, answer.types)) for row in answer.rows if None not in row
        ]

    def point(self) -> str:
        """One row by its key."""
        values = zip(self._columns, random.choice(self.keys), strict=True)
        wanted = " AND ".join(f'"{column}" = {value}' for column, value in values)
        return f"SELECT * FROM {self.name} WHERE {wanted}"

    def page(self) -> str:
        """Some rows, by key."""
        keys = ", ".join(f'"{column}"' for column in self._columns)
        return f"SELECT * FROM {self.name} ORDER BY {keys} LIMIT {_PAGE}"


def _start(lab: Lab) -> float:
    context = lab.context(SERVICE)
    lab.runtime.stop(SERVICE.name)
    begun = time.monotonic()
    lab.runtime.start(SERVICE, context)
    while True:
        try:
            SERVICE.probe(context)
        except Exception:
            time.sleep(_POLL_SECONDS)
            continue
        return time.monotonic() - begun


def _largest(lab: Lab, tables: Sequence[_Asked]) -> _Asked:
    lake = Lake(lab.endpoints.objectstore)
    return max(tables, key=lambda one: lake.read(one.name, [DELETED]).num_rows)


def _points(lab: Lab, table: _Asked) -> dict[str, Any]:
    client = _client(lab)
    _ask(client, table.point())
    taken = [_ask(client, table.point()) for _ in range(_POINTS)]
    return {"table": table.name, **_percentiles(taken)}


def _view(lab: Lab) -> dict[str, Any]:
    """Sums by day and category of all sales: three joins. Applied from `gold/`, where there is one.

    The first query reads the tables; the others find them read.
    """
    if not any(path.stem == _VIEW.partition(".")[2] for path in lab.project.glob("gold/*/*.sql")):
        return {}
    client = _client(lab)
    sql = f"SELECT count(*) AS days, sum(saleamount) AS amount FROM {_VIEW}"
    first = _ask(client, sql)
    return {"first": round(first, 4), **_percentiles([_ask(client, sql) for _ in range(_VIEWS)])}


def _changes(lab: Lab) -> dict[str, Any]:
    """One row of TICKIT's `sale` is changed, and asked for by key until it is the new one.

    In turn by `lake.query` in this process, as `labctl query` does it, and by Athena's API.
    """
    if "tickit.sale" not in {table.name for table in lab.tables}:
        return {}
    client, lake = _client(lab), Lake(lab.endpoints.objectstore)
    seen: dict[str, list[float]] = {"by lake.query": [], "by Athena's API": []}
    with connect(lab.endpoints, "mysql") as database:
        for number, way in enumerate(list(seen) * _CHANGES):
            sql = f"SELECT qtysold FROM tickit.sale WHERE salesid = {_CHANGED}"
            wanted = 100 + number
            database.execute(f"UPDATE sale SET qtysold = {wanted} WHERE salesid = {_CHANGED}")
            begun = time.monotonic()
            while time.monotonic() - begun < _CHANGE_SECONDS:
                if way == "by lake.query":
                    found = str(lake.query(sql).column(0)[0].as_py())
                else:
                    found = _asked(client, sql)[1]["Data"][0]["VarCharValue"]
                if found == str(wanted):
                    break
            else:
                raise SystemExit(f"the change to {wanted} has not arrived")
            seen[way].append(time.monotonic() - begun)
    return {way: _percentiles(seconds) for way, seconds in seen.items()}


def _together(lab: Lab, tables: Sequence[_Asked]) -> dict[str, Any]:
    """One row and a page of every table, mixed."""
    tables = [table for table in tables if table.keys]

    def ask(number: int) -> list[float]:
        client = _client(lab)
        asked = [
            random.choice([table.point, table.page])()
            for table in random.choices(tables, k=_QUERIES // _CLIENTS)
        ]
        return [_ask(client, sql) for sql in asked]

    begun = time.monotonic()
    with ThreadPoolExecutor(_CLIENTS) as pool:
        taken = [one for some in pool.map(ask, range(_CLIENTS)) for one in some]
    seconds = time.monotonic() - begun
    rate = {"queries a second": round(len(taken) / seconds, 1)}
    return rate | {"seconds of a query": _percentiles(taken)}


def _ask(client: Any, sql: str) -> float:
    """Seconds from the start of a query to its rows. Raises SystemExit where there are none."""
    begun = time.monotonic()
    if len(_asked(client, sql)) < 2:
        raise SystemExit(f"{sql}: no row")
    return time.monotonic() - begun


def _asked(client: Any, sql: str) -> list[Any]:
    """The rows, the names of the columns first. Raises SystemExit where the query fails."""
    id_ = client.start_query_execution(QueryString=sql)["QueryExecutionId"]
    wait = _POLL_SECONDS
    while True:
        execution = client.get_query_execution(QueryExecutionId=id_)["QueryExecution"]
        if execution["Status"]["State"] in _ENDED:
            break
        time.sleep(wait)
        wait = min(wait * 1.5, _LONGEST_POLL)
    if execution["Status"]["State"] != "SUCCEEDED":
        raise SystemExit(f"{sql}: {execution['Status']}")
    rows: list[Any] = client.get_query_results(QueryExecutionId=id_)["ResultSet"]["Rows"]
    return rows


def _client(lab: Lab) -> Any:
    endpoint = lab.endpoints.others[SERVICE.name]
    assert isinstance(endpoint, SqlApi)
    return api_client(endpoint, "athena", attempts=1)


def _mib(lab: Lab) -> float:
    return round(lab.runtime.inspector.usages()[SERVICE.name].memory_bytes / 1024**2, 1)


def _percentiles(seconds: Sequence[float]) -> dict[str, Any]:
    found = percentiles_of(seconds)
    assert found is not None
    return found.model_dump()


def _literal(value: str | None, type_: str) -> str:
    return "'" + str(value).replace("'", "''") + "'" if type_ == "varchar" else str(value)


if __name__ == "__main__":
    main()
