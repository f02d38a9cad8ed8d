"""The table of problems is complete, and what it shows is safe to show."""

import re
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from gateway import errors
from gateway.audit.log import NotBegun
from gateway.auth.principal import KeyNotChecked
from gateway.calls.asking import (
    CapabilityMissing,
    InputRequired,
    InvalidAnswer,
    NotAnswered,
    StateRefused,
)
from gateway.calls.caching.answers import NotAnnounced
from gateway.calls.effects import WrongEffect
from gateway.calls.guard import NotSent
from gateway.calls.idempotency import AnsweredBefore, CallUnderWay, KeyReused, OutcomeUnknown
from gateway.calls.jobs.owned import JobExpired, JobUnderWay, UnknownJob
from gateway.contract.values.schema import Validator
from gateway.contract.values.violation import Violation
from gateway.limits.standing import NotCounted
from gateway.transports.errors import BadFraming, ProblemKind, RequestTooSlow, ResultTooLarge
from gateway.transports.http.problem_kinds import PROBLEMS
from gateway.transports.http.problems import classify, described, problem_headers, problem_of
from gateway.webhooks.ingest import NotStored
from tests.unit.tables import each_of

VIOLATION = Violation(pointer="/name", keyword="type", detail='the value is not of type "string"')


def every_error(root: type[errors.GatewayError]) -> Iterator[type[errors.GatewayError]]:
    """`root` and all its subclasses."""
    yield root
    for child in root.__subclasses__():
        yield from every_error(child)


def test_every_error_of_a_call_has_its_own_row() -> None:
    """Errors of start-up and command line share one row: met in a call, they are defects."""
    of_calls = {
        error
        for error in every_error(errors.GatewayError)
        if error.__module__ == "gateway.errors" and not issubclass(error, errors.OperatorError)
    }
    keyed = {AnsweredBefore, CallUnderWay, KeyReused, NotBegun, OutcomeUnknown}
    of_jobs = {JobExpired, JobUnderWay, UnknownJob}
    own = {BadFraming, NotCounted, NotSent, RequestTooSlow, ResultTooLarge, WrongEffect}
    own |= keyed | of_jobs | {CapabilityMissing, KeyNotChecked, NotAnnounced}
    own |= {InputRequired, InvalidAnswer, NotAnswered, NotStored, StateRefused}
    assert set(PROBLEMS) == of_calls | own | {errors.OperatorError, errors.StoreError}


@each_of("kind", PROBLEMS.values(), ids=lambda kind: kind.slug)
def test_every_row_is_well_formed(kind: ProblemKind) -> None:
    assert 400 <= kind.status <= 599
    assert re.fullmatch(r"[A-Z]+(_[A-Z]+)*", kind.code)
    assert re.fullmatch(r"[a-z]+(-[a-z]+)*", kind.slug)
    assert kind.title
    assert kind.advice.endswith(".")


def test_a_slug_stands_for_one_status_and_one_code() -> None:
    by_slug: dict[str, set[tuple[int, str]]] = {}
    for kind in PROBLEMS.values():
        by_slug.setdefault(kind.slug, set()).add((kind.status, kind.code))
    assert {slug: len(facts) for slug, facts in by_slug.items() if len(facts) > 1} == {}


def test_a_subclass_that_is_not_in_the_table_is_shown_as_its_parent() -> None:
    class StillUnavailable(errors.UpstreamUnavailable):
        """The upstream is down for longer."""

    assert classify(StillUnavailable()) == (503, "TRANSPORT_ERROR")
    del StillUnavailable


def test_a_problem_holds_what_rfc_9457_asks_for_and_nothing_empty() -> None:
    problem = msgspec.to_builtins(problem_of(errors.InvalidArguments([VIOLATION]), "r1"))
    assert problem == {
        "type": "/problems/invalid-arguments",
        "title": "The arguments do not match the tool's input schema",
        "status": 422,
        "detail": "The arguments do not match the tool's input schema.",
        "code": "VALIDATION_ERROR",
        "request_id": "r1",
        "retryable": False,
        "errors": (msgspec.to_builtins(VIOLATION),),
    }


def test_a_declared_error_has_its_contracts_status_and_reason() -> None:
    error = errors.ToolFailed("rfp_not_found", "There is no such RFP.")
    error.status = 404
    problem = problem_of(error, "r1")
    assert (problem.status, problem.code) == classify(error) == (404, "TOOL_EXECUTION_ERROR")
    assert (problem.reason, problem.detail) == ("rfp_not_found", "There is no such RFP.")


def test_the_caller_of_an_unrecorded_write_is_informed_that_it_has_run() -> None:
    problem = problem_of(errors.NotRecorded(), "r1")
    assert (problem.status, problem.code, problem.retryable) == (500, "INTERNAL_ERROR", False)
    assert problem.detail.startswith("The call was made")


def test_a_message_that_is_certainly_not_stored_gets_a_true_problem() -> None:
    """A message is also refused before it is written, for example when too many wait."""
    problem = problem_of(NotStored(), "r1")
    assert problem.title == "The message may not have been stored"
    assert problem.detail == "The message may not have been stored: send it again."


def test_an_error_may_say_of_its_own_call_that_it_is_not_to_be_repeated() -> None:
    error = errors.UpstreamUnavailable()
    error.is_retryable = False
    assert problem_of(error, "r1").retryable is False
    assert problem_of(errors.UpstreamUnavailable(), "r1").retryable is True


@pytest.mark.parametrize(
    "error",
    [
        ValueError("hunter2"),
        errors.InternalError("hunter2"),
        errors.StoreError("/data/hunter2.db"),
        errors.ConfigurationError("hunter2"),
    ],
)
def test_nothing_of_the_gateways_inside_is_reported(error: Exception) -> None:
    problem = problem_of(error, "r1")
    assert b"hunter2" not in msgspec.json.encode(problem)
    assert problem.status >= 500
    assert problem.code == "INTERNAL_ERROR"


@each_of(
    ("error", "headers"),
    [
        (errors.LimitExceeded(retry_after_seconds=0.01), [(b"retry-after", b"1")]),
        (errors.LimitExceeded(retry_after_seconds=2.5), [(b"retry-after", b"3")]),
        (errors.UpstreamRateLimited(retry_after_seconds=9), [(b"retry-after", b"9")]),
        (errors.UpstreamRateLimited(), []),
        (NotSent(retry_after_seconds=1.5), [(b"retry-after", b"2")]),
        (errors.UpstreamUnavailable(), []),
        (errors.MethodNotAllowed(allow=("GET", "HEAD")), [(b"allow", b"GET, HEAD")]),
        (errors.PayloadTooLarge(), [(b"connection", b"close")]),
        (ValueError(), []),
    ],
)
def test_headers_say_what_http_asks_for(
    error: Exception, headers: list[tuple[bytes, bytes]]
) -> None:
    assert problem_headers(error) == headers


CONTRACT = Path(__file__).parents[4] / "schemas" / "common" / "problem.json"


def one_of_each() -> Iterator[errors.GatewayError]:
    """An instance of every error in the table."""
    for error in PROBLEMS:
        if issubclass(error, errors.ToolFailed):
            yield error("rfp_not_found")
        elif issubclass(error, errors.InvalidArguments | errors.InvalidResult):
            yield error([VIOLATION])
        elif issubclass(error, AnsweredBefore):
            yield error(described(errors.StateConflict()))
        elif issubclass(error, CapabilityMissing):
            yield error(("tasks",))
        else:
            yield error()


@each_of("error", list(one_of_each()), ids=lambda error: type(error).__name__)
def test_every_problem_is_one_by_the_contract(error: errors.GatewayError) -> None:
    gate = Validator(msgspec.json.decode(CONTRACT.read_bytes()))
    problem = msgspec.json.decode(msgspec.json.encode(problem_of(error, "r" * 64)))
    assert gate.violations(problem) == ()
