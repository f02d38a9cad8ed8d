"""Attacks on the routes of operators and on the keys of operators."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from gateway.app import Gateway
from gateway.errors import ConfigurationError
from gateway.settings import Settings, read_settings
from gateway.store.records import AuditRecord
from tests.eventually import PATIENCE_SECONDS

FIRST = "first-bootstrap-key-7c31f09be2"
SECOND = "second-bootstrap-key-58d2a6409f"
ROUTES = (
    ("GET", "/operator/audit"),
    ("GET", "/operator/limits"),
    ("GET", "/operator/readiness"),
    ("GET", "/operator/webhooks"),
    ("GET", "/operator/webhooks/some"),
    ("POST", "/operator/webhooks/some/replay"),
    ("POST", "/operator/webhooks/some/revalidate"),
    ("GET", "/operator/jobs"),
    ("POST", "/operator/jobs/some/redrive"),
    ("POST", "/operator/jobs/some/cancel"),
    ("GET", "/operator/events"),
    ("GET", "/operator/endpoints"),
    ("POST", "/operator/endpoints"),
    ("POST", "/operator/endpoints/some/rotate"),
    ("DELETE", "/operator/endpoints/some"),
)


def settings(data: Path, key: str | None = None) -> Settings:
    given: dict[str, Any] = {"data": data, "mock_speed": 0}
    return read_settings({"GATEWAY_BOOTSTRAP_KEY": key} if key else {}, None, given)


async def records(gateway: Gateway) -> list[AuditRecord]:
    await gateway.parts.audit.flush()
    found = await gateway.parts.store.audit.latest(1000)
    return [each for each in found if each.operation != "operator.keys.bootstrap"][::-1]


def client(gateway: Gateway, key: str) -> httpx.AsyncClient:
    return httpx.AsyncClient(
        transport=httpx.ASGITransport(gateway.http_app()),  # type: ignore[arg-type]  # httpx's own ASGI types
        base_url="http://localhost",
        headers={"authorization": f"Bearer {key}"},
    )


@pytest.fixture
async def gateway(tmp_path: Path) -> AsyncIterator[Gateway]:
    async with Gateway.open(settings(tmp_path / "data", FIRST)) as opened:
        yield opened


@pytest.mark.attack(
    "a bootstrap key that can be guessed, such as one letter 40 times",
    required="the gateway does not start; the error names a command that makes a strong key",
)
@pytest.mark.parametrize("key", ["a" * 40, "aaaaaaaaaaaaaaaa", "passwordpasswordpassword"])
async def test_a_weak_bootstrap_key_starts_no_gateway(tmp_path: Path, key: str) -> None:
    with pytest.raises(ConfigurationError, match="too easy to guess") as refused:
        async with Gateway.open(settings(tmp_path / "data", key)):
            pass
    assert key not in str(refused.value)


@pytest.mark.attack(
    "a leaked bootstrap key, used after another one was configured",
    required="401; the start revokes the earlier key and records that it did",
)
async def test_a_replaced_bootstrap_key_opens_nothing(tmp_path: Path) -> None:
    data = tmp_path / "data"
    for key in (FIRST, SECOND):
        async with Gateway.open(settings(data, key)) as opened, client(opened, key) as http:
            assert (await http.get("/operator/jobs")).status_code == 200
    async with Gateway.open(settings(data, SECOND)) as opened, client(opened, FIRST) as http:
        assert (await http.get("/operator/jobs")).status_code == 401
        found = await opened.parts.store.audit.latest(1000)
    starts = [each.arguments for each in found if each.operation == "operator.keys.bootstrap"]
    assert [bool(each and each["revoked"]) for each in starts] == [True, False]
    with pytest.raises(ConfigurationError, match="was revoked"):
        async with Gateway.open(settings(data, FIRST)):
            pass


@pytest.mark.attack(
    "an agent's key that tries every operator route",
    required="404 on each, and one audit record each, with the agent and the refusal",
)
async def test_an_agent_that_tries_operator_routes_is_on_record(gateway: Gateway) -> None:
    agent = await gateway.parts.keys.create("flight_search", "")
    async with client(gateway, agent.key) as http:
        for method, path in ROUTES:
            assert (await http.request(method, path)).status_code == 404, path
    found = [
        (each.agent, each.subject, each.outcome, each.status) for each in await records(gateway)
    ]
    expected = ("flight_search", agent.record.id, "PATH_NOT_FOUND", 404)
    assert found == [expected] * len(ROUTES)


@pytest.mark.attack(
    "an operator whose changes are refused, hoping that the audit says they were made",
    required="one audit record for each attempt, with the refusal as its outcome",
)
async def test_refused_changes_are_recorded_as_refused(gateway: Gateway) -> None:
    async with client(gateway, FIRST) as http:
        for _ in range(20):
            reply = await http.post("/operator/endpoints", json={"url": "http://169.254.169.254/"})
            assert reply.status_code == 422
    found = [(each.operation, each.outcome, each.status) for each in await records(gateway)]
    assert found == [("operator.endpoints.add", "VALIDATION_ERROR", 422)] * 20


@pytest.mark.attack(
    "an operator who stops a change in the middle",
    required="an audit record that was durable before the change began, and is never `ok`",
)
async def test_a_change_that_is_cut_off_is_on_record(gateway: Gateway, monkeypatch: Any) -> None:
    reached = asyncio.Event()

    async def hang(*_: Any) -> None:
        reached.set()
        await asyncio.Event().wait()

    monkeypatch.setattr(type(gateway.parts.work.endpoint_registry), "add", hang)
    async with client(gateway, FIRST) as http:
        asked = http.post("/operator/endpoints", json={"url": "https://example.com/hook"})
        task = asyncio.create_task(asked)
        async with asyncio.timeout(PATIENCE_SECONDS):
            await reached.wait()
        [pending] = await records(gateway)
        assert (pending.outcome, pending.status) == ("PENDING", 202)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
    [ended] = await records(gateway)
    assert (ended.id, ended.outcome) == (pending.id, "CANCELLED")
