"""What the last answers of an upstream say of it, for `/readyz`."""

import pytest

from gateway.backends.health import FAILURES, Health
from gateway.contract.upstream import Reply
from tests.unit.calls.shop import UPSTREAM


@pytest.fixture
def health() -> Health:
    return Health(UPSTREAM)


def reply(status: int) -> Reply:
    return Reply(status=status, headers={}, body=b"")


def test_one_failure_is_no_problem_and_some_in_a_row_are(health) -> None:
    for _ in range(FAILURES - 1):
        health.failed()
    assert health.problem is None
    health.answered(reply(503))
    assert "is it reachable" in (health.problem or "")
    health.answered(reply(200))
    assert health.problem is None


@pytest.mark.parametrize("status", [200, 404, 422])
def test_any_answer_of_a_working_upstream_ends_a_row_of_failures(health, status) -> None:
    for _ in range(FAILURES - 1):
        health.failed()
    health.answered(reply(status))
    health.failed()
    assert health.problem is None


def test_rejected_credentials_are_a_problem_until_they_are_taken(health) -> None:
    health.answered(reply(401))
    assert "rejected the credentials (status 401)" in (health.problem or "")
    health.answered(reply(404))
    assert health.problem is not None, "it may judge the path before the credentials"
    health.answered(reply(200))
    assert health.problem is None
