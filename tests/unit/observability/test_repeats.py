"""What comes again and again is written a few times, and counted."""

import io
import json
import logging

import pytest

from gateway.bounds.rates import Rate
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


@pytest.fixture
def _restored():
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    yield
    logging.captureWarnings(capture=False)
    root.handlers[:] = handlers
    root.setLevel(level)


@pytest.mark.usefixtures("_restored")
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
