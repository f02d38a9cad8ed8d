"""From a permit to an outcome."""

import asyncio
import contextlib
import traceback
from collections.abc import Mapping
from typing import Any

import pytest
from msgspec import structs
from msgspec.structs import replace
from pydantic import BaseModel

from gateway.calls.call import CallBounds, Outcome
from gateway.calls.dispatch import Allowed
from gateway.contract.context import CallContext, CallFacts, UpstreamCall
from gateway.contract.fields.fieldmap import Unmappable
from gateway.contract.handler import take
from gateway.contract.operation import Attempts, Effect, ErrorRule, HttpBinding, PythonBinding
from gateway.contract.upstream import Reply, UpstreamRequest
from gateway.errors import (
    GatewayError,
    InternalError,
    InvalidArguments,
    InvalidResult,
    ToolFailed,
    UpstreamNotSetUp,
    UpstreamRateLimited,
    UpstreamRejected,
    UpstreamTimeout,
    UpstreamUnavailable,
)
from tests.unit.calls.dispatched import (
    FEED,
    OPEN,
    SEARCH,
    ZOO,
    Unread,
    Upstreams,
    dispatch,
    handler,
    permit_for,
)


async def test_a_python_handler_gets_the_arguments() -> None:
    async def greet(arguments: Mapping[str, Any], context: CallContext) -> dict[str, Any]:
        return {"greeting": f"Hello, {arguments['name']}!"}

    outcome = await dispatch(permit_for(handler(greet)))

    assert outcome == Outcome({"greeting": "Hello, Leo!"}, "python")


@pytest.mark.parametrize("cache_seconds", [0.0, 60.0])
async def test_a_result_that_others_get_is_not_told_who_may_escalate(cache_seconds: float) -> None:
    async def advise(arguments: Mapping[str, Any], context: CallContext) -> dict[str, Any]:
        return {"may_escalate": context.call.may_escalate}

    permit = permit_for(handler(advise))
    operation = replace(permit.entry.operation, cache_seconds=cache_seconds)
    entry = replace(permit.entry, operation=operation)
    outcome = await dispatch(replace(permit, grant=replace(permit.grant, entry=entry)))

    assert outcome.values == {"may_escalate": cache_seconds == 0}


async def test_an_upstream_reply_becomes_the_outcome_with_the_facts_of_the_call() -> None:
    outcome = await dispatch(permit_for(OPEN), Upstreams({"open": 200}))

    assert outcome.backend == "mock"
    assert outcome.values == {"from": "call-1", "at": "2026-11-20T00:00:00.000Z", "ms": 40}


async def test_the_fallback_is_tried_once_on_its_status_and_only_then() -> None:
    refused, served = Upstreams({"search": 403, "open": 200}), Upstreams({"search": 200})
    await dispatch(permit_for(SEARCH), refused)
    await dispatch(permit_for(SEARCH), served)

    assert [request.operation for request in refused.sent] == ["search", "open"]
    assert {request.departure.caller for request in refused.sent} == {"key"}
    assert [request.operation for request in served.sent] == ["search"]


@pytest.mark.parametrize(
    ("effect", "asked"), [(Effect.READ, ["search"]), (Effect.WRITE, ["search", "open"])]
)
async def test_a_fallback_that_writes_is_tried_only_in_a_call_that_writes(
    effect: Effect, asked: list[str]
) -> None:
    binding = structs.replace(SEARCH, fallback_writes=True, fallback_on=("4XX",))
    upstreams = Upstreams({"search": 403, "open": 200})
    permit = permit_for(binding, effect=effect)
    with contextlib.suppress(UpstreamNotSetUp):
        await dispatch(permit, upstreams)
    assert [request.operation for request in upstreams.sent] == asked


ESCALATED = structs.replace(SEARCH, fallback_writes=True)


@pytest.mark.parametrize("status", [503, 504])
async def test_what_only_reads_in_a_call_that_may_write_is_repeated_and_leaves_no_doubt(
    status: int,
) -> None:
    upstreams = Upstreams({"search": status})
    with pytest.raises((UpstreamUnavailable, UpstreamTimeout)) as failed:
        await dispatch(permit_for(ESCALATED, attempts=3), upstreams, effect=Effect.WRITE)
    assert [request.operation for request in upstreams.sent] == ["search"] * 3
    assert failed.value.is_retryable
    assert "may have happened" not in failed.value.detail


async def test_the_part_of_it_that_writes_is_sent_once_and_leaves_doubt() -> None:
    upstreams = Upstreams({"search": 403, "feed": 503})
    binding = structs.replace(ESCALATED, fallback=FEED)
    with pytest.raises(UpstreamUnavailable, match="may have happened") as failed:
        await dispatch(permit_for(binding, attempts=3), upstreams, effect=Effect.WRITE)
    assert [request.operation for request in upstreams.sent] == ["search", "feed"]
    assert failed.value.is_retryable is False


async def test_a_read_that_an_argument_turns_into_a_write_without_a_fallback_is_sent_once() -> None:
    upstreams = Upstreams({"feed": 503})
    with pytest.raises(UpstreamUnavailable, match="may have happened"):
        await dispatch(permit_for(FEED, attempts=3), upstreams, effect=Effect.WRITE)
    assert len(upstreams.sent) == 1


SOFT = structs.replace(ZOO, soft_errors="/errors")


@pytest.mark.parametrize(
    ("code", "error", "detail"),
    [
        ("ASLEEP", ToolFailed, "It sleeps."),
        ("LOST", UpstreamRejected, "The upstream reported an error: LOST."),
    ],
)
@pytest.mark.parametrize("effect", Effect)
async def test_an_error_under_a_success_may_leave_something_behind_where_the_call_writes(
    effect: Effect, code: str, error: type[GatewayError], detail: str
) -> None:
    """Avinode stores what it can, and says under status 200 what of it is not valid."""
    body = {"errors": [{"code": code}]}
    binding = structs.replace(FEED, errors={"ASLEEP": ErrorRule(reason="asleep")})
    upstreams = Upstreams({"feed": 200}, body=body)
    with pytest.raises(error) as failed:
        await dispatch(permit_for(binding, effect=effect), upstreams, upstream=SOFT)
    assert failed.value.detail.startswith(detail)
    assert failed.value.is_retryable is False
    assert ("check before you repeat" in failed.value.detail) is (effect is not Effect.READ)


async def test_a_handlers_own_timeout_is_not_the_tools_time_limit() -> None:
    async def give_up(arguments: Mapping[str, Any], context: CallContext) -> dict[str, Any]:
        raise TimeoutError("inner")

    with pytest.raises(TimeoutError, match="inner"):
        await dispatch(permit_for(handler(give_up)))


async def test_a_call_ends_with_its_timeout() -> None:
    async def sleep_for_ever(arguments: Mapping[str, Any], context: CallContext) -> dict[str, Any]:
        await asyncio.Event().wait()
        return {}

    with pytest.raises(UpstreamTimeout, match=r"No answer in 0\.01 seconds"):
        await dispatch(permit_for(handler(sleep_for_ever), timeout_seconds=0.01))


@pytest.mark.parametrize(
    ("asked", "allowed"),
    [
        (CallBounds(), (3, 1.0)),
        (CallBounds(timeout_seconds=0.25), (3, 0.25)),
        (CallBounds(timeout_seconds=60.0), (3, 1.0)),
        (CallBounds(max_attempts=1), (1, 1.0)),
        (CallBounds(max_attempts=9), (3, 1.0)),
    ],
)
def test_a_caller_can_lower_what_the_contract_allows_and_not_raise_it(
    asked: CallBounds, allowed: tuple[int, float]
) -> None:
    operation = replace(permit_for(OPEN).entry.operation, attempts=Attempts(max=3))
    found = Allowed.of(operation, asked)
    assert (found.attempts.max, found.timeout_seconds) == allowed


@pytest.mark.parametrize(
    ("effect", "failure", "is_retryable"),
    [
        (Effect.READ, UpstreamTimeout("Late."), True),
        (Effect.READ, UpstreamUnavailable("Broke."), True),
        (Effect.WRITE, UpstreamTimeout("Late."), False),
        (Effect.WRITE, UpstreamUnavailable("Broke."), False),
        (Effect.DESTROY, UpstreamUnavailable("Broke."), False),
        (Effect.WRITE, UpstreamUnavailable("Refused.", is_sent=False), True),
        (Effect.WRITE, UpstreamRateLimited(retry_after_seconds=3), True),
    ],
)
async def test_only_what_has_surely_not_happened_may_be_repeated(
    effect: Effect, failure: GatewayError, is_retryable: bool
) -> None:
    with pytest.raises(type(failure)) as failed:
        await dispatch(permit_for(OPEN, effect=effect), Upstreams({}, failure))

    assert failed.value.is_retryable is is_retryable
    assert failed.value.detail.startswith(failure.detail)
    assert ("may have happened" in failed.value.detail) is not is_retryable


@pytest.mark.parametrize(("status", "is_retryable"), [(429, True), (503, False), (504, False)])
async def test_a_write_that_upstream_answers_with_its_own_failure_may_have_happened(
    status: int, is_retryable: bool
) -> None:
    with pytest.raises(GatewayError) as failed:
        await dispatch(permit_for(OPEN, effect=Effect.WRITE), Upstreams({"open": status}))

    assert failed.value.is_retryable is is_retryable


async def test_a_write_that_is_rejected_has_not_happened() -> None:
    with pytest.raises(UpstreamRejected) as failed:
        await dispatch(permit_for(OPEN, effect=Effect.WRITE), Upstreams({"open": 400}))

    assert failed.value.detail == "The upstream answered 400."


@pytest.mark.parametrize(("stands_in", "is_retryable"), [(False, True), (True, False)])
async def test_what_a_handler_does_in_the_workspace_may_have_happened(
    stands_in: bool, is_retryable: bool
) -> None:
    """Requests are accounted for one by one; what is done in the workspace, nobody else sees."""

    async def fail(arguments: Mapping[str, Any], context: CallContext) -> dict[str, Any]:
        raise UpstreamUnavailable("Broke.")

    bound = PythonBinding(run=fail, upstreams=("zoo",))
    with pytest.raises(UpstreamUnavailable) as failed:
        await dispatch(
            permit_for(bound, effect=Effect.WRITE), tables=Unread() if stands_in else None
        )

    assert failed.value.is_retryable is is_retryable


async def test_a_write_that_runs_out_of_time_may_have_happened() -> None:
    async def sleep_for_ever(arguments: Mapping[str, Any], context: CallContext) -> dict[str, Any]:
        await asyncio.Event().wait()
        return {}

    with pytest.raises(UpstreamTimeout, match="may have happened") as failed:
        await dispatch(permit_for(handler(sleep_for_ever), 0.01, Effect.WRITE))

    assert failed.value.is_retryable is False


@pytest.mark.parametrize(
    ("explanation", "detail"), [(None, "It sleeps."), ("Leo sleeps.", "Leo sleeps.")]
)
async def test_a_declared_error_gets_its_status_from_the_contract(
    explanation: str | None, detail: str
) -> None:
    async def fail(arguments: Mapping[str, Any], context: CallContext) -> dict[str, Any]:
        raise ToolFailed("asleep", explanation)

    with pytest.raises(ToolFailed) as failed:
        await dispatch(permit_for(handler(fail)))

    assert (failed.value.reason, failed.value.status, failed.value.detail) == (
        "asleep",
        409,
        detail,
    )


async def test_an_undeclared_error_is_a_defect_and_not_shown_as_promised() -> None:
    async def fail(arguments: Mapping[str, Any], context: CallContext) -> dict[str, Any]:
        raise ToolFailed("hungry")

    with pytest.raises(InternalError):
        await dispatch(permit_for(handler(fail)))


async def test_what_the_handlers_model_refuses_is_invalid_and_no_value_is_reported() -> None:
    class Weight(BaseModel):
        kilograms: int

    async def weigh(arguments: Mapping[str, Any], context: CallContext) -> dict[str, Any]:
        return Weight.model_validate({"kilograms": "secret of the vendor"}).model_dump()

    with pytest.raises(InvalidResult) as failed:
        await dispatch(permit_for(handler(weigh)))

    [violation] = failed.value.violations
    assert violation.pointer == "/kilograms"
    reported = "".join(traceback.format_exception(failed.value))
    assert "secret of the vendor" not in reported


async def test_arguments_that_the_handlers_model_refuses_are_no_error_of_the_result() -> None:
    class Weight(BaseModel):
        kilograms: int

    async def weigh(arguments: Mapping[str, Any], context: CallContext) -> dict[str, Any]:
        return take(Weight, {"kilograms": "secret of the caller"}).model_dump()

    with pytest.raises(InvalidArguments) as failed:
        await dispatch(permit_for(handler(weigh)))

    [violation] = failed.value.violations
    assert violation.pointer == "/kilograms"
    reported = "".join(traceback.format_exception(failed.value))
    assert "secret of the caller" not in reported


async def test_arguments_that_no_request_can_carry_are_invalid_and_nothing_is_sent() -> None:
    def refuse(arguments: Any, call: CallFacts) -> UpstreamRequest:
        raise Unmappable("/name", "is no path segment")

    backend = Upstreams({})
    bound = HttpBinding(upstream="zoo", upstream_operation="open", request=refuse, results={})

    with pytest.raises(InvalidArguments) as invalid:
        await dispatch(permit_for(bound), backend)

    assert invalid.value.violations[0].pointer == "/name"
    assert backend.sent == []


class TwoSteps(Upstreams):
    """A backend that answers the first request and fails at the second."""

    problem = None

    async def send(
        self, request: UpstreamRequest, *, timeout_seconds: float, is_cut_short: bool = False
    ) -> Reply:
        self.sent.append(request)
        if len(self.sent) == 2 and self.failure is not None:
            raise self.failure
        headers = {"content-type": "application/json"}
        status = 200 if len(self.sent) == 1 else self.statuses[request.operation]
        return Reply(status=status, headers=headers, body=b"{}")


@pytest.mark.parametrize(
    ("status", "failure"),
    [
        (200, UpstreamUnavailable("Refused.", is_sent=False)),
        (200, UpstreamTimeout("Late.")),
        (429, None),
        (503, None),
    ],
)
async def test_what_the_first_request_has_done_makes_the_failure_of_the_second_final(
    status: int, failure: GatewayError | None
) -> None:
    """Repeating the call would do the first part again, however the second one failed."""

    async def act_and_look(arguments: Mapping[str, Any], context: CallContext) -> dict[str, Any]:
        await context.send(UpstreamCall("zoo", "feed"))
        await context.send(UpstreamCall("zoo", "open"))
        return {}

    binding = PythonBinding(run=act_and_look, upstreams=("zoo",))
    with pytest.raises(GatewayError) as failed:
        await dispatch(
            permit_for(binding, effect=Effect.WRITE), TwoSteps({"open": status}, failure)
        )

    assert failed.value.is_retryable is False
    assert "may have happened" in failed.value.detail
