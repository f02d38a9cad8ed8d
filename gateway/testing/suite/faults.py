"""Every tool against every way in which its upstream can fail, over HTTP.

Each ends in the right kind of problem, never in a success and never in a wait without end.
"""

from typing import Any, Final

import pytest
from msgspec import Struct

from gateway.backends.base import ReplyTooLarge
from gateway.calls.call import Result
from gateway.catalogue import Entry
from gateway.errors import (
    GatewayError,
    InvalidReply,
    ToolFailed,
    UpstreamNotSetUp,
    UpstreamRateLimited,
    UpstreamRefusedCredentials,
    UpstreamRejected,
    UpstreamTimeout,
    UpstreamUnavailable,
)
from gateway.testing.cases import callable_alone, first_example, upstream_of
from gateway.testing.fixtures import Answers, Loop
from gateway.testing.judging import breaks_contract
from gateway.testing.live import (
    CALL_SECONDS,
    CANARY,
    Fault,
    LiveGateway,
    answering,
    cut,
    flood,
    silence,
)
from gateway.transports.http.problems import problem_of

__all__ = [
    "test_a_fault_of_the_upstream_is_the_right_problem",
    "test_a_refused_token_is_renewed_once_and_no_more",
    "test_no_upstream_can_hold_or_flood_a_call",
]


class Failing(Struct, frozen=True):
    """A fault and what it must become: this error, or one that the tool's contract declares."""

    fault: Fault
    error: type[GatewayError]
    may_be_declared: bool = False


CASES: Final = {
    "400": Failing(answering(400), UpstreamRejected, True),
    "401": Failing(answering(401), UpstreamRefusedCredentials),
    "403": Failing(answering(403), UpstreamNotSetUp, True),
    "404": Failing(answering(404), UpstreamRejected, True),
    "409": Failing(answering(409), UpstreamRejected, True),
    "422": Failing(answering(422), UpstreamRejected, True),
    "429": Failing(answering(429), UpstreamRateLimited),
    "429 with Retry-After": Failing(answering(429, retry_after="60"), UpstreamRateLimited),
    "500": Failing(answering(500), UpstreamUnavailable),
    "503": Failing(answering(503, b"<html>", "text/html"), UpstreamUnavailable),
    "504": Failing(answering(504), UpstreamTimeout),
    "redirect": Failing(answering(302, location="https://example.com/"), InvalidReply),
    "truncated JSON": Failing(answering(200, b'{"data": ['), InvalidReply),
    "no JSON": Failing(answering(200, b"<html></html>", "text/html"), InvalidReply),
    "wrong schema": Failing(answering(200, b'"not what was promised"'), InvalidReply),
    "unknown success": Failing(answering(299, b"{}"), InvalidReply),
    "connection cut": Failing(cut, UpstreamUnavailable),
}
SLOW_CASES: Final = {
    "silence": Failing(silence, UpstreamTimeout),
    "200 MB": Failing(flood, ReplyTooLarge),
}


async def outcome(live: LiveGateway, tool: str, fault: Fault | None) -> Result | Exception:
    """What a call with the first example ends with while its upstream commits `fault`."""
    arguments = first_example(live.catalogue, live.catalogue.find(tool))
    return await live.outcome(tool, arguments, fault=fault)


def defect(
    live: LiveGateway, tool: str, case: Failing, found: Result | Exception, *, may_answer: bool
) -> str | None:
    """Why an outcome is not the right one, or None. `may_answer`: the tool may do without."""
    entry = live.catalogue.find(tool)
    if isinstance(found, Result):
        if not may_answer:
            return "the upstream failed, and the tool answered"
        return breaks_contract(live.catalogue, entry, found.values)
    if entry.operation.is_imported:
        may_be_declared = case.error is UpstreamRejected
    else:
        may_be_declared = case.may_be_declared or may_answer
    if isinstance(found, ToolFailed) and may_be_declared:
        is_right = found.reason in {each.reason for each in entry.operation.errors}
    else:
        is_right = type(found) is _expected(live, entry, case)
    if not isinstance(found, GatewayError) or not is_right:
        return repr(found)
    is_secret = CANARY in str(problem_of(found, "request-1")) or CANARY in repr(found.__context__)
    return "it shows a secret" if is_secret else None


def _expected(live: LiveGateway, entry: Entry, case: Failing) -> type[GatewayError]:
    """The error of `case`. An upstream that says what its errors look like sends no other ones."""
    upstream = live.catalogue.upstreams[entry.operation.upstream or ""]
    is_refusal = case.error in {UpstreamRejected, UpstreamRefusedCredentials}
    return UpstreamNotSetUp if upstream.errors_at and is_refusal else case.error


@pytest.mark.parametrize("case", CASES)
def test_a_fault_of_the_upstream_is_the_right_problem(
    gateway_loop: Loop,
    gateway_live: LiveGateway,
    gateway_may_answer: Answers,
    gateway_upstream_operation: str,
    case: str,
) -> None:
    tool, live = gateway_upstream_operation, gateway_live
    may_answer = gateway_may_answer(tool, case)

    found = gateway_loop.run_until_complete(outcome(live, tool, CASES[case].fault))

    assert defect(live, tool, CASES[case], found, may_answer=may_answer) is None
    assert live.upstreams.seen or may_answer
    if CASES[case].error is not UpstreamRefusedCredentials:
        assert not _is_renewed(live), "only 401 says that a token is refused"


@pytest.mark.parametrize("case", SLOW_CASES)
def test_no_upstream_can_hold_or_flood_a_call(
    gateway_loop: Loop,
    gateway_live: LiveGateway,
    gateway_may_answer: Answers,
    gateway_upstream: str,
    case: str,
) -> None:
    """One tool of each upstream, if possible one that needs it."""
    entries = callable_alone(gateway_live.catalogue)
    tools = [each.id for each in entries if upstream_of(each) == gateway_upstream]
    tool = min(reversed(tools), key=lambda each: gateway_may_answer(each, case))
    fault = SLOW_CASES[case].fault
    if fault is silence:
        fault = _waited_for(gateway_loop, silence)

    found = gateway_loop.run_until_complete(outcome(gateway_live, tool, fault))

    may_answer = gateway_may_answer(tool, case)
    assert defect(gateway_live, tool, SLOW_CASES[case], found, may_answer=may_answer) is None


def test_a_refused_token_is_renewed_once_and_no_more(
    gateway_loop: Loop,
    gateway_live: LiveGateway,
    gateway_may_answer: Answers,
    gateway_upstream_operation: str,
) -> None:
    """A tool that may do without its upstream may send other requests after the first one."""
    live, tool = gateway_live, gateway_upstream_operation
    gateway_loop.run_until_complete(outcome(live, tool, answering(401)))

    name = upstream_of(live.catalogue.find(tool)) or ""
    has_tokens = bool(live.catalogue.upstreams[name].tokens)
    asked = [seen for seen in live.upstreams.seen if not seen.is_token]
    expected = 2 if has_tokens else 1
    assert len(asked) % expected == 0
    assert len(asked) == expected or gateway_may_answer(tool, "401")
    assert any(seen.is_token for seen in live.upstreams.seen) is (has_tokens and bool(asked))


def _is_renewed(live: LiveGateway) -> bool:
    """Whether a token was asked for after the upstream had been."""
    asked = [seen.is_token for seen in live.upstreams.seen]
    return False in asked and True in asked[asked.index(False) :]


def _waited_for(loop: Loop, fault: Fault) -> Fault:
    """`fault`, when the call has waited as long as it may: `loop` puts its time forward."""

    async def at_the_end(receive: Any, send: Any) -> None:
        now = loop.time
        loop.time = lambda: now() + CALL_SECONDS  # type: ignore[method-assign]  # its timers follow it
        await fault(receive, send)

    return at_the_end
