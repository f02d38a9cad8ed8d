"""Parts that are loaded when the first request needs them."""

import asyncio
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from contextvars import ContextVar
from typing import Any

import pytest

from gateway.errors import InternalError
from gateway.transports.mcp import loading
from gateway.transports.mcp.loading import Late, SdkPath
from tests.eventually import PATIENCE_SECONDS

OF_A_REQUEST: ContextVar[str] = ContextVar("OF_A_REQUEST", default="nothing")


class Stand:
    """A server that notes what happens to it."""

    def __init__(self) -> None:
        self.noted: list[str] = []
        self.opened = 0
        self.breaking = asyncio.Event()

    def open(self) -> "Stand":
        self.opened += 1
        return self

    @asynccontextmanager
    async def run(self) -> AsyncIterator[None]:
        self.noted.append(f"runs with {OF_A_REQUEST.get()}")
        async with asyncio.TaskGroup() as tasks:
            breaking = tasks.create_task(self._break())
            yield
            breaking.cancel()
        self.noted.append("ended")

    async def _break(self) -> None:
        await self.breaking.wait()
        raise OSError("broken")

    async def handle_request(self, scope: Any, receive: Any, send: Any, /) -> None:
        self.noted.append(f"served {scope}")


class Gate:
    """A load that takes until it is let through."""

    def __init__(self) -> None:
        self.loads = 0
        self.has_begun = threading.Event()
        self.may_end = threading.Event()

    def through(self, part: Any) -> Callable[[], Any]:
        def load() -> Any:
            self.loads += 1
            self.has_begun.set()
            assert self.may_end.wait(PATIENCE_SECONDS)
            return part

        return load

    async def begun(self) -> None:
        assert await asyncio.to_thread(self.has_begun.wait, 10)


def broken() -> Any:
    raise ImportError("-".join(["no", "such", "library"]))


async def test_all_who_ask_wait_for_one_loading_while_others_are_served() -> None:
    gate = Gate()
    late = Late("the part", gate.through("part"))
    asking = [asyncio.create_task(late.get()) for _ in range(20)]
    await gate.begun()
    assert not any(task.done() for task in asking)
    gate.may_end.set()
    assert await asyncio.gather(*asking) == ["part"] * 20
    assert await late.get() == "part"
    assert gate.loads == 1


async def test_one_who_leaves_does_not_stop_what_others_wait_for() -> None:
    gate = Gate()
    late = Late("the part", gate.through("part"))
    first, second = (asyncio.create_task(late.get()) for _ in range(2))
    await gate.begun()
    first.cancel()
    with suppress(asyncio.CancelledError):
        await first
    gate.may_end.set()
    assert await second == "part"
    assert gate.loads == 1


async def test_a_failure_is_an_error_for_all_and_logged_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    late = Late("the part", broken)
    outcomes = await asyncio.gather(*(late.get() for _ in range(5)), return_exceptions=True)
    outcomes += await asyncio.gather(late.get(), return_exceptions=True)
    assert [type(outcome) for outcome in outcomes] == [InternalError] * 6
    (record,) = caplog.records
    assert "the part could not be loaded" in record.getMessage()
    assert "in broken" in record.getMessage()
    assert "ImportError" in record.getMessage()
    assert "no-such-library" not in record.getMessage()


@pytest.mark.usefixtures("time_leaps")
async def test_after_a_failure_it_is_tried_again() -> None:
    missing = ["a library"]

    def load() -> str:
        if missing:
            raise ImportError(missing.pop())
        return "part"

    late = Late("the part", load)
    with pytest.raises(InternalError):
        await late.get()
    with pytest.raises(InternalError):
        await late.get()
    await asyncio.sleep(loading.RETRY_SECONDS + 1)
    assert await late.get() == "part"


async def test_the_server_runs_from_its_first_request_to_the_end() -> None:
    stand = Stand()
    path = SdkPath(lambda: stand.open)
    async with path.run():
        assert stand.noted == []
        OF_A_REQUEST.set("the first request")
        await asyncio.gather(*(path.handle(number, None, None) for number in range(3)))
        await path.handle(3, None, None)
        assert stand.opened == 1
        assert stand.noted == ["runs with nothing", *(f"served {number}" for number in range(4))]
    assert stand.noted[-1] == "ended"


async def test_a_server_that_was_never_needed_is_never_loaded() -> None:
    async with SdkPath(broken).run():
        pass


async def test_before_and_after_it_runs_nothing_is_served() -> None:
    stand = Stand()
    path = SdkPath(lambda: stand.open)
    with pytest.raises(InternalError):
        await path.handle("early", None, None)
    async with path.run():
        await path.handle("in time", None, None)
    with pytest.raises(InternalError):
        await path.handle("late", None, None)
    assert stand.noted == ["runs with nothing", "served in time", "ended"]


async def test_it_can_end_while_it_loads() -> None:
    gate, stand = Gate(), Stand()
    path = SdkPath(gate.through(stand.open))
    async with path.run():
        asking = asyncio.create_task(path.handle("early", None, None))
        await gate.begun()
    gate.may_end.set()
    with pytest.raises(InternalError):
        await asking
    assert stand.noted == []


async def test_it_can_end_with_the_request_that_began_it() -> None:
    stand = Stand()
    path = SdkPath(lambda: stand.open)
    async with path.run():
        await path.handle("only", None, None)
    assert stand.noted == ["runs with nothing", "served only", "ended"]


async def test_it_can_run_again() -> None:
    stand = Stand()
    path = SdkPath(lambda: stand.open)
    for number in range(2):
        async with path.run():
            await path.handle(number, None, None)
    assert stand.opened == 2


async def test_a_server_that_does_not_open_is_an_error_and_no_hang(
    caplog: pytest.LogCaptureFixture,
) -> None:
    path = SdkPath(lambda: broken)
    async with path.run():
        for _ in range(2):
            with pytest.raises(InternalError):
                await path.handle("request", None, None)
    assert "the MCP SDK's server failed" in caplog.text


async def test_after_the_server_has_failed_the_next_request_begins_again() -> None:
    stand = Stand()
    path = SdkPath(lambda: stand.open)
    async with path.run():
        await path.handle("before", None, None)
        breaking, stand.breaking = stand.breaking, asyncio.Event()
        breaking.set()
        while stand.opened == 1:
            await asyncio.sleep(0)
            await path.handle("after", None, None)
    assert stand.noted[-2:] == ["served after", "ended"]
