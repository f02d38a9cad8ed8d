"""What several callers wait for goes on when all of them have left. Its failure is then of no use.

asyncio would log it as an exception that nobody read, which reads as a defect of the gateway.
"""

import asyncio
import gc
from collections.abc import Awaitable, Callable
from types import SimpleNamespace
from typing import Any

import pytest

from gateway import workspace
from gateway.errors import StoreError
from gateway.store.publishing import SubscribedSession
from gateway.transports.mcp import own_tools
from gateway.transports.mcp.loading import Late
from gateway.transports.mcp.own_tools import OfferIndexes
from gateway.transports.mcp.subscriptions import SharedReading
from gateway.workspace import Workspace
from tests.clocks import ManualClock

Fail = Callable[[], Awaitable[Any]]
"""Fails once the test lets it."""


def subscriptions(fail: Fail, _: pytest.MonkeyPatch) -> Awaitable[Any]:
    store: Any = SimpleNamespace(of=lambda _: fail())
    return SharedReading(store).of(SubscribedSession("key", "session", ""))


def a_late_part(fail: Fail, patch: pytest.MonkeyPatch) -> Awaitable[Any]:
    patch.setattr(Late, "_loaded", lambda _: fail())
    return Late("the part", lambda: None).get()


def an_index(fail: Fail, patch: pytest.MonkeyPatch) -> Awaitable[Any]:
    patch.setattr(own_tools.asyncio, "to_thread", lambda *_: fail())
    catalogue: Any = None
    offer: Any = SimpleNamespace(connector=None, grants=frozenset())
    return OfferIndexes(catalogue).of(offer)


def a_workspace(fail: Fail, patch: pytest.MonkeyPatch) -> Awaitable[Any]:
    patch.setattr(workspace, "_open", lambda *_: fail())
    return Workspace("memory:", (), ManualClock())._opened()


@pytest.mark.parametrize("begin", [subscriptions, a_late_part, an_index, a_workspace])
async def test_a_failure_for_which_nobody_waits_is_not_logged(
    begin: Callable[[Fail, pytest.MonkeyPatch], Awaitable[Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    noted: list[str] = []
    loop = asyncio.get_running_loop()
    loop.set_exception_handler(lambda _, context: noted.append(context["message"]))
    has_begun, may_fail, has_failed = asyncio.Event(), asyncio.Event(), asyncio.Event()

    async def fail() -> Any:
        has_begun.set()
        await may_fail.wait()
        has_failed.set()
        raise StoreError("the database is away")

    async def wait() -> None:
        await begin(fail, monkeypatch)

    waiting = asyncio.create_task(wait())
    await has_begun.wait()
    waiting.cancel()
    await asyncio.wait([waiting])
    may_fail.set()
    await has_failed.wait()
    await asyncio.sleep(0)
    del waiting
    gc.collect()

    assert noted == []
