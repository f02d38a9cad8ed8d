"""Where the work on large texts is done, and reads that no caller asked for."""

import asyncio
import threading
from contextvars import ContextVar

import pytest
from msgspec.structs import replace

from gateway.calls import validation
from gateway.calls.replies import ReplyReader
from gateway.calls.upstreams import Fetcher
from gateway.calls.validation import LARGE_BYTES, beside
from gateway.contract.context import UpstreamCall, UpstreamReply
from gateway.contract.operation import ImportedBinding, PythonBinding
from gateway.contract.upstream import UpstreamRequest
from tests.clocks import ManualClock
from tests.entity_rows import NoEntities
from tests.unit.calls.shop import connection, reply
from tests.unit.calls.test_dispatch import OPEN, Upstreams, dispatch, permit_for

NAME = ContextVar("NAME", default="")


async def test_the_work_on_a_small_text_is_done_at_once():
    assert await beside(LARGE_BYTES - 1, threading.get_ident) == threading.get_ident()


async def test_the_work_on_a_large_text_is_done_in_a_thread():
    assert await beside(LARGE_BYTES, threading.get_ident) != threading.get_ident()


async def test_the_thread_is_in_the_context_of_the_call():
    NAME.set("call-7")
    assert await beside(LARGE_BYTES, NAME.get) == "call-7"


async def test_an_error_is_raised_where_the_work_was_asked_for():
    with pytest.raises(ValueError, match="x"):
        await beside(LARGE_BYTES, int, "x")


async def test_one_large_text_is_worked_on_at_a_time():
    running, most = 0, 0

    def work():
        nonlocal running, most
        running += 1
        most = max(most, running)
        threading.Event().wait(0.001)
        running -= 1

    await asyncio.gather(*(beside(LARGE_BYTES, work) for _ in range(20)))
    assert most == 1


async def test_the_loop_goes_on_meanwhile():
    loop_ran = threading.Event()
    asyncio.get_running_loop().call_soon(loop_ran.set)
    assert await beside(LARGE_BYTES, loop_ran.wait, 300)


@pytest.mark.parametrize("is_large", [True, False])
async def test_a_large_reply_is_read_beside_the_event_loop(is_large, monkeypatch):
    threads = []

    def read(*_):
        threads.append(threading.get_ident())
        return {}

    async def ask_admitted(_arguments, context):
        await context.send(UpstreamCall(upstream="zoo", operation="open"))
        return {}

    def imported_request(_arguments):
        return UpstreamRequest(operation="open", method="POST", path=("open",))

    backend = Upstreams({"open": 200})
    monkeypatch.setattr(validation, "LARGE_BYTES", len(backend.body) + (not is_large))
    admitted = UpstreamReply(status=200, headers={}, body={})
    monkeypatch.setattr(ReplyReader, "admit", lambda *given: read(*given) or admitted)
    imported = ImportedBinding(upstream="zoo", request=imported_request, result=read)
    asked = PythonBinding(run=ask_admitted, upstreams=("zoo",))
    for binding in (replace(OPEN, results={"200": read}), asked, imported):
        assert (await dispatch(permit_for(binding), backend)).size == len(backend.body)
    assert [each == threading.get_ident() for each in threads] == [not is_large] * 3


async def test_a_fetch_is_never_answered_by_a_kept_reply() -> None:
    """`rate` may be kept for a minute, and a message says that it has just changed."""
    shop, backend = connection(reply(body={"n": 1}), reply(body={"n": 2}))
    fetcher = Fetcher({"shop": shop}, ManualClock(), NoEntities())

    found = [await fetcher("shop", "rate", {}, {}) for _ in range(2)]

    assert found == [{"n": 1}, {"n": 2}]
    assert len(backend.sent) == 2
