"""Long runs of what `test_requests_fuzz.py` runs briefly; `make fuzz` writes their figures.

python -m tests.integration.sqlapi.fuzz --count 10000 --seed 1 --out FILE
"""

from __future__ import annotations

import asyncio
import json
import logging
import platform
import random
import re
import sys
import tempfile
import time
from collections import Counter
from collections.abc import MutableMapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import botocore
from pyarrow import fs
from starlette.applications import Starlette

from sqlapi.server import build
from sqlapi.settings import Settings
from sqlapi.sources.memory import MemorySource
from sqlapi.storage import OwnFolder, Storage
from tests.fuzz_figures import fuzz_options, write_figures
from tests.integration.sqlapi.aws_requests import Generator, Sent
from tests.integration.sqlapi.conftest import BUCKET, KEY, OUTPUT, SECRET, sales
from tests.integration.sqlserver.conftest import Postgres, postgres_binaries
from tests.ports import free_port
from tests.unit.hanging import Watch

__all__ = ["Run", "fuzz", "server"]

_INTERNAL = re.compile(r"GENERIC_INTERNAL_ERROR: [A-Za-z_.]*(Error|Exception|Exit|Interrupt)\b")
"""How an execution ends that an exception of Python ended."""
_ERRORS = re.compile(r"\w+(Exception)")

_PRIMARY = {
    "WorkGroup": "primary",
    "State": "ENABLED",
    "ConfigurationUpdates": {
        "EnforceWorkGroupConfiguration": False,
        "RemoveBytesScannedCutoffPerQuery": True,
        "ResultConfigurationUpdates": {"OutputLocation": OUTPUT},
    },
}


@dataclass
class Run:
    """What came of requests."""

    answers: Counter[str] = field(default_factory=Counter)
    executions: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)
    """What no request may cause, each with its request."""
    longest_ms: float = 0.0


def server(postgres: Postgres, database: str, folder: Path) -> Starlette:
    """The endpoint over tables in memory, with its state in PostgreSQL and a folder of buckets."""
    postgres.sql(f"CREATE DATABASE {database}")
    (folder / BUCKET).mkdir(parents=True)
    storage = Storage(
        fs.SubTreeFileSystem(str(folder), fs.LocalFileSystem()),
        (OwnFolder(f"s3://{BUCKET}/silver", "the lake's tables", tables=True),),
    )
    tables = sales()
    source = MemorySource(tables, {"moma.artists": tables["moma.artists"].slice(0, 1)})
    settings = Settings(dsn=postgres.dsn(database), keys={KEY: SECRET}, output=OUTPUT)
    return build(settings, source, storage)


def fuzz(app: Starlette, count: int, chance: random.Random) -> Run:
    """Send `count` requests, one after the other. Raises HangError."""
    return asyncio.run(_fuzz(app, count, chance))


async def _fuzz(app: Starlette, count: int, chance: random.Random) -> Run:
    run, watch = Run(), Watch()
    generator = Generator(chance, offered(app))
    async with app.router.lifespan_context(app):
        kept = {
            "WorkGroup": "kept",
            "Name": "kept",
            "Database": "d",
            "QueryString": "SELECT 'kept'",
        }
        await _ask(app, generator, "CreateWorkGroup", {"Name": "kept"})
        made = await _ask(app, generator, "CreateNamedQuery", kept)
        for number in range(count):
            if not number % 20:
                # A request may have disabled it, and executions with it.
                await _ask(app, generator, "UpdateWorkGroup", _PRIMARY)
            sent = generator.request()
            with watch.one(sent):
                began = time.monotonic()
                status, answer = await _answered(app, sent)
                await _judge(app, generator, run, sent, status, answer)
                run.longest_ms = max(run.longest_ms, (time.monotonic() - began) * 1000)
        shown = await _ask(app, generator, "GetNamedQuery", {"NamedQueryId": made["NamedQueryId"]})
        if shown["NamedQuery"]["QueryString"] != kept["QueryString"]:
            run.wrong.append("what was kept before has changed")
    return run


def offered(app: Starlette) -> dict[str, list[str]]:
    """The operations of the endpoint, by service."""
    services: dict[str, dict[str, Any]] = app.state.services
    return {service: sorted(operations) for service, operations in services.items()}


async def _ask(app: Starlette, generator: Generator, name: str, members: Any) -> dict[str, Any]:
    body = json.dumps(members).encode()
    status, answer = await _answered(app, generator.signed("athena", f"AmazonAthena.{name}", body))
    assert status == 200, answer
    return answer


async def _judge(
    app: Starlette, generator: Generator, run: Run, sent: Sent, status: int, answer: dict[str, Any]
) -> None:
    code = answer.get("__type", "")
    run.answers[f"{status} {code}".strip()] += 1
    if status >= 500 or (status >= 400 and not _ERRORS.fullmatch(code)):
        run.wrong.append(f"{status} {answer!r:.300}: {sent!r}")
    elif status == 200 and not sent.signed:
        run.wrong.append(f"answered without its signature: {sent!r}")
    elif not sent.offered and code not in ("UnknownOperationException", "SerializationException"):
        run.wrong.append(f"{status} {code} of what is not offered: {sent!r}")
    generator.learn(answer)
    if id_ := answer.get("QueryExecutionId"):
        await _follow(app, generator, run, sent, id_)


async def _follow(app: Starlette, generator: Generator, run: Run, sent: Sent, id_: str) -> None:
    """Wait for the end of an execution, and ask for its results."""
    while True:
        found = await _ask(app, generator, "GetQueryExecution", {"QueryExecutionId": id_})
        status = found["QueryExecution"]["Status"]
        if status["State"] not in ("QUEUED", "RUNNING"):
            break
    reason = status.get("StateChangeReason", "")
    run.executions[f"{status['State']} {reason.partition(':')[0]}".strip()] += 1
    if _INTERNAL.match(reason) or "service was stopped" in reason:
        run.wrong.append(f"{reason[:300]}: {sent!r}")
    body = json.dumps({"QueryExecutionId": id_}).encode()
    told = await _answered(app, generator.signed("athena", "AmazonAthena.GetQueryResults", body))
    if told[0] >= 500:
        run.wrong.append(f"results {told!r:.300}: {sent!r}")


async def _answered(app: Starlette, sent: Sent) -> tuple[int, dict[str, Any]]:
    messages: list[MutableMapping[str, Any]] = []

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": sent.body, "more_body": False}

    async def send(message: MutableMapping[str, Any]) -> None:
        messages.append(message)

    scope = {
        "type": "http", "http_version": "1.1", "method": "POST", "scheme": "http", "path": "/",
        "raw_path": b"/", "root_path": "", "query_string": sent.query, "headers": sent.headers,
        "server": ("127.0.0.1", 8085), "client": ("127.0.0.1", 1),
    }  # fmt: skip
    await app(scope, receive, send)
    body = b"".join(message.get("body", b"") for message in messages)
    return messages[0]["status"], json.loads(body) if body.startswith(b"{") else {}


def main() -> None:
    """Send requests to a server of this process and write the figures as JSON."""
    options = fuzz_options(__doc__)
    logging.basicConfig(level=logging.CRITICAL)
    began = time.process_time()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o711)
        postgres = Postgres(postgres_binaries(), folder / "data", free_port())
        postgres.create()
        postgres.start()
        try:
            app = server(postgres, "fuzz", folder / "buckets")
            run = fuzz(app, options.count, random.Random(options.seed))  # noqa: S311
        finally:
            postgres.stop()
    figures = {
        "seed": options.seed,
        "requests": options.count,
        "internal errors, and answers that may not be": len(run.wrong),
        "hangs": 0,
        "longest, ms": round(run.longest_ms, 1),
        "answers": dict(run.answers.most_common()),
        "executions": dict(run.executions.most_common()),
        "botocore": botocore.__version__,
        "CPU seconds": round(time.process_time() - began, 1),
        "python": platform.python_version(),
    }
    write_figures(figures, options.out)
    for wrong in run.wrong:
        print(wrong[:4000], file=sys.stderr)
    if run.wrong:
        sys.exit(1)


if __name__ == "__main__":
    main()
