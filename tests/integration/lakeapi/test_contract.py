"""Requests made from the OpenAPI document: every answer is one that it says."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.integration.lakeapi.conftest import Api

pytestmark = pytest.mark.long


def test_every_answer_is_in_the_document(api: Api) -> None:
    """For what the document allows, for what it does not, and for the ends of both."""
    ended = subprocess.run(
        [
            *(sys.executable, "-m", "schemathesis.cli", "run", f"{api.url}/v1/openapi.json"),
            *("--mode", "all", "--phases", "examples,coverage", "--no-color"),
            *("--generation-database", "none"),
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert "21 selected / 21 total" in ended.stdout
