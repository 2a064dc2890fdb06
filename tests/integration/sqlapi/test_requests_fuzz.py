"""Requests by chance, signed and not: each is answered as AWS would, and none as an internal error.

`make fuzz` runs 10,000. `LABCTL_FUZZ_SEED` repeats a run.
"""

from __future__ import annotations

import os
import random
from pathlib import Path

from starlette.testclient import TestClient

from tests.integration.sqlapi.fuzz import fuzz, server
from tests.integration.sqlserver.conftest import Postgres

REQUESTS = 400
SEED = int(os.environ.get("LABCTL_FUZZ_SEED", random.randrange(2**32)))  # noqa: S311 - no secret


def test_whatever_is_asked_the_answer_is_one_of_aws(postgres: Postgres, tmp_path: Path) -> None:
    print(f"LABCTL_FUZZ_SEED={SEED}")
    app = server(postgres, "fuzz", tmp_path / "buckets")
    run = fuzz(app, REQUESTS, random.Random(SEED))  # noqa: S311 - chance, not secrets
    assert run.wrong == []
    assert run.answers["200"]
    assert run.executions["SUCCEEDED"]


def test_a_web_page_is_told_nothing(postgres: Postgres, tmp_path: Path) -> None:
    """Without a signature no page gets an answer, whatever its own name resolves to."""
    app = server(postgres, "pages", tmp_path / "buckets")
    client = TestClient(app, base_url="http://evil.example:8085")
    page = {"Origin": "http://evil.example", "X-Amz-Target": "AWSGlue.GetDatabases"}
    with client:
        answers = [
            client.post("/", content=b"{}", headers=page),
            client.options("/", headers={**page, "Access-Control-Request-Method": "POST"}),
            client.get("/", headers=page),
        ]
    assert [answer.status_code for answer in answers] == [403, 405, 405]
    assert not [name for one in answers for name in one.headers if name.startswith("access-")]
