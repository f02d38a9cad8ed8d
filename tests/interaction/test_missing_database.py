"""A caller whose key must be looked up, while the database is gone."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, Final

import httpx
import pytest

from gateway.errors import StoreError
from tests.interaction.operated import operated

SECRET: Final = "postgresql://gateway:hunter2@db.internal/gateway: SELECT key_hash FROM agent_keys"
KEY: Final = "a-key-that-nobody-has-looked-up-0123456789"
ACCEPT: Final = "application/json, text/event-stream"
NAMED: Final = {"name": "example_greet", "arguments": {"name": "Ada"}}
CALL: Final = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": NAMED}
REQUESTS: Final = {
    "rest": ("/v1/example/greet", {"name": "Ada"}, {}),
    "execute": ("/tools/execute", NAMED, {}),
    "execute-rpc": ("/tools/execute", CALL, {}),
    "mcp-handshake": ("/mcp", CALL, {"mcp-protocol-version": "2025-11-25"}),
    "mcp-modern": (
        "/mcp",
        CALL,
        {
            "mcp-protocol-version": "2026-07-28",
            "mcp-method": "tools/call",
            "mcp-name": "example_greet",
        },
    ),
}


Answer = tuple[httpx.Response, dict[str, Any]]


async def asked(http: httpx.AsyncClient, name: str, key: str = KEY) -> Answer:
    """The answer, and the problem in it."""
    path, body, headers = REQUESTS[name]
    shown = {"authorization": f"Bearer {key}", "accept": ACCEPT}
    answer = await http.post(path, json=body, headers=shown | headers)
    found = answer.json()
    return answer, found["error"]["data"] if "error" in found else found


def verdict(answer: httpx.Response, problem: dict[str, Any]) -> tuple[Any, ...]:
    """All that a caller acts on."""
    members = ("type", "status", "code", "retryable", "retry_after", "detail")
    return answer.status_code, answer.headers["retry-after"], *map(problem.get, members)


EXPECTED: Final = (
    503,
    "5",
    "/problems/key-not-checked",
    503,
    "KEY_NOT_CHECKED",
    True,
    5,
    "The key could not be checked, so nothing was done: try again.",
)


@pytest.fixture
async def opened(tmp_path: Path) -> AsyncIterator[Any]:
    async with operated(tmp_path) as site:
        yield site


async def test_a_key_that_cannot_be_looked_up_may_be_sent_again(
    opened: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    gateway, http = opened

    async def fail(*_: object) -> None:
        raise StoreError(SECRET)

    for name in REQUESTS:
        key = f"{KEY}-{name}"
        with monkeypatch.context() as broken:
            broken.setattr(type(gateway.parts.store.keys), "find", fail)
            answer, problem = await asked(http, name, key)
        later, _ = await asked(http, name, key)

        assert verdict(answer, problem) == EXPECTED, name
        assert not any(part in answer.text for part in ("hunter2", "SELECT", KEY))
        assert later.status_code == 401
