"""What becomes of a call's record: its ids, its arguments, and its line in the log."""

import io
import json
import uuid
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.audit import AuditLog
from gateway.audit.facts import MAX_ARGUMENTS_BYTES, OperatorRequest, cut, redact, sensitive_texts
from gateway.audit.log import LOGGER, log_calls
from gateway.ids import uuid7
from gateway.observability.logs import configure_logs
from gateway.store.records import AuditRecord
from gateway.transports.http.problems import classify
from tests.clocks import ManualClock
from tests.remembered import MemoryAudit
from tests.unit.tables import each_of

NOW = datetime(2026, 11, 20, 14, 30, tzinfo=UTC)


def record(**changes: Any) -> AuditRecord:
    known = {
        "id": "019a8f3e-6c1d-7e44-9d0b-2f6f5a0c1b7e",
        "at": NOW,
        "request_id": "request-1",
        "transport": "rest",
        "operation": "avinode.search_airports",
        "subject": "key_1",
        "agent": "flight_search",
        "outcome": "ok",
        "stage": None,
        "status": 200,
        "backend": "mock",
        "duration_ms": 1.25,
        "arguments": {"query": "canary"},
    }
    return AuditRecord(**{**known, **changes})


@pytest.mark.parametrize("form", ["json", "console"])
def test_a_line_says_who_what_and_how_long_and_never_the_arguments(own_log, form) -> None:
    stream = io.StringIO()
    configure_logs(form=form, stream=stream)

    log_calls([record(), record(outcome="TIMEOUT_ERROR", status=504)])

    first, second = stream.getvalue().splitlines()
    for word in ("call", "request-1", "avinode.search_airports", "flight_search", "1.25"):
        assert word in first
    assert "TIMEOUT_ERROR" in second
    assert "canary" not in stream.getvalue()


def test_a_line_of_json_has_what_every_line_has_and_masks_secrets(own_log) -> None:
    stream = io.StringIO()
    configure_logs(form="json", secrets=["avinode.search"], stream=stream)

    log_calls([record()])

    line = json.loads(stream.getvalue())
    assert (line["event"], line["level"], line["logger"]) == ("call", "info", LOGGER)
    assert line["timestamp"].endswith("Z")
    assert line["audit_id"] == record().id
    assert line["operation"] == "***_airports"


@each_of("form", ["json", "console"])
@each_of("transport", ["rest", "mcp", "stdio", "job", "operator"])
@each_of(
    ("outcome", "status", "level"),
    [
        ("ok", 200, "info"),
        ("ok", 202, "info"),
        ("VALIDATION_ERROR", 422, "info"),
        ("CANCELLED", 499, "info"),
        ("TIMEOUT_ERROR", 504, "warning"),
        ("NOT_RECORDED", 503, "warning"),
        ("INTERNAL_ERROR", 500, "error"),
        ("INTERNAL_ERROR", 503, "error"),
    ],
)
def test_the_level_is_that_of_the_outcome(own_log, form, transport, outcome, status, level) -> None:
    stream = io.StringIO()
    configure_logs(form=form, stream=stream)

    log_calls([record(), record(outcome=outcome, status=status, transport=transport)])

    line = next(each for each in stream.getvalue().splitlines()[::-1] if outcome in each)
    assert level in line
    assert "canary" not in line


def test_no_call_is_left_out_however_many_fail(own_log) -> None:
    stream = io.StringIO()
    configure_logs(form="json", stream=stream)

    for _ in range(200):
        log_calls([record(outcome="TIMEOUT_ERROR", status=504)])

    assert len(stream.getvalue().splitlines()) == 200


def test_above_info_only_failures_are_written(own_log) -> None:
    stream = io.StringIO()
    configure_logs(form="json", level="warning", stream=stream)

    log_calls([record(), record(outcome="TIMEOUT_ERROR", status=504)])

    (line,) = map(json.loads, stream.getvalue().splitlines())
    assert (line["level"], line["outcome"]) == ("warning", "TIMEOUT_ERROR")


class Writes(io.StringIO):
    """Keeps what each write wrote."""

    def __init__(self) -> None:
        super().__init__()
        self.parts: list[str] = []

    def write(self, text: str) -> int:
        self.parts.append(text)
        return super().write(text)


@pytest.mark.parametrize("form", ["json", "console"])
def test_many_lines_are_whole_in_each_write(own_log, form) -> None:
    """Another process that writes to the same pipe cannot split a write of up to 4,096 bytes."""
    stream = Writes()
    configure_logs(form=form, stream=stream)

    long = "é" * 200
    log_calls([record(request_id=f"request-{number}", operation=long) for number in range(100)])

    lines = stream.getvalue().splitlines()
    assert [f"request-{number}" in line for number, line in enumerate(lines)] == [True] * 100
    assert all(part.endswith("\n") and len(part.encode()) <= 4096 for part in stream.parts)
    assert len(stream.parts) < 50


def test_nothing_is_written_above_the_level_or_of_what_is_pending(own_log) -> None:
    stream = io.StringIO()
    configure_logs(form="json", level="warning", stream=stream)
    log_calls([record()])
    configure_logs(form="json", stream=stream)
    log_calls([record(outcome="PENDING")])

    assert stream.getvalue() == ""


async def test_a_line_follows_the_record_into_the_store() -> None:
    store, seen = MemoryAudit(), []
    audit = AuditLog(store, ManualClock(NOW), classify, on_stored=seen.extend)
    async with audit.open(OperatorRequest(request_id="r", operation_id="operator.jobs.list")):
        pass
    await audit.close()

    assert seen == await store.latest(9)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


@pytest.mark.parametrize(
    ("pointer", "expected"),
    [
        ("/a", {"a": "<redacted>", "b/c": {"~": 2}, "l": [{"x": 3}, {"x": 4}]}),
        ("/b~1c/~0", {"a": 1, "b/c": {"~": "<redacted>"}, "l": [{"x": 3}, {"x": 4}]}),
        ("/l/1/x", {"a": 1, "b/c": {"~": 2}, "l": [{"x": 3}, {"x": "<redacted>"}]}),
        ("/l/*/x", {"a": 1, "b/c": {"~": 2}, "l": [{"x": "<redacted>"}, {"x": "<redacted>"}]}),
        ("/a/b/c", {"a": 1, "b/c": {"~": 2}, "l": [{"x": 3}, {"x": 4}]}),
        ("/none", {"a": 1, "b/c": {"~": 2}, "l": [{"x": 3}, {"x": 4}]}),
    ],
)
def test_what_a_pointer_leads_to_is_redacted(pointer, expected) -> None:
    assert redact({"a": 1, "b/c": {"~": 2}, "l": [{"x": 3}, {"x": 4}]}, (pointer,)) == expected


@pytest.mark.parametrize(
    ("pointers", "expected"),
    [
        (("/a", "/l/*/x"), {"a": "<redacted>", "l": [{"x": "<redacted>", "y": 2}]}),
        (("/l/*/x", "/l/0/y"), {"a": 1, "l": [{"x": "<redacted>", "y": "<redacted>"}]}),
        (("/l/*", "/l/0/y"), {"a": 1, "l": ["<redacted>"]}),
        (("/*/*/y",), {"a": 1, "l": [{"x": 1, "y": "<redacted>"}]}),
        (("",), {"a": "<redacted>", "l": "<redacted>"}),
    ],
)
def test_several_pointers_are_redacted_together(pointers, expected) -> None:
    arguments = {"a": 1, "l": [{"x": 1, "y": 2}]}
    assert redact(arguments, pointers) == expected
    assert arguments == {"a": 1, "l": [{"x": 1, "y": 2}]}


@pytest.mark.parametrize(
    ("pointers", "expected"),
    [
        ((), set()),
        (("/card",), {"4242"}),
        (("/none", "/note"), set()),
        (("/people/*/name",), {"Ada", "Bob"}),
        (("/people/1",), {"Bob", "1815"}),
        (("/people",), {"Ada", "Bob", "1815"}),
        (("/*/*/born",), {"1815"}),
        (("",), {"4242", "Ada", "Bob", "1815"}),
    ],
)
def test_sensitive_texts_are_those_at_the_pointers(pointers, expected) -> None:
    """A text of two characters is in many sentences, so it is not one of them."""
    people = [{"name": "Ada"}, {"name": "Bob", "born": 1815, "is_known": True}]
    arguments = {"card": "4242", "note": "no", "people": people}
    assert sensitive_texts(arguments, pointers) == expected


@given(st.dictionaries(st.text(), VALUES, max_size=5))
def test_arguments_that_fit_are_kept_whole(arguments) -> None:
    assert len(msgspec.json.encode(arguments)) > MAX_ARGUMENTS_BYTES or cut(arguments) == arguments


@given(st.dictionaries(st.text(), st.integers(0, 20_000), max_size=30))
def test_nothing_larger_than_the_cap_is_kept(sizes) -> None:
    kept = cut({name: "x" * size for name, size in sizes.items()})

    assert len(msgspec.json.encode(kept)) <= MAX_ARGUMENTS_BYTES


def test_a_large_member_is_replaced_by_its_size_and_the_others_stay() -> None:
    assert cut({"a": 1, "text": "x" * 100_000, "b": 2}) == {
        "a": 1,
        "text": "<cut: 100011 bytes>",
        "b": 2,
    }


MOMENT = datetime(2026, 11, 20, 14, 30, 0, 123456, tzinfo=UTC)


def test_an_id_is_a_uuid_of_version_seven() -> None:
    found = uuid.UUID(uuid7(MOMENT))

    assert found.version == 7
    assert found.variant == uuid.RFC_4122
    assert found.int >> 80 == int(MOMENT.timestamp() * 1000)


def test_ids_sort_as_their_moments_do_down_to_the_microsecond() -> None:
    moments = [MOMENT + timedelta(microseconds=step) for step in range(2500)]

    ids = [uuid7(moment) for moment in moments]

    assert ids == sorted(ids)


def test_ids_of_one_moment_differ() -> None:
    assert len({uuid7(MOMENT) for _ in range(1000)}) == 1000
