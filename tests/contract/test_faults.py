"""What only the tools of this catalogue do when their upstreams fail."""

from typing import Final

import msgspec
import pytest
from msgspec import Struct

from gateway.calls.call import Result
from gateway.errors import (
    GatewayError,
    UpstreamNotSetUp,
    UpstreamRateLimited,
    UpstreamUnavailable,
)
from gateway.testing.live import answering
from gateway.testing.suite.faults import *  # noqa: F403 - each module lists its tests
from gateway.testing.suite.faults import CASES, SLOW_CASES, defect, outcome
from tests.contract.conftest import FALLBACKS


@pytest.mark.parametrize("case", [*CASES, "200 MB"])
@pytest.mark.parametrize("tool", FALLBACKS)
def test_a_tool_that_has_a_fallback_says_when_it_uses_it(
    gateway_loop, gateway_live, tool, case
) -> None:
    member, value = FALLBACKS[tool]
    fault = (CASES | SLOW_CASES)[case].fault

    result = gateway_loop.run_until_complete(outcome(gateway_live, tool, fault))

    assert isinstance(result, Result)
    assert result.values[member] == value
    assert gateway_live.catalogue.find(tool).output.violations(result.values) == ()
    assert gateway_live.upstreams.seen


def test_an_answer_without_the_upstream_is_noticed(gateway_loop, gateway_live) -> None:
    """Where nothing failed, a tool answers: what the suite refuses if it thinks that all failed."""
    tool, case = "gmail.get_email", CASES["500"]
    answered = gateway_loop.run_until_complete(outcome(gateway_live, tool, None))

    assert isinstance(answered, Result)
    found = defect(gateway_live, tool, case, answered, may_answer=False)
    assert found == "the upstream failed, and the tool answered"


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
        UpstreamNotSetUp,
        False,
    ),
    Refusal(
        "sheets.read_sheet", 403, google("", "userRateLimitExceeded"), UpstreamRateLimited, True
    ),
    Refusal(
        "sheets.read_sheet",
        403,
        google("PERMISSION_DENIED", "forbidden"),
        UpstreamNotSetUp,
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
    Refusal("supabase.query", 500, {"code": "42P17"}, UpstreamNotSetUp, False),
    Refusal("ntfy.send_push_notification", 429, {"code": 42908}, UpstreamRateLimited, False),
)


@pytest.mark.parametrize("refusal", REFUSALS, ids=lambda each: f"{each.tool}-{each.status}")
def test_what_a_vendor_means_decides_and_not_its_status(
    gateway_loop, gateway_live, refusal: Refusal
) -> None:
    fault = answering(refusal.status, msgspec.json.encode(refusal.body))
    error = gateway_loop.run_until_complete(outcome(gateway_live, refusal.tool, fault))

    asked = [seen for seen in gateway_live.upstreams.seen if not seen.is_token]
    attempts = gateway_live.catalogue.find(refusal.tool).operation.attempts.max
    assert type(error) is refusal.error
    assert isinstance(error, GatewayError)
    assert error.is_retryable is refusal.is_passing
    assert len(asked) == (attempts if refusal.is_passing else 1)
