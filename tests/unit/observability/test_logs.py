"""One line per event, on stderr, without secrets."""

import io
import json
import logging
import warnings

import pytest
import structlog

from gateway.bounds.rates import Rate
from gateway.observability.logs import configure_logs, request_id

CANARY = 'canary"7f\\3é-key'
KEY = "gw_" + "aB3_-" * 8 + "xyz"


pytestmark = pytest.mark.usefixtures("own_log")


@pytest.fixture(params=["json", "console"])
def log(request):
    """The text written so far, for each form."""
    stream = io.StringIO()
    configure_logs(level="debug", form=request.param, secrets=[CANARY, "abc"], stream=stream)
    return stream


def only(stream: io.StringIO) -> dict[str, object]:
    [line] = stream.getvalue().splitlines()
    return json.loads(line)


def test_an_event_becomes_one_json_object() -> None:
    stream = io.StringIO()
    configure_logs(form="json", stream=stream)

    structlog.get_logger("gateway.app").info("served", connector="avinode", count=2)

    line = only(stream)
    assert line.pop("timestamp").endswith("Z")
    assert line == {
        "event": "served",
        "connector": "avinode",
        "count": 2,
        "level": "info",
        "logger": "gateway.app",
    }


def test_the_standard_librarys_events_take_the_same_way() -> None:
    stream = io.StringIO()
    configure_logs(form="json", stream=stream)

    logging.getLogger("uvicorn.error").warning(
        "port %d is odd", 8701, extra={"port": 8701, "color_message": "\x1b[1m%d"}
    )

    line = only(stream)
    assert "color_message" not in line
    assert (line["event"], line["level"], line["logger"], line["port"]) == (
        "port 8701 is odd",
        "warning",
        "uvicorn.error",
        8701,
    )


def test_the_request_that_is_being_served_is_named_on_every_line() -> None:
    stream = io.StringIO()
    configure_logs(form="json", stream=stream)
    token = request_id.set("request-1")

    structlog.get_logger("a").info("one")
    logging.getLogger("b").info("two")
    request_id.reset(token)
    logging.getLogger("b").info("three")

    lines = [json.loads(line) for line in stream.getvalue().splitlines()]
    assert [line.get("request_id") for line in lines] == ["request-1", "request-1", None]


def test_events_below_the_level_are_left_out() -> None:
    stream = io.StringIO()
    configure_logs(level="warning", form="json", stream=stream)

    structlog.get_logger("a").info("no")
    logging.getLogger("b").info("no")
    logging.getLogger("b").warning("yes")

    assert only(stream)["event"] == "yes"


def test_the_form_is_json_where_nobody_looks_on() -> None:
    stream = io.StringIO()
    configure_logs(stream=stream)

    logging.getLogger("a").warning("said")

    assert only(stream)["event"] == "said"


def test_configuring_again_replaces_what_was_there() -> None:
    first, second = io.StringIO(), io.StringIO()
    configure_logs(form="json", stream=first)
    configure_logs(form="json", stream=second)

    logging.getLogger("a").warning("said")

    assert first.getvalue() == ""
    assert only(second)["event"] == "said"


def test_configuring_again_reports_what_was_left_out() -> None:
    """A reload does this."""
    stream = io.StringIO()
    configure_logs(form="json", stream=stream, repeats=Rate(0.001, 1))
    for _ in range(3):
        logging.getLogger("a").warning("said")
    configure_logs(form="json", stream=stream)

    first, last = (json.loads(line) for line in stream.getvalue().splitlines())
    assert (first["event"], last["suppressed"]) == ("said", 2)


def test_warnings_are_logged() -> None:
    stream = io.StringIO()
    configure_logs(form="json", stream=stream)

    with warnings.catch_warnings():
        warnings.simplefilter("always")
        logging.captureWarnings(capture=True)
        warnings.warn("old", DeprecationWarning, stacklevel=1)

    assert "DeprecationWarning: old" in str(only(stream)["event"])


@pytest.mark.parametrize(
    "secret", [CANARY, KEY, "Bearer canary-unknown.token=="], ids=["known", "key", "bearer"]
)
def test_no_secret_passes_in_whatever_way_it_comes(log, secret) -> None:
    structlog.get_logger("a").info("token", value=secret, deep={"in": [secret, {secret: 1}]})
    structlog.get_logger("a").info(secret)
    logging.getLogger("b").info("as %s and %r", secret, secret)
    logging.getLogger("b").info("extra", extra={"header": secret})
    try:
        refuse(secret)
    except ValueError as error:
        structlog.get_logger("a").exception("failed")
        logging.getLogger("b").exception("failed")
        logging.getLogger("b").warning("failed: %s", error)

    text = log.getvalue()
    assert text.count("***") >= 8
    assert "canary" not in text.lower()
    assert KEY not in text
    assert KEY[3:20] not in text


def test_a_traceback_shows_no_local_variables(log) -> None:
    local = "-".join(["un", "registered"])
    try:
        refuse(local[:2])
    except ValueError:
        structlog.get_logger("a").exception("failed")

    assert local not in log.getvalue()


@pytest.mark.parametrize("form", ["json", "console"])
def test_an_exception_of_a_library_shows_its_class_and_place_and_not_its_text(form) -> None:
    stream = io.StringIO()
    configure_logs(form=form, stream=stream)
    value = "-".join(["INSERT", "parameter"])
    try:
        refuse(value)
    except ValueError:
        structlog.get_logger("a").exception("failed")
        logging.getLogger("asyncio").exception("never retrieved")

    text = stream.getvalue()
    assert "ValueError" in text
    assert text.count("in refuse") == 2
    assert value not in text


def test_too_short_a_secret_does_not_blacken_the_log(log) -> None:
    logging.getLogger("a").info("alphabet: abcdef")

    assert "abcdef" in log.getvalue()


def refuse(value: str) -> None:
    raise ValueError(value)
