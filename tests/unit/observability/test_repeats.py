"""Lines that come again and again, and which lines are reported as defects."""

import io
import json
import logging

import pytest

from gateway.bounds.rates import Rate
from gateway.errors import StoreError
from gateway.observability.defects import (
    ALL_RATE,
    DEFECT,
    KIND_RATE,
    DefectHandler,
    defect,
    log_defect,
)
from gateway.observability.logs import configure_logs
from gateway.observability.repeats import RepeatLimit
from tests.clocks import ManualClock


def record(line: int = 1, level: int = logging.WARNING) -> logging.LogRecord:
    return logging.LogRecord("gateway.x", level, "/gateway/x.py", line, "refused", (), None)


def test_the_first_lines_of_a_kind_pass_and_the_next_says_how_many_did_not() -> None:
    clock = ManualClock()
    limit = RepeatLimit(Rate(1, 3), clock)
    assert [limit.filter(record()) for _ in range(10)] == [True] * 3 + [False] * 7
    clock.advance(1)
    passed = record()
    assert limit.filter(passed)
    assert passed.suppressed == 7
    clock.advance(1)
    assert limit.filter(later := record())
    assert not hasattr(later, "suppressed")


def test_each_place_in_the_code_is_a_kind_of_its_own() -> None:
    limit = RepeatLimit(Rate(1, 1), ManualClock())
    assert all(limit.filter(record(line)) for line in range(5))
    assert not limit.filter(record(0))


def test_what_is_no_warning_always_passes() -> None:
    limit = RepeatLimit(Rate(1, 1), ManualClock())
    assert all(limit.filter(record(level=logging.INFO)) for _ in range(100))


def test_each_kind_of_error_is_a_kind_of_its_own() -> None:
    """All failures of calls come from one place in the code."""
    limit = RepeatLimit(Rate(1, 1), ManualClock())
    assert [limit.filter(failed("UpstreamTimeout")) for _ in range(3)] == [True, False, False]
    assert limit.filter(failed("InternalError"))
    assert limit.filter(raised(KeyError()))
    assert limit.filter(raised(TypeError()))
    assert not limit.filter(raised(TypeError()))


def failed(error: str) -> logging.LogRecord:
    line = record()
    line.error = error
    return line


def raised(error: Exception) -> logging.LogRecord:
    line = record(level=logging.ERROR)
    line.exc_info = (type(error), error, None)
    return line


def test_the_kinds_are_bounded() -> None:
    limit = RepeatLimit(Rate(1, 1), ManualClock())
    for number in range(10_000):
        limit.filter(failed(f"Error{number}"))
    assert len(limit._kinds) <= 1000


def test_what_was_left_out_at_the_end_is_reported() -> None:
    limit = RepeatLimit(Rate(1, 2), ManualClock())
    for _ in range(7):
        limit.filter(failed("UpstreamTimeout"))
    for _ in range(2):
        limit.filter(failed("InternalError"))
    (line,) = limit.unreported()
    assert (line.suppressed, line.error, line.levelname) == (5, "UpstreamTimeout", "WARNING")
    assert line.name == "gateway.x"
    assert limit.unreported() == []


@pytest.mark.usefixtures("own_log")
def test_the_log_of_the_process_is_limited() -> None:
    stream = io.StringIO()
    configure_logs(form="json", stream=stream, repeats=Rate(1e-9, 2))
    for number in range(100):
        logging.getLogger("gateway.x").warning("refused %d", number)
    lines = [json.loads(line) for line in stream.getvalue().splitlines()]
    assert [line["event"] for line in lines] == ["refused 0", "refused 1"]
    logging.getLogger().handlers[0].close()
    *_, last = [json.loads(line) for line in stream.getvalue().splitlines()]
    assert last["event"] == "no more lines of this kind followed"
    assert (last["suppressed"], last["level"], last["logger"]) == (98, "warning", "gateway.x")


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
    assert (frame.file, frame.is_own) == ("test_repeats.py", True)
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
