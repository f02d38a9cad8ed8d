"""Calls with an idempotency key, over every transport: the effect happens once."""

import asyncio
from typing import Any

import pytest
from mcp.shared.exceptions import MCPError

from gateway.contract.operation import Effect
from gateway.errors import StoreError
from tests.bridged import bridged
from tests.eventually import eventually

MODERN = "2026-07-28"
KEY = "contract-gateway/idempotencyKey"
LOGGED = {"io.modelcontextprotocol/logLevel": "info"}
"""What no fast path takes."""
ADA = {"name": "Ada"}
GREET = "/v1/example/greet"


@pytest.fixture
def effect() -> Effect:
    return Effect.WRITE


async def post(site: Any, path: str = GREET, body: Any = ADA, key: str | None = "k1") -> Any:
    headers = {} if key is None else {"idempotency-key": key}
    async with site.http(**headers) as http:
        return await http.post(path, json=body)


async def test_a_repetition_gets_the_same_answer_without_a_second_effect(site: Any) -> None:
    first, second = await post(site), await post(site, body={"name": "Ada"})

    assert site.handlers.greeted == 1
    assert (second.status_code, second.content) == (200, first.content)
    assert "idempotency-replayed" not in first.headers
    assert second.headers["idempotency-replayed"] == "true"
    assert second.headers["gateway-backend"] == "python"
    assert [record.outcome for record in await site.records()] == ["ok", "ok"]


async def test_one_key_for_all_transports(site: Any, socket_site: str, admin_key: str) -> None:
    """A key belongs to its caller: the transport and the form of the key make no difference."""
    key, meta_key = '"k 1"', {KEY: '"k 1"'}
    await post(site, key=key)
    execute = {"name": "example.greet", "arguments": ADA}
    executed = await post(site, "/tools/execute", execute, key)
    answers = []
    for mode, meta in [(MODERN, {}), (MODERN, LOGGED), ("legacy", {}), ("legacy", LOGGED)]:
        async with site.mcp(mode=mode) as client:
            answers.append(await client.call_tool("example_greet", ADA, meta=meta_key | meta))
    async with (
        bridged(f"{socket_site}/mcp", admin_key, MODERN) as client,
    ):
        answers.append(await client.call_tool("example_greet", ADA, meta=meta_key))

    assert site.handlers.greeted == 1
    assert executed.headers["idempotency-replayed"] == "true"
    assert executed.json()["result"]["greeting"] == "Hello Ada"
    assert [answer.structured_content["greeting"] for answer in answers] == ["Hello Ada"] * 5


@pytest.mark.parametrize("change", [{"name": "Bob"}, {"name": "Ada", "note": None}])
async def test_a_key_of_another_call_is_refused(site: Any, change: dict[str, Any]) -> None:
    await post(site)

    answer = await post(site, body=change)

    assert (answer.status_code, answer.json()["code"]) == (422, "IDEMPOTENCY_KEY_REUSED")
    assert (await post(site, "/v1/other/greet")).status_code == 422
    assert site.handlers.greeted == 1


async def test_another_callers_key_is_another_key(site: Any, greeter_key: str) -> None:
    await post(site)
    async with site.http(greeter_key, **{"idempotency-key": "k1"}) as http:
        answer = await http.post(GREET, json={"name": "Bob"})
    assert answer.json()["greeting"] == "Hello Bob"


async def test_a_call_under_way_is_not_repeated(site: Any) -> None:
    first = asyncio.create_task(post(site, "/v1/example/wait"))
    await site.handlers.entered.wait()

    second = await post(site, "/v1/example/wait")
    site.handlers.release.set()

    assert (second.status_code, second.json()["code"]) == (409, "CALL_UNDER_WAY")
    assert second.json()["retryable"] is True
    assert int(second.headers["retry-after"]) == second.json()["retry_after"] > 0
    assert (await first).status_code == 200
    assert (await post(site, "/v1/example/wait")).content == (await first).content


@pytest.mark.parametrize(
    ("tool", "status", "code"),
    [
        ("refuse", 409, "TOOL_EXECUTION_ERROR"),
        ("misbehave", 502, "TOOL_EXECUTION_ERROR"),
    ],
)
async def test_a_failure_is_repeated_too(site: Any, tool: str, status: int, code: str) -> None:
    answers = [await post(site, f"/v1/example/{tool}") for _ in range(2)]

    problems = [answer.json() for answer in answers]
    assert [answer.status_code for answer in answers] == [status] * 2
    assert problems[0].pop("request_id") != problems[1].pop("request_id")
    assert problems[0] == problems[1]
    assert [(each.status, each.outcome) for each in await site.records()] == [(status, code)] * 2


async def test_a_call_that_a_defect_ends_has_an_unknown_outcome(site: Any) -> None:
    assert (await post(site, "/v1/example/crash")).status_code == 500
    answer = await post(site, "/v1/example/crash")
    assert (answer.status_code, answer.json()["code"]) == (409, "OUTCOME_UNKNOWN")
    assert answer.json()["retryable"] is False


async def test_a_call_that_its_client_cancels_keeps_its_answer(site: Any, socket_site: str) -> None:
    """A write that has begun goes on, so a repetition gets its answer."""
    async with site.mcp(url=socket_site) as client:
        call = asyncio.create_task(client.call_tool("example_wait", ADA, meta={KEY: "k1"}))
        await site.handlers.entered.wait()
        call.cancel()
    assert (await post(site, "/v1/example/wait")).json()["code"] == "CALL_UNDER_WAY"
    site.handlers.release.set()

    async def ended() -> Any:
        answer = await post(site, "/v1/example/wait")
        return answer if answer.status_code == 200 else None

    assert (await eventually(ended)).json() == {"greeting": "at last"}
    assert site.handlers.cancelled is False


@pytest.mark.parametrize(
    "key", ["", " ", "a" * 256, "a b", '"open', "é", "a\tb", '""', '"' + "a" * 256 + '"', 'a"b']
)
async def test_a_key_that_is_none_is_refused_before_any_effect(site: Any, key: str) -> None:
    async with site.http() as http:
        header = {"idempotency-key": key.encode("latin-1")}
        answer = await http.post(GREET, json=ADA, headers=header)
    assert (answer.status_code, answer.json()["code"]) == (400, "VALIDATION_ERROR")
    for mode in (MODERN, "legacy"):
        async with site.mcp(mode=mode) as client:
            with pytest.raises(MCPError):
                await client.call_tool("example_greet", ADA, meta={KEY: key})
    assert site.handlers.greeted == 0


async def test_a_key_twice_or_of_another_type_is_refused(site: Any) -> None:
    async with site.http() as http:
        twice = [("idempotency-key", "a"), ("idempotency-key", "a")]
        assert (await http.post(GREET, json=ADA, headers=twice)).status_code == 400
        for name in (
            "idempotency-key",
            "gateway-timeout",
            "request-timeout",
            "gateway-max-attempts",
        ):
            header = {name: "1", "accept": "application/json, text/event-stream"}
            over_mcp = await http.post("/mcp", json={}, headers=header)
            assert over_mcp.status_code == 400
            assert KEY in over_mcp.json()["detail"]
    async with site.mcp() as client:
        with pytest.raises(MCPError):
            await client.call_tool("example_greet", ADA, meta={KEY: 1})
    assert site.handlers.greeted == 0


async def test_a_refused_call_does_not_use_its_key(site: Any) -> None:
    assert (await post(site, body={})).status_code == 422
    assert (await post(site)).status_code == 200


@pytest.mark.parametrize("effect", [Effect.READ])
async def test_a_read_takes_no_key(site: Any) -> None:
    answer = await post(site)
    assert (answer.status_code, site.handlers.greeted) == (400, 0)
    async with site.mcp() as client:
        result = await client.call_tool("example_greet", ADA, meta={KEY: "k1"})
    assert result.is_error is True


async def test_no_effect_while_the_key_cannot_be_stored(
    site: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fail(*_: object) -> None:
        raise StoreError("the disk is full")

    monkeypatch.setattr(site.store.keyed_calls, "begin", fail)
    answer = await post(site)
    assert (answer.status_code, answer.json()["code"]) == (503, "NOT_RECORDED")
    assert answer.json()["retryable"] is True
    assert site.handlers.greeted == 0


async def test_an_answer_that_cannot_be_stored_is_no_success(
    site: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fail(*_: object) -> None:
        raise StoreError("the disk is full")

    monkeypatch.setattr(site.store.keyed_calls, "end", fail)
    answer = await post(site)
    assert (answer.status_code, site.handlers.greeted) == (500, 1)
    assert (await post(site)).json()["code"] == "CALL_UNDER_WAY"
    assert site.handlers.greeted == 1


async def test_a_write_leaves_a_pending_record_before_its_effect(site: Any) -> None:
    call = asyncio.create_task(post(site, "/v1/example/wait", key=None))
    await site.handlers.entered.wait()
    assert [record.outcome for record in await site.records()] == ["PENDING"]
    site.handlers.release.set()
    await call
    assert [record.outcome for record in await site.records()] == ["ok"]


async def test_no_effect_while_the_record_cannot_be_stored(
    site: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fail(*_: object) -> None:
        raise StoreError("the disk is full")

    monkeypatch.setattr("gateway.audit.log.WAIT_SECONDS", 0.01)
    with monkeypatch.context() as broken:
        broken.setattr(site.store.audit, "append", fail)
        answer = await post(site, key=None)
    assert (answer.status_code, answer.json()["code"]) == (503, "NOT_RECORDED")
    assert site.handlers.greeted == 0
    assert [record.outcome for record in await site.records()] == ["NOT_RECORDED"]
