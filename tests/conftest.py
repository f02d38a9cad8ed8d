"""What holds for every test."""

import importlib
import os
import pkgutil
import signal
import sys
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from typing import Any

import hypothesis
import pytest

import gateway

hypothesis.settings.register_profile("default", deadline=None, derandomize=True)
hypothesis.settings.register_profile("thorough", deadline=None, max_examples=1000)
hypothesis.settings.load_profile("default")

# Under nohup a hangup is ignored, in the background of a script an interrupt, and every process
# that a test starts would inherit that.
signal.signal(signal.SIGHUP, signal.SIG_DFL)
signal.signal(signal.SIGINT, signal.default_int_handler)

FORBIDDEN = "skipped, and GATEWAY_TESTS_NO_SKIP forbids that: "


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Files with slow tests first: with several processes, none of them is left over at the end."""
    slow = {item.path for item in items if item.get_closest_marker("slow")}
    items.sort(key=lambda item: item.path not in slow)
    _leave_property_tests_untraced(items)
    _leave_repetitions_untraced(items)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Run a test marked `untraced`, and what it needs for itself, without coverage.

    `no_cover` of pytest-cov has no effect in the processes of pytest-xdist: there its `pause`
    resumes the tracer of another `Coverage`, which the process started first.
    """
    if item.get_closest_marker("untraced") is None:
        return (yield)
    with _without_coverage():
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Let coverage see modules as they are imported, and not how tests make their parameters."""
    if not _is_coverage(sys.gettrace()):
        return (yield)
    for module in pkgutil.walk_packages(gateway.__path__, "gateway."):
        if not module.name.endswith(("__main__", "migrations.env")):
            importlib.import_module(module.name)
    with _without_coverage():
        return (yield)


@contextmanager
def _without_coverage() -> Iterator[None]:
    tracer = sys.gettrace()
    if not _is_coverage(tracer):
        yield
        return
    sys.settrace(None)
    try:
        yield
    finally:
        sys.settrace(tracer)


def _is_coverage(tracer: object) -> bool:
    return type(tracer).__module__.partition(".")[0] == "coverage"


def _leave_property_tests_untraced(items: list[pytest.Item]) -> None:
    """Coverage sees each call inside Hypothesis, so such a test takes two to four times as long.

    The tests of single examples take nearly all branches that the many examples take.
    """
    for item in items:
        if isinstance(item, pytest.Function) and hypothesis.is_hypothesis_test(item.obj):
            item.add_marker(pytest.mark.untraced)


def _leave_repetitions_untraced(items: list[pytest.Item]) -> None:
    """Of a test with many sets of parameters, coverage sees the first, in a third of the time.

    What only the others take is missing from the figure, so it is a lower bound.
    """
    seen = set()
    for item in items:
        test = item.nodeid.partition("[")[0]
        if test in seen:
            item.add_marker(pytest.mark.untraced)
        seen.add(test)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Where everything is installed, a test that skips hides what it was to show."""
    return _judged((yield))


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """A module may skip all its tests at once."""
    return _judged((yield))


def _judged(report: Any) -> Any:
    is_expected_failure = hasattr(report, "wasxfail")
    if (
        os.environ.get("GATEWAY_TESTS_NO_SKIP") == "1"
        and report.skipped
        and not is_expected_failure
    ):
        _, _, reason = report.longrepr
        report.outcome = "failed"
        report.longrepr = FORBIDDEN + reason
    return report
