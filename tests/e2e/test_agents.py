"""A client of the Model Context Protocol asks the lab, breaks it and sees it recover."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from labctl.lab.lab import Lab
from labctl.sources import connect

pytestmark = pytest.mark.long


def test_an_agent_follows_a_change_and_a_fault_by_tools_alone(lab: Lab, lab_project: Path) -> None:
    source, table = "mysql", "sale"
    ref = next(one for one in lab.tables if one.name.endswith(f".{table}"))
    assert ref.source == source
    with connect(lab.endpoints, source) as database:
        ((key, before),) = database.execute("SELECT salesid, qtysold FROM sale LIMIT 1")

    async def session() -> None:
        serve = ("-P", "-m", "labctl", "--lab", lab.name, "client", "mcp", "serve")
        parameters = StdioServerParameters(
            command=sys.executable,
            args=[*serve, "--allow-changes"],
            cwd=lab_project,
            env={**os.environ, "LABCTL_PROFILE": lab.profile},
        )
        async with Client(stdio_client(parameters)) as client:

            async def ask(tool: str, **arguments: Any) -> Any:
                answer = await client.call_tool(tool, arguments)
                assert not answer.is_error, answer.content
                assert answer.structured_content is not None
                return answer.structured_content["result"]

            update = f"UPDATE sale SET qtysold = {before + 1} WHERE salesid = {key}"
            assert (await ask("client_source", source=source, sql=update))["rows"] == []
            over = await ask("test_fault", kind="kill", service="connect")
            assert over["service"] == "connect"
            verified = await ask("verify", tables=[table], timeout=120)
            assert verified["equal"], verified
            traced = await ask("trace", table=table, where=[f"salesid={key}"])
            assert traced["arrived"], traced
            sql = f"SELECT qtysold FROM sale WHERE salesid = {key}"
            assert (await ask("query", sql=sql))["rows"] == [{"qtysold": before + 1}]
            status = await ask("status")
            assert status["lab"] == lab.name

            wrong = await client.call_tool("connectors_restart", {"name": "no_such"})
            assert wrong.is_error
            said = "".join(getattr(one, "text", "") for one in wrong.content)
            assert "no connector 'no_such'" in said
            assert "\nnext: " in said

    try:
        asyncio.run(session())
    finally:
        with connect(lab.endpoints, source) as database:
            database.execute(f"UPDATE sale SET qtysold = {before} WHERE salesid = {key}")
