"""Idempotency keys of calls that ask."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from gateway.contract.context import CallContext
from gateway.store.records import Claim, KeyedCall, NewTask
from gateway.transports.http.call_headers import KEY_META
from tests.eventually import eventually
from tests.interaction.asking_site import ALICE, Handler, greet, open_asking, outcomes
from tests.interaction.long_site import LongSite
from tests.interaction.test_asking_jobs import reached, update

KEY = {KEY_META: "one-call"}


class SlowToAsk(Handler):
    """Asks when `may_ask` is set, and then has the effect."""

    def __init__(self) -> None:
        super().__init__()
        self.may_ask = asyncio.Event()

    async def act(self, context: CallContext) -> str:
        await self.may_ask.wait()
        return await super().act(context)


@pytest.fixture
def slow() -> SlowToAsk:
    return SlowToAsk()


@pytest.fixture
async def site(tmp_path: Path, slow: SlowToAsk) -> AsyncIterator[LongSite]:
    async with open_asking(tmp_path, slow, task="auto") as opened:
        yield opened


def after_its_release(
    site: LongSite, slow: SlowToAsk, monkeypatch: pytest.MonkeyPatch, then: Callable[[], Any] = int
) -> None:
    """Let the call ask before it is a job, so that it releases its key. Then `then` is called."""
    tasks = site.gateway.parts.store.tasks
    adopt: Callable[..., Awaitable[Claim]] = tasks.adopt

    async def has_asked() -> bool:
        return await outcomes(site) == ["INPUT_REQUIRED"]

    async def late(task: NewTask, worker: str, lease_seconds: float) -> Claim:
        slow.may_ask.set()
        await eventually(has_asked)
        await asyncio.sleep(0)
        done = then()
        if done:
            await done
        return await adopt(task, worker, lease_seconds)

    monkeypatch.setattr(tasks, "adopt", late)


async def test_a_job_that_asks_keeps_the_key_of_its_call(site: LongSite, slow: SlowToAsk) -> None:
    created = (await greet(site, tasks=True, **KEY))["result"]
    slow.may_ask.set()
    await reached(site, created["taskId"], "input_required")
    again = (await greet(site, tasks=True, **KEY))["result"]
    await update(site, created["taskId"], {"user": ALICE})
    await reached(site, created["taskId"], "completed")
    late = (await greet(site, tasks=True, **KEY))["result"]

    assert [again["taskId"], late["taskId"]] == [created["taskId"]] * 2
    assert (slow.runs, slow.effects) == (2, 1)


async def test_a_job_takes_the_key_that_its_call_released_before(
    site: LongSite, slow: SlowToAsk, monkeypatch: pytest.MonkeyPatch
) -> None:
    after_its_release(site, slow, monkeypatch)
    created = (await greet(site, tasks=True, **KEY))["result"]
    await reached(site, created["taskId"], "input_required")
    again = (await greet(site, tasks=True, **KEY))["result"]
    reused = await greet(site, arguments={"name": "Eve"}, tasks=True, **KEY)

    assert again["taskId"] == created["taskId"]
    assert reused["result"]["_meta"]["contract-gateway/problem"]["code"] == "IDEMPOTENCY_KEY_REUSED"
    assert slow.effects == 0


async def test_a_call_whose_key_another_one_has_taken_becomes_no_job(
    site: LongSite, slow: SlowToAsk, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = site.gateway.parts.store
    (ada,) = await site.gateway.parts.keys.list()
    other = KeyedCall(
        id="another-call",
        subject=ada.id,
        key="one-call",
        operation="example.greet",
        fingerprint="another",
        lease_seconds=30.0,
    )

    async def taken() -> bool | None:
        """Whether it has the key. The store may still be writing that it was released."""
        return True if await store.keyed_calls.begin(other) is None else None

    after_its_release(site, slow, monkeypatch, lambda: eventually(taken))
    asked = (await greet(site, tasks=True, **KEY))["result"]
    jobs = (await site.get("/v1/jobs")).json()["items"]
    known = await store.keyed_calls.begin(other)

    assert asked["resultType"] == "input_required"
    assert jobs == []
    assert known is None, "the key is still that of the other call"


async def test_an_invalid_answer_does_not_use_the_key_up(tmp_path: Path) -> None:
    handler = Handler()
    async with open_asking(tmp_path, handler) as opened:
        first = await greet(opened, **KEY)
        invalid = {"user": {"action": "accept", "content": {"name": 7}}}
        refused = await greet(opened, first, invalid, **KEY)
        unable = await greet(opened, can={"sampling": {}}, **KEY)
        last = await greet(opened, first, {"user": ALICE}, **KEY)

    assert [each["error"]["code"] for each in (refused, unable)] == [-32602, -32021]
    assert last["result"]["structuredContent"] == {"greeting": "accept Alice"}
    assert handler.effects == 1
