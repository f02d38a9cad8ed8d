"""Which lines of the log are reported as defects, how often, and what a report holds."""

import logging

import pytest

from gateway.errors import StoreError
from gateway.observability.defects import (
    ALL_RATE,
    DEFECT,
    KIND_RATE,
    DefectHandler,
    defect,
    log_defect,
)
from tests.clocks import ManualClock

CANARY = "canary7f3"


@pytest.fixture
def clock():
    return ManualClock()


@pytest.fixture
def reports():
    return []


@pytest.fixture
def log(reports, clock):
    """A logger whose defects are reported."""
    logger = logging.getLogger("gateway.test_defects")
    handler = DefectHandler(reports.append, clock)
    logger.addHandler(handler)
    yield logger
    logger.removeHandler(handler)


def test_a_report_has_the_names_of_the_code_and_no_text_of_an_error(log, reports):
    def fail():
        raise ExceptionGroup(CANARY, [ValueError(CANARY)])

    with pytest.raises(ExceptionGroup) as found:
        fail()
    log.error("task %s failed", CANARY, extra=defect(found.value))
    (report,) = reports
    assert [each.name for each in report.errors] == ["ValueError", "ExceptionGroup"]
    assert report.message == "task %s failed"
    frame = report.errors[1].frames[-1]
    assert (frame.file, frame.is_own) == ("test_defects.py", True)
    assert CANARY not in str(report)


def test_the_line_of_a_defect_shows_its_place_and_class_and_no_text(log, reports, caplog):
    def fail():
        raise ValueError(CANARY)

    with pytest.raises(ValueError, match=CANARY) as found:
        fail()
    log_defect(log, found.value, "the task %s failed", "sweeper")
    assert CANARY not in caplog.text
    assert "the task sweeper failed" in caplog.text
    assert "in fail" in caplog.text
    assert "ValueError" in caplog.text
    assert (
        caplog.records[0].funcName
        == "test_the_line_of_a_defect_shows_its_place_and_class_and_no_text"
    )
    assert [(each.message, each.errors[0].name) for each in reports] == [
        ("the task %s failed", "ValueError")
    ]


def test_lines_without_an_exception_and_warnings_are_not_reported(log, reports):
    log.error("the store cannot be read: %s", "away")
    log.warning("slow", exc_info=ValueError())
    log.error("a task died", exc_info=StoreError("away"))
    assert [each.message for each in reports] == ["a task died"]


def test_a_librarys_text_is_not_reported_because_it_may_hold_values(reports):
    logger = logging.getLogger("asyncio_like")
    logger.addHandler(handler := DefectHandler(reports.append))
    logger.error(f"never retrieved: {CANARY}", exc_info=ValueError())  # noqa: G004 - as asyncio
    logger.removeHandler(handler)
    assert [each.message for each in reports] == [""]


def test_the_exception_in_a_line_shows_only_its_class_to_other_handlers():
    assert CANARY not in str(defect(ValueError(CANARY)))
    assert repr(defect(ValueError(CANARY))[DEFECT]) == "ValueError"


def test_each_kind_has_its_limit_and_the_next_report_counts_the_others(log, reports, clock):
    def fail(kind):
        log.error("it failed", exc_info=kind())

    for _ in range(KIND_RATE.burst + 3):
        fail(ValueError)
    fail(KeyError)
    assert [each.errors[0].name for each in reports] == ["ValueError"] * KIND_RATE.burst + [
        "KeyError"
    ]
    clock.advance(1 / KIND_RATE.per_second + 1)
    fail(ValueError)
    assert reports[-1].unreported == 3


def test_all_kinds_together_have_a_limit(log, reports):
    for number in range(ALL_RATE.burst + 10):
        log.error("it failed", exc_info=type(f"Error{number}", (Exception,), {})())
    assert len(reports) == ALL_RATE.burst


def test_a_report_that_cannot_be_sent_adds_no_defect(caplog):
    def refuse(_report):
        raise ValueError(CANARY)

    logger = logging.getLogger("gateway.test_refused")
    logger.addHandler(handler := DefectHandler(refuse))
    logger.error("it failed", exc_info=KeyError())
    logger.removeHandler(handler)
    assert "could not be reported: ValueError" in caplog.text
    assert CANARY not in caplog.text
