"""The live backends against independent fakes of the vendors: `python -m tests.fakes` prints it."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime

import pytest

from gateway.catalogue import open_catalogue
from gateway.contract.connector import HANDLER_PACKAGES
from gateway.errors import InvalidReply, UpstreamNotSetUp
from gateway.transports.http.problems import log_failure, problem_of
from tests.fakes.avinode import AvinodeFake
from tests.fakes.cases import CASES, Case
from tests.fakes.google import GmailFake
from tests.fakes.postgrest import error
from tests.fakes.trial import Trial, open_trial
from tests.fakes.wire import Answer, Asked

OUT_OF_REACH = {("frankfurter.convert_currency", "rates_unavailable")}
"""No answer of a vendor brings it about: the fixed rates must be old."""
PAGE = Answer(404, b"<!DOCTYPE html><title>Error 404 (Not Found)!!1</title>")
LOGIN = Answer(200, b"<!DOCTYPE html><form action=/login></form>")
GATEWAY = Answer(404, {"message": "no Route matched with those values"})
DENIED = Answer(403, {"error": "access_denied", "error_description": "IP is not on the list"})


@pytest.fixture
async def trial(tmp_path) -> AsyncIterator[Trial]:  # type: ignore[no-untyped-def]  # of pytest
    async with open_trial(tmp_path) as found:
        yield found


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.tool)
async def test_requests_are_exact_replies_are_mapped_and_errors_are_useful(
    trial: Trial, case: Case
) -> None:
    found = await trial.of(case)

    assert found.request == ()
    assert found.reply == ""
    assert {way: wrong for way, wrong in found.errors.items() if wrong} == {}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.tool)
async def test_what_is_not_the_vendors_is_told_to_the_operator(trial: Trial, case: Case) -> None:
    """A page, a login, another gateway and a proxy in the vendor's place: one clear error."""
    for foreign, kind in (
        (PAGE, UpstreamNotSetUp),
        (GATEWAY, UpstreamNotSetUp),
        (DENIED, UpstreamNotSetUp),
        (LOGIN, InvalidReply),
    ):
        found = await trial.at_another(case, foreign)

        if case.tool == "frankfurter.convert_currency":
            assert found["rate_source"] == "fallback"
        else:
            assert type(found) is kind, found


INSERT = next(case for case in CASES if case.tool == "supabase.insert")
NO_TABLE = "Could not find the table 'public.iso_workflows' in the schema cache"


@pytest.mark.parametrize(
    ("status", "code", "is_repeatable"),
    [(500, "57014", True), (500, "40001", True), (504, "PGRST003", True), (503, "08006", False)],
)
async def test_a_write_that_was_rolled_back_may_be_repeated(
    trial: Trial, status: int, code: str, is_repeatable: bool
) -> None:
    found = await trial.at_another(INSERT, error(status, code, "canceling statement"))

    problem = problem_of(found, "request-1")
    assert problem.retryable is is_repeatable
    assert ("may have happened" in problem.detail) is not is_repeatable


async def test_the_vendors_reason_and_the_fix_reach_the_caller_and_the_log(
    trial: Trial, caplog: pytest.LogCaptureFixture
) -> None:
    found = await trial.at_another(INSERT, error(404, "PGRST205", NO_TABLE))
    with caplog.at_level("WARNING"):
        log_failure(found, "request-1")

    problem = problem_of(found, "request-1")
    for said in (problem.detail, caplog.text):
        assert "PGRST205" in said
        assert "Run tables.sql" in said
        assert NO_TABLE in said


def test_every_tool_with_an_upstream_and_each_of_its_errors_has_a_case() -> None:
    entries = open_catalogue("generated", HANDLER_PACKAGES).entries
    wanted = {
        (each.id, error.reason)
        for each in entries
        if each.operation.upstreams
        for error in each.operation.errors
    }
    tried = {(case.tool, each.reason) for case in CASES for each in case.errors}

    assert {e.id for e in entries if e.operation.upstreams} == {case.tool for case in CASES}
    assert wanted - tried == OUT_OF_REACH


def test_the_fakes_object_to_what_the_vendors_do_not_document() -> None:
    """What cannot find a fault shows nothing."""
    avinode, gmail = AvinodeFake(), GmailFake()
    late = datetime(2020, 1, 1, tzinfo=UTC).isoformat()
    avinode.serve(asked("GET", "/api/rfqs/1", {"x-avinode-senttimestamp": late}, fields="all"))
    gmail.serve(asked("GET", "/gmail/v1/users/me/messages/1", {}, format="text"))

    assert {"X-Avinode-ApiToken", "Authorization", "{'all'}"} <= set(avinode.wrong)
    assert "X-Avinode-SentTimestamp is not now" in avinode.wrong
    assert gmail.wrong == ["the access token", "format=text"]


def asked(method: str, path: str, headers: dict[str, str], **query: str) -> Asked:
    pairs = tuple(query.items())
    return Asked(method=method, path=path, raw_path=path, query=pairs, headers=headers, body=b"")
