"""Work that ends when its client leaves."""

import asyncio
from typing import Any

import pytest

from gateway.transports.http.asgi import ClientGone
from gateway.transports.http.connected import Client, name_client, while_connected


def scope_of(client: Client) -> dict[str, Any]:
    """The scope of a request on a connection that reports its end itself, as the gateway's do."""
    scope: dict[str, Any] = {}
    name_client(scope, client)
    return scope


async def test_a_connection_needs_no_second_task() -> None:
    client = Client()

    async def work() -> int:
        await asyncio.sleep(0)
        return len(asyncio.all_tasks())

    assert await while_connected(work(), never, scope_of(client)) == 1
    assert client.on_leave is None


@pytest.mark.parametrize("is_early", [True, False], ids=["before", "meanwhile"])
async def test_work_is_cancelled_when_its_connection_ends(*, is_early: bool) -> None:
    client = Client()
    if is_early:
        client.leave()

    async def work() -> None:
        await asyncio.sleep(0)
        if not is_early:
            asyncio.get_running_loop().call_soon(client.leave)
        await asyncio.Event().wait()

    with pytest.raises(ClientGone):
        await while_connected(work(), never, scope_of(client))
    task = asyncio.current_task()
    assert task is not None
    assert task.cancelling() == 0


async def test_work_that_never_waits_is_done_though_its_connection_has_ended() -> None:
    async def work() -> int:
        return 7

    client = Client()
    client.leave()
    assert await while_connected(work(), never, scope_of(client)) == 7
    await asyncio.sleep(0)
    await asyncio.sleep(0)


async def never() -> Any:
    """A client that stays."""
    await asyncio.Event().wait()


async def left() -> Any:
    """A client that is gone."""
    return {"type": "http.disconnect"}


async def test_work_that_is_done_is_returned_and_nothing_is_left_running() -> None:
    async def work() -> int:
        await asyncio.sleep(0)
        return 7

    assert await while_connected(work(), never) == 7
    await asyncio.sleep(0)
    assert asyncio.all_tasks() == {asyncio.current_task()}


async def test_work_is_cancelled_when_the_client_leaves() -> None:
    with pytest.raises(ClientGone):
        await while_connected(asyncio.Event().wait(), left)
    task = asyncio.current_task()
    assert task is not None
    assert task.cancelling() == 0


async def test_a_client_that_leaves_as_the_work_ends_disturbs_nobody() -> None:
    async def work() -> int:
        return 7

    assert await while_connected(work(), left) == 7
    await asyncio.sleep(0)
    await asyncio.sleep(0)


async def test_a_cancellation_from_elsewhere_stays_one() -> None:
    serving = asyncio.create_task(while_connected(asyncio.Event().wait(), never))
    await asyncio.sleep(0)
    serving.cancel()
    with pytest.raises(asyncio.CancelledError):
        await serving


async def test_an_error_of_the_work_is_its_own() -> None:
    async def work() -> int:
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        await while_connected(work(), never)
