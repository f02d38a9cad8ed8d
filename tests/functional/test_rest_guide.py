"""The program of the guide to REST, against a running gateway."""

import re
import types
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from tests.functional.pasted import URL
from tests.gateway_process import REPOSITORY, running_gateway

PAGE = (REPOSITORY / "docs/call/rest.md").read_text("utf-8")
SLOW = {
    "GATEWAY_JOB_AFTER_SECONDS": "0.1",
    "GATEWAY_MOCK_LATENCY_SECONDS": "1",
    "GATEWAY_MOCK_TIME": "2026-11-20T12:00:00Z",
}
BOOKING = {
    "tee_time_id": "tt-course-001-20261201-0830",
    "date": "2026-12-01",
    "time": "08:30",
    "players": 4,
    "idempotency_key": "0b9a1b52-7c1d-4b5e-8a52-3f5d2b9d1c01",
}


@pytest.fixture(scope="module")
def caller(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """The program as a module, for a gateway in which calls take so long that they become jobs."""
    (program,) = re.findall(r"^:caption: caller.py\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    with (
        running_gateway(tmp_path_factory.mktemp("rest"), environment=SLOW) as gateway,
        pytest.MonkeyPatch.context() as patch,
    ):
        patch.setenv("GATEWAY_KEY", gateway.key)
        module = types.ModuleType("caller")
        exec(program.replace(URL, gateway.url), vars(module))  # noqa: S102 - what the page prints
        yield module


def test_a_call_that_reads_is_answered_at_once(caller: Any) -> None:
    assert caller.call("example/greet", {"name": "Ada"}) == {"greeting": "Hello, Ada!"}


def test_a_call_that_becomes_a_job_is_followed_to_its_result(caller: Any) -> None:
    booked = caller.call("golf/book_tee_time", BOOKING, **{"Idempotency-Key": "one"})
    jobs = httpx.get(f"{caller.URL}/v1/jobs", headers=caller.HEADERS).json()["items"]
    assert [each["operation"] for each in jobs] == ["golf.book_tee_time"]
    assert booked["reservation"]["date"] == BOOKING["date"]


def test_an_error_that_stays_ends_the_program_with_its_sentence(caller: Any) -> None:
    with pytest.raises(RuntimeError, match="do not match"):
        caller.call("example/greet", {})
