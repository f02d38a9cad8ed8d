"""Clocks, amounts and places as they are written."""

from datetime import UTC, datetime, timedelta, timezone

import msgspec
import pytest

from gateway import installed
from gateway.amounts import amount, in_seconds
from gateway.clock import MockClock
from gateway.contract.fields.conversion import rfc3339
from gateway.contract.values.files import shown_type
from gateway.installed import Origin, install_command, origin_of, requirement
from tests.clocks import ManualClock
from tests.gateway_process import REPOSITORY


def test_one_is_singular() -> None:
    assert [amount(each, "tool") for each in (0, 1, 2, 1049)] == [
        "0 tools",
        "1 tool",
        "2 tools",
        "1,049 tools",
    ]


@pytest.mark.parametrize(
    ("number", "shown"),
    [
        (29.9999, "30 seconds"),
        (0.99999, "1 second"),
        (1, "1 second"),
        (0.05, "0.05 seconds"),
        (0.0499999, "0.05 seconds"),
        (1.5, "1.5 seconds"),
        (600.0, "600 seconds"),
        (2_678_400, "2678400 seconds"),
    ],
)
def test_what_a_clock_has_taken_is_not_shown(number: float, shown: str) -> None:
    assert in_seconds(number) == shown


@pytest.mark.parametrize(
    ("header", "shown"),
    [
        ("text/html; charset=utf-8", "text/html"),
        (" Application/X-Thing ", "application/x-thing"),
        ("", "no media type"),
        (";charset=utf-8", "no media type"),
        ("text", "a malformed media type"),
        ("text/<b>\x1b[0m", "a malformed media type"),
        ("text/" + "x" * 100, "a malformed media type"),
    ],
)
def test_the_media_type_that_came_is_named_if_it_is_one(header: str, shown: str) -> None:
    assert shown_type(header) == shown


def test_the_time_of_mocks_is_the_time_of_the_gateway() -> None:
    """Also when somebody sets the machine's clock: no mock may be ahead of the gateway."""
    own = ManualClock()
    mocked = MockClock(own)
    own.advance(7200)
    assert mocked.now() == own.now()
    assert mocked.monotonic() == own.monotonic()
    own.moment -= timedelta(hours=1)
    assert mocked.now() == own.now()


def test_the_time_of_mocks_can_begin_elsewhere_and_passes_as_fast() -> None:
    own = ManualClock()
    start = datetime(2030, 1, 1, 2, tzinfo=timezone(timedelta(hours=2)))
    mocked = MockClock(own, start)
    own.advance(60)
    assert mocked.now() == datetime(2030, 1, 1, 0, 1, tzinfo=UTC)


def test_the_time_of_mocks_can_stand_still() -> None:
    own = ManualClock()
    start = datetime(2030, 1, 1, 2, tzinfo=timezone(timedelta(hours=2)))
    still = MockClock(own, start, is_still=True)

    own.advance(1000)

    assert still.now() == datetime(2030, 1, 1, tzinfo=UTC)
    assert still.monotonic() == 1000


def test_a_moment_is_written_in_utc_with_milliseconds() -> None:
    east = timezone(timedelta(hours=2))

    assert (
        rfc3339(datetime(2026, 11, 20, 14, 30, 0, 1500, tzinfo=east)) == "2026-11-20T12:30:00.001Z"
    )
    assert rfc3339(datetime(985, 1, 2, tzinfo=UTC)) == "0985-01-02T00:00:00.000Z"


GIT = {"url": "https://x.example/g", "vcs_info": {"vcs": "git", "commit_id": "0a"}}


@pytest.mark.parametrize(
    ("recorded", "reference", "is_here_only"),
    [
        ({"url": "file:///g", "dir_info": {"editable": True}}, "file:///g", True),
        (
            {"url": "file:///g.whl", "archive_info": {"hashes": {"sha256": "ab"}}},
            "file:///g.whl#sha256=ab",
            True,
        ),
        ({"url": "https://x.example/g.whl", "archive_info": {}}, "https://x.example/g.whl", False),
        (GIT, "git+https://x.example/g@0a", False),
        ({**GIT, "subdirectory": "py"}, "git+https://x.example/g@0a#subdirectory=py", False),
    ],
)
def test_what_pip_recorded_becomes_a_direct_reference(recorded, reference, is_here_only):
    origin = msgspec.convert(recorded, type=Origin)
    assert (origin.reference, origin.is_here_only) == (reference, is_here_only)
    assert requirement("author", origin=origin) == f"contract-gateway[author] @ {reference}"


def test_one_of_an_index_has_its_name_and_its_version():
    assert origin_of("pytest") is None
    assert origin_of("no-such-package") is None
    assert requirement("author", "test", version="1.2.3") == "contract-gateway[author,test]==1.2.3"


def test_a_hint_installs_what_is_installed(monkeypatch):
    monkeypatch.setattr(installed, "origin_of", lambda: Origin(url="file:///src/gateway"))
    assert install_command("redis") == (
        "pip install 'contract-gateway[redis] @ file:///src/gateway'"
    )


def test_no_other_place_writes_such_a_hint():
    files = (REPOSITORY / "gateway").rglob("*.py")
    texts = {path.name: path.read_text("utf-8") for path in files}
    assert {name for name, text in texts.items() if "contract-gateway[" in text} == set()
