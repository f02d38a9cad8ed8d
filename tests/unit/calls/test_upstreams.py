"""What a handler may ask of its upstreams, and what it gets."""

import asyncio

import pytest

from gateway.calls.caching.answers import MAX_FAILURES, Failures
from gateway.calls.upstreams import CallUpstreams, SharedState, TimeLimit
from gateway.contract.context import CallFacts, UpstreamCall
from gateway.contract.operation import Attempts
from gateway.errors import (
    InternalError,
    InvalidReply,
    UpstreamRejected,
    UpstreamTimeout,
    UpstreamUnavailable,
)
from tests.clocks import ManualClock
from tests.entity_rows import NoEntities
from tests.unit.calls.shop import Sendings, connection, reply

CALL = CallFacts(id="call-1", now="2026-11-20T00:00:00.000Z")
LOOK = UpstreamCall("shop", "look", path={"id": "a b"}, query={"q": "x", "tag": ["1", "2"]})
RATE = UpstreamCall("shop", "rate")
NOTICES = UpstreamCall("shop", "news")


class Context:
    """A context on one scripted line; `again` is a later call in the same process."""

    def __init__(self, *script: object) -> None:
        self.connection, self.backend = connection(*script)
        self.sendings = Sendings()
        self.attempts = Attempts()
        self.shared = SharedState(self.sendings.clock)

    def again(self, *, is_shared: bool = True) -> CallUpstreams:
        sending, connections = self.sendings.start(self.attempts), {"shop": self.connection}
        return CallUpstreams(
            CALL, connections, sending, self.shared, NoEntities(), is_shared=is_shared
        )


async def test_an_operation_is_asked_with_its_template_filled_in() -> None:
    context = Context(reply(body={"n": 7}))

    answer = await context.again().send(LOOK)

    assert (answer.status, answer.body) == (200, {"n": 7})
    (sent,) = context.backend.sent
    assert (sent.method, sent.path) == ("GET", ("items", "a b"))
    assert sent.query == (("q", "x"), ("tag", "1"), ("tag", "2"))


def test_what_a_handler_says_of_its_progress_is_bounded() -> None:
    said: list[tuple[float, str, float | None]] = []
    context = Context().again()
    context.progress(1, "Nobody asks.")
    context.report = lambda *report: said.append(report)
    context.progress(2, "a\u200bb" + "c" * 500)
    context.progress(3, total=4)

    assert said == [(2, "ab" + "c" * 197, None), (3, "", 4)]


def test_what_a_handler_logs_to_its_client_is_bounded() -> None:
    said: list[tuple[str, str]] = []
    context = Context().again()
    context.log("info", "Nobody asks.")
    context.write_log = lambda level, text: said.append((level, text))
    context.log("warning", "a\u200bb" + "c" * 900)

    assert said == [("warning", "ab" + "c" * 497)]
    with pytest.raises(ValueError, match="debug, info"):
        context.log("loud", "Hello.")  # type: ignore[arg-type]  # what is refused


@pytest.mark.parametrize("done", [-1, float("nan"), float("inf")])
def test_progress_is_a_finite_number(done: float) -> None:
    with pytest.raises(ValueError, match="finite"):
        Context().again().progress(done)
    with pytest.raises(ValueError, match="finite"):
        Context().again().progress(1, total=done)


async def test_a_status_that_is_not_expected_is_the_error_that_it_stands_for() -> None:
    with pytest.raises(UpstreamUnavailable):
        await Context(reply(503)).again().send(LOOK)
    with pytest.raises(UpstreamRejected):
        await Context(reply(409)).again().send(UpstreamCall("shop", "pay"))


async def test_an_expected_status_is_answered_with_its_body() -> None:
    answer = (
        await Context(reply(409, {"n": 3})).again().send(UpstreamCall("shop", "pay"), expect={409})
    )

    assert (answer.status, answer.body) == (409, {"n": 3})


@pytest.mark.parametrize("alien", [{"n": "many"}, "text", []])
async def test_an_expected_status_with_a_body_of_somebody_else_is_not_what_was_expected(
    alien: object,
) -> None:
    """A proxy in between says 404 as well, and means something else."""
    with pytest.raises(UpstreamRejected):
        await Context(reply(409, alien)).again().send(UpstreamCall("shop", "pay"), expect={409})


async def test_an_expected_status_is_answered_and_not_kept_where_successes_are() -> None:
    context = Context(reply(404), reply(body={"n": 2}))
    with pytest.raises(UpstreamRejected):
        await Context(reply(404)).again().send(RATE)

    refused = await context.again().send(RATE, expect={404})
    found = await context.again().send(RATE, expect={404})

    assert (refused.status, found.status, found.body) == (404, 200, {"n": 2})


async def test_a_reply_that_breaks_the_contract_is_never_answered() -> None:
    with pytest.raises(InvalidReply):
        await Context(reply(body={"n": "seven"})).again().send(LOOK)


async def test_what_the_binding_does_not_name_cannot_be_asked() -> None:
    context = Context(reply()).again()

    for asked in (UpstreamCall("bank", "look"), UpstreamCall("shop", "steal")):
        with pytest.raises(InternalError):
            await context.send(asked)


async def test_a_reply_is_used_again_where_the_upstreams_contract_says_so() -> None:
    context = Context(reply(body={"n": 1}), reply(body={"n": 2}))

    first = await context.again().send(RATE)
    kept = await context.again().send(RATE)
    context.sendings.clock.advance(60)
    fresh = await context.again().send(RATE)

    assert [first.body["n"], kept.body["n"], fresh.body["n"]] == [1, 1, 2]
    first.body["n"] = 9
    assert kept.body == {"n": 1}


@pytest.mark.parametrize("bad", [reply(503), reply(body={"n": "seven"})])
async def test_a_bad_reply_is_not_kept(bad) -> None:
    context = Context(bad, reply())
    with pytest.raises((UpstreamUnavailable, InvalidReply)):
        await context.again().send(RATE)

    assert (await context.again().send(RATE)).body == {"n": 1}


async def test_settings_are_reported() -> None:
    assert Context(reply()).again().setting("shop", "shelf") == "left"


async def test_calls_that_hold_the_same_key_follow_each_other() -> None:
    context = Context(reply())
    inside = []

    async def hold(name: str, key: str) -> None:
        async with context.again().exclusive(key):
            inside.append(name)
            await asyncio.sleep(0)
            inside.append(name)

    await asyncio.gather(hold("a", "sheet"), hold("b", "sheet"))
    assert inside == ["a", "a", "b", "b"]
    inside.clear()
    await asyncio.gather(hold("a", "one"), hold("b", "other"))
    assert inside == ["a", "b", "a", "b"]
    assert not context.shared.locks


async def test_a_failure_is_remembered_where_the_contract_says_so() -> None:
    """For its time; then one call asks, and the others go on without."""
    context = Context(reply(503), reply(503), reply(body={"n": 1}))
    for _ in range(5):
        with pytest.raises(UpstreamUnavailable):
            await context.again().send(NOTICES)
    assert len(context.backend.sent) == 1
    context.sendings.clock.advance(60)
    with pytest.raises(UpstreamUnavailable):
        await context.again().send(NOTICES)
    assert len(context.backend.sent) == 2
    context.sendings.clock.advance(60)
    assert (await context.again().send(NOTICES)).body == {"n": 1}
    await context.again().send(NOTICES)
    assert len(context.backend.sent) == 4, "what has succeeded is not remembered as failed"


async def test_what_fails_for_a_callers_own_bound_is_not_remembered_for_the_others() -> None:
    """Or a caller could fail everybody's calls by asking for a millisecond, again and again."""
    context = Context(UpstreamTimeout(), UpstreamTimeout(), reply(body={"n": 1}))
    for _ in range(2):
        with pytest.raises(UpstreamTimeout):
            await context.again(is_shared=False).send(NOTICES)
        context.sendings.clock.advance(60)
    assert (await context.again().send(NOTICES)).body == {"n": 1}


async def test_while_one_call_asks_again_the_others_do_not_wait() -> None:
    hang = asyncio.Event()
    context = Context(reply(503), hang, reply(body={"n": 1}))
    with pytest.raises(UpstreamUnavailable):
        await context.again().send(NOTICES)
    context.sendings.clock.advance(60)
    probe = asyncio.create_task(context.again().send(NOTICES))
    await asyncio.sleep(0)
    with pytest.raises(UpstreamUnavailable):
        await context.again().send(NOTICES)
    probe.cancel()


async def test_what_is_kept_is_the_reply_to_all_that_was_asked() -> None:
    """Also to the header fields, by which an upstream may choose a language."""
    context = Context(reply(body={"n": 1}), reply(body={"n": 2}))
    in_german = UpstreamCall("shop", "rate", headers={"accept-language": "de"})
    in_english = UpstreamCall("shop", "rate", headers={"accept-language": "en"})

    asked = [in_german, in_english, in_german]
    bodies = [(await context.again().send(each)).body for each in asked]

    assert bodies == [{"n": 1}, {"n": 2}, {"n": 1}]
    assert len(context.backend.sent) == 2


async def test_a_failure_is_that_of_the_body_that_was_sent() -> None:
    context = Context(UpstreamUnavailable(is_sent=True), reply())
    with pytest.raises(UpstreamUnavailable):
        await context.again().send(UpstreamCall("shop", "find", body={"q": "bad"}))

    found = await context.again().send(UpstreamCall("shop", "find", body={"q": "good"}))

    assert found.body == {"n": 1}
    with pytest.raises(UpstreamUnavailable):
        await context.again().send(UpstreamCall("shop", "find", body={"q": "bad"}))
    assert len(context.backend.sent) == 2


async def test_a_handler_may_have_less_time_than_the_call() -> None:
    asked = UpstreamCall("shop", "news", timeout_seconds=0.01)
    context = Context(asyncio.Event())
    with pytest.raises(UpstreamTimeout):
        await context.again().send(asked)
    with pytest.raises(UpstreamTimeout):
        await context.again().send(asked)
    assert len(context.backend.sent) == 1


async def test_the_upstream_is_informed_how_long_the_handler_waits() -> None:
    """Or it would not know that it is the upstream that lets others wait."""
    for operation in ("look", "rate"):
        context = Context(reply())
        path = {"id": "1"} if operation == "look" else {}
        asked = UpstreamCall("shop", operation, path=path, timeout_seconds=2)
        await context.again().send(asked)
        assert context.backend.limits == [2]


async def test_a_handlers_time_limit_is_for_all_attempts() -> None:
    context = Context(UpstreamTimeout(), reply())
    context.attempts = Attempts(max=3, backoff_seconds=(8,))
    with pytest.raises(UpstreamTimeout):
        await context.again().send(UpstreamCall("shop", "rate", timeout_seconds=5))
    assert context.sendings.waits == [], "there is no time left for another one"


def test_a_remembered_failure_holds_nothing_of_the_call_that_failed() -> None:
    failures = Failures(ManualClock())

    def fail() -> None:
        raise UpstreamUnavailable("Broke.", is_sent=False) from OSError()

    with pytest.raises(UpstreamUnavailable) as failed:
        fail()
    failures.remember(b"k", 60, failed.value)
    (kept,) = failures._known.values()
    assert (kept.error.__traceback__, kept.error.__cause__) == (None, None)
    with pytest.raises(UpstreamUnavailable, match="Broke") as again:
        failures.check(b"k", 60)
    assert again.value.is_sent is False
    assert kept.error.__traceback__ is None


def test_few_failures_are_remembered() -> None:
    failures = Failures(ManualClock())
    for number in range(MAX_FAILURES + 1):
        failures.remember(str(number).encode(), 60, UpstreamUnavailable())
    failures.check(b"0", 60)
    with pytest.raises(UpstreamUnavailable):
        failures.check(b"1", 60)


async def test_a_timeout_that_the_time_limit_has_caused_is_the_limits() -> None:
    async def rename_the_end() -> None:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            raise TimeoutError("inner") from None

    with pytest.raises(UpstreamTimeout, match=r"No answer in 0\.01 seconds"):
        async with TimeLimit(0.01):
            await rename_the_end()
