"""Answers that reach another process than the one that has asked."""

import asyncio
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.conformance_pack.serve import make_project
from tests.eventually import PATIENCE_SECONDS
from tests.gateway_process import running_gateway
from tests.interaction.asking_session import session

USER = {"action": "accept", "content": {"username": "ada", "email": "ada@example.com"}}
CALLS = 4


async def conversations(url: str, key: str) -> list[tuple[str, dict[str, Any]]]:
    """The ids of the questions of several calls, and their answers.

    Each answer is posted on several new connections, which the processes share."""
    found = []
    for _ in range(CALLS):
        asked = asyncio.Queue[dict[str, Any]]()
        async with session(url, key) as client:
            call = asyncio.create_task(
                client.call(asked.put_nowait, "conformance_test_elicitation", message="Who?")
            )
            question = await asked.get()
            body = {"jsonrpc": "2.0", "id": question["id"], "result": USER}
            for _ in range(4):
                async with httpx.AsyncClient(headers=client.http.headers) as another:
                    await another.post(f"{url}/mcp", json=body)
            async with asyncio.timeout(PATIENCE_SECONDS):
                found.append((question["id"], await call))
    return found


@pytest.mark.postgres
def test_an_answer_finds_the_process_that_has_asked(tmp_path: Path, postgres_url: str) -> None:
    url = postgres_url
    shared = {"GATEWAY_SCHEMAS": "", "GATEWAY_DATABASE_URL": url, "GATEWAY_WORKSPACE_URL": url}
    make_project(tmp_path / "project")
    with running_gateway(tmp_path / "project", "--processes", "2", environment=shared) as gateway:
        (shown,) = gateway.authorization.values()
        key = shown.removeprefix("Bearer ")
        found = asyncio.run(conversations(gateway.url, key))

    for question, answer in found:
        assert question.rpartition(".")[2] in {"0", "1"}
        assert "username" in answer["result"]["content"][0]["text"]
