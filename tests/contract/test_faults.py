"""Every tool against every way in which its upstream can fail, over HTTP.

Each ends in the right kind of problem, never in a success and never in a wait without end.
"""

import asyncio
from collections.abc import Iterator
from typing import Final

import msgspec
import pytest
from msgspec import Struct

from gateway.catalogue import open_catalogue
from gateway.contract.connector import HANDLER_PACKAGES
from gateway.errors import (
    GatewayError,
    InvalidReply,
    ToolFailed,
    UpstreamRateLimited,
    UpstreamRefusedCredentials,
    UpstreamRejected,
    UpstreamTimeout,
    UpstreamUnavailable,
)
from gateway.transports.http.problems import problem_of
from tests.contract.faulty import (
    CANARY,
    Fault,
    LiveGateway,
    answering,
    cut,
    first_example,
    flood,
    open_live,
    silence,
    upstream_of,
)


class Case(Struct, frozen=True):
    """A fault and what it must become: this error, or one that the tool's contract declares."""

    fault: Fault
    error: type[GatewayError]
    may_be_declared: bool = False


CASES: Final = {
    "400": Case(answering(400), UpstreamRejected, True),
    "401": Case(answering(401), UpstreamRefusedCredentials),
    "403": Case(answering(403), UpstreamRefusedCredentials, True),
    "404": Case(answering(404), UpstreamRejected, True),
    "409": Case(answering(409), UpstreamRejected, True),
    "422": Case(answering(422), UpstreamRejected, True),
    "429": Case(answering(429), UpstreamRateLimited),
    "429 with Retry-After": Case(answering(429, retry_after="60"), UpstreamRateLimited),
    "500": Case(answering(500), UpstreamUnavailable),
    "503": Case(answering(503, b"<html>", "text/html"), UpstreamUnavailable),
    "504": Case(answering(504), UpstreamTimeout),
    "redirect": Case(answering(302, location="https://example.com/"), UpstreamRejected),
    "truncated JSON": Case(answering(200, b'{"data": ['), InvalidReply),
    "no JSON": Case(answering(200, b"<html></html>", "text/html"), InvalidReply),
    "wrong schema": Case(answering(200, b'"not what was promised"'), InvalidReply),
    "unknown success": Case(answering(299, b"{}"), InvalidReply),
    "connection cut": Case(cut, UpstreamUnavailable),
}
SLOW_CASES: Final = {
    "silence": Case(silence, UpstreamTimeout),
    "200 MB": Case(flood, UpstreamRejected),
}
ENTRIES: Final = {
    entry.id: entry
    for entry in open_catalogue("generated", HANDLER_PACKAGES).entries
    if upstream_of(entry)
}
FALLBACKS: Final = {"frankfurter.convert_currency": ("rate_source", "fallback")}
"""Tools that answer without their upstream, and the member of the result that says so."""
FAILING: Final = [tool for tool in ENTRIES if tool not in FALLBACKS]
ADMITTED: Final = {("avinode.search_flights", "403")}
"""What is an answer and no failure: a search that the account may not run finds nothing, and says
so (tests/unit/connectors/avinode/test_tools.py)."""
ONE_OF_EACH: Final = {upstream_of(ENTRIES[tool]): tool for tool in FAILING}


@pytest.fixture(scope="module")
def live(
    loop: asyncio.AbstractEventLoop, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[LiveGateway]:
    opening = open_live(tmp_path_factory.mktemp("live"))
    yield loop.run_until_complete(opening.__aenter__())
    loop.run_until_complete(opening.__aexit__(None, None, None))


async def failure(
    live: LiveGateway, tool: str, fault: Fault, timeout_seconds: float = 20.0
) -> GatewayError:
    """The error of a call while its upstream commits `fault`."""
    entry = ENTRIES[tool]
    live.upstreams.fault = fault
    live.upstreams.seen.clear()
    try:
        with pytest.raises(GatewayError) as failed:
            await live.call(
                entry, first_example(live.catalogue, entry), timeout_seconds=timeout_seconds
            )
    finally:
        live.upstreams.fault = None
    return failed.value


def check(error: GatewayError, case: Case, tool: str) -> None:
    if case.may_be_declared and isinstance(error, ToolFailed):
        declared = {each.reason for each in ENTRIES[tool].operation.errors}
        assert error.reason in declared
    else:
        assert type(error) is case.error
    assert CANARY not in str(problem_of(error, "request-1"))
    assert CANARY not in repr(error.__context__)


@pytest.mark.parametrize(
    ("tool", "case"),
    [(tool, case) for tool in FAILING for case in CASES if (tool, case) not in ADMITTED],
)
def test_a_fault_of_the_upstream_is_the_right_problem(loop, live, tool, case) -> None:
    error = loop.run_until_complete(failure(live, tool, CASES[case].fault))

    check(error, CASES[case], tool)
    assert live.upstreams.seen


@pytest.mark.parametrize("case", SLOW_CASES)
@pytest.mark.parametrize("tool", ONE_OF_EACH.values())
def test_no_upstream_can_hold_or_flood_a_call(loop, live, tool, case) -> None:
    seconds = 0.3 if case == "silence" else 20.0
    error = loop.run_until_complete(failure(live, tool, SLOW_CASES[case].fault, seconds))

    check(error, SLOW_CASES[case], tool)


@pytest.mark.parametrize("case", [*CASES, "200 MB"])
@pytest.mark.parametrize("tool", FALLBACKS)
def test_a_tool_that_has_a_fallback_says_when_it_uses_it(loop, live, tool, case) -> None:
    entry, (member, value) = ENTRIES[tool], FALLBACKS[tool]
    live.forget()
    live.upstreams.seen.clear()
    live.upstreams.fault = (CASES | SLOW_CASES)[case].fault
    try:
        called = live.call(entry, first_example(live.catalogue, entry))
        result = loop.run_until_complete(called)
    finally:
        live.upstreams.fault = None

    assert result.values[member] == value
    assert entry.output.violations(result.values) == ()
    assert live.upstreams.seen


@pytest.mark.parametrize("tool", FAILING)
def test_a_refused_token_is_renewed_once_and_no_more(loop, live, tool) -> None:
    loop.run_until_complete(failure(live, tool, answering(401)))

    name = upstream_of(ENTRIES[tool])
    has_tokens = bool(live.catalogue.upstreams[name].tokens)
    asked = [seen for seen in live.upstreams.seen if not seen.is_token]
    assert len(asked) == (2 if has_tokens else 1)
    assert any(seen.is_token for seen in live.upstreams.seen) is has_tokens


class Refusal(Struct, frozen=True):
    """An error as its vendor words it: what it must become, and whether a read tries it again."""

    tool: str
    status: int
    body: object
    error: type[GatewayError]
    is_passing: bool


def google(status: str, reason: str) -> object:
    return {"error": {"code": 403, "status": status, "errors": [{"reason": reason}]}}


REFUSALS: Final = (
    Refusal("gmail.get_email", 403, google("", "rateLimitExceeded"), UpstreamRateLimited, True),
    Refusal("gmail.get_email", 403, google("", "dailyLimitExceeded"), UpstreamRateLimited, False),
    Refusal(
        "gmail.get_email",
        403,
        google("PERMISSION_DENIED", "insufficientPermissions"),
        UpstreamRefusedCredentials,
        False,
    ),
    Refusal(
        "sheets.read_sheet", 403, google("", "userRateLimitExceeded"), UpstreamRateLimited, True
    ),
    Refusal(
        "sheets.read_sheet",
        403,
        google("PERMISSION_DENIED", "forbidden"),
        UpstreamRefusedCredentials,
        False,
    ),
    Refusal(
        "amadeus.get_airport_code",
        429,
        {"errors": [{"status": 429, "code": 38194}]},
        UpstreamRateLimited,
        True,
    ),
    Refusal(
        "amadeus.get_airport_code",
        429,
        {"errors": [{"status": "429", "code": "38195"}]},
        UpstreamRateLimited,
        False,
    ),
    Refusal("supabase.query", 500, {"code": "40001"}, UpstreamUnavailable, True),
    Refusal("supabase.query", 500, {"code": "42P17"}, UpstreamRejected, False),
    Refusal("ntfy.send_push_notification", 429, {"code": 42908}, UpstreamRateLimited, False),
)


@pytest.mark.parametrize("refusal", REFUSALS, ids=lambda each: f"{each.tool}-{each.status}")
def test_what_a_vendor_means_decides_and_not_its_status(loop, live, refusal: Refusal) -> None:
    fault = answering(refusal.status, msgspec.json.encode(refusal.body))
    error = loop.run_until_complete(failure(live, refusal.tool, fault))

    asked = [seen for seen in live.upstreams.seen if not seen.is_token]
    attempts = ENTRIES[refusal.tool].operation.attempts.max
    assert type(error) is refusal.error
    assert error.is_retryable is refusal.is_passing
    assert len(asked) == (attempts if refusal.is_passing else 1)
