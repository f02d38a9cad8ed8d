"""What holds for every test, and which of the two commands runs it.

`make test` runs the folders that `testpaths` of pyproject.toml lists: in one process, without other
programs and databases. `make test-all` (`--rest`) runs what that leaves out.
"""

import gc
import importlib
import os
import pkgutil
import shlex
import signal
import subprocess
import sys
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager, nullcontext
from functools import wraps
from pathlib import Path
from typing import Any

import hypothesis
import pytest
import uvicorn.server
from hypothesis.internal.conjecture import providers

import gateway
from gateway.app import background
from gateway.audit import writebehind
from gateway.calls.jobs import watching
from gateway.jobs import completer
from tests.leaping import ShortSleeps
from tests.made_once import made_once

hypothesis.settings.register_profile("default", deadline=None, derandomize=True, max_examples=10)
hypothesis.settings.register_profile("thorough", deadline=None, max_examples=1000)
hypothesis.settings.load_profile("default")

# Under nohup a hangup is ignored, in the background of a script an interrupt, and every process
# that a test starts would inherit that.
signal.signal(signal.SIGHUP, signal.SIG_DFL)
signal.signal(signal.SIGINT, signal.default_int_handler)

FORBIDDEN = "skipped, and GATEWAY_TESTS_NO_SKIP forbids that: "
SERVERS = ("postgres", "redis")
"""Markers of what needs a server: `make test-all` runs it, whatever folder it is in."""
CHECKED = "tests/architecture"
"""What `make check` runs."""
ON_ENGINES = "tests/conformance"
"""The folder whose tests run with and without servers."""
TRACED = {"tests/unit", "tests/interaction"}
"""The folders that coverage traces. The others add one of a hundred branches."""
PROGRAMS = (
    (subprocess.Popen, "__init__"),
    *((os, name) for name in ("fork", "forkpty", "posix_spawn", "posix_spawnp")),
    *((os, name) for name in ("execv", "execve", "system")),
)
"""What starts a program: its owner, and its name there."""
FORMATTER = "ruff"
"""The program that the generator formats with: in a few milliseconds, and part of what it does."""

_in_process: list[str] = []
"""The test that runs and may start no program, if there is one."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add what `make test-all` says."""
    parser.addoption("--rest", action="store_true", help="run what `make test` leaves out")


def pytest_configure(config: pytest.Config) -> None:
    """Watch for programs, once in a process; refuse what is not there, as pytest-xdist does not."""
    for place in config.args:
        if not (config.invocation_params.dir / place.partition("::")[0]).exists():
            raise pytest.UsageError(f"{place}: there is no such file or folder")
    _refuse_programs()
    # Examples would depend on what modules a process has loaded, and all are parsed for it.
    providers._get_local_constants = lambda: providers._local_constants
    # jsonschema compiles its grammar at import, in more than a second, for formats of no test.
    sys.modules["rfc3987_syntax"] = None  # type: ignore[assignment]  # None: it is not there
    if not config.getoption("rest"):
        # Nothing leaves the process, and to read whom the system trusts takes 10 ms each time.
        os.environ["SSL_CERT_DIR"] = os.devnull
        os.environ.pop("SSL_CERT_FILE", None)
    # What is imported and collected stays: to look for garbage in it takes a third of the time.
    gc.disable()


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Under --rest, do not even read what `make test` and `make check` run."""
    if not config.getoption("rest"):
        return None
    others = {*config.getini("testpaths"), CHECKED} - {ON_ENGINES}
    return True if _is_below(collection_path, config, others) else None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Files with slow tests first: with several processes, none of them is left over at the end."""
    if config.getoption("rest"):
        _keep(config, items, [item for item in items if _is_of_rest(item)])
    slow = {item.path for item in items if item.get_closest_marker("slow")}
    items.sort(key=lambda item: item.path not in slow)
    _leave_repetitions_untraced(items)


def _is_of_rest(item: pytest.Item) -> bool:
    is_on_engines = _is_below(item.path, item.config, {ON_ENGINES})
    return not is_on_engines or any(map(item.get_closest_marker, SERVERS))


def _keep(config: pytest.Config, items: list[pytest.Item], kept: list[pytest.Item]) -> None:
    if len(kept) < len(items):
        config.hook.pytest_deselected(items=[item for item in items if item not in set(kept)])
        items[:] = kept


def _is_below(path: Path, config: pytest.Config, folders: set[str]) -> bool:
    return str(path).startswith(tuple(f"{config.rootpath / folder}{os.sep}" for folder in folders))


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, exitstatus: int, config: pytest.Config
) -> None:
    """Say why nothing ran. pytest-xdist does not pass on what its processes say of it."""
    if exitstatus == pytest.ExitCode.NO_TESTS_COLLECTED:
        given = shlex.join(map(str, config.invocation_params.args))
        terminalreporter.write_line(f"error: no test is selected by: pytest {given}", red=True)


@pytest.fixture(autouse=True, scope="session")
def pauses_are_short(pytestconfig: pytest.Config) -> Iterator[None]:
    """In one process, what looks or tries again after a pause does so fifty times as often."""
    with pytest.MonkeyPatch.context() as patch:
        if not pytestconfig.getoption("rest"):
            for module in (uvicorn.server, background, writebehind, completer):
                patch.setattr(module, "asyncio", ShortSleeps(1 / 50))
            for name in ("LOOK_SECONDS", "PAUSE_SECONDS"):
                patch.setattr(watching, name, getattr(watching, name) / 50)
        yield


@pytest.fixture(autouse=True, scope="session")
def much_is_made_once(pytestconfig: pytest.Config) -> Iterator[None]:
    """In one process, what all gateways have in common is not made for each test."""
    with nullcontext() if pytestconfig.getoption("rest") else made_once():
        yield


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Run a test with what holds for its folder and its markers."""
    with _without_programs(item), _with_or_without_coverage(item):
        return (yield)


@contextmanager
def _without_programs(item: pytest.Item) -> Iterator[None]:
    folders = set(item.config.getini("testpaths"))
    is_alone = _is_below(item.path, item.config, folders)
    if is_alone and not any(map(item.get_closest_marker, SERVERS)):
        _in_process.append(item.nodeid)
    try:
        yield
    finally:
        _in_process.clear()


def _refuse_programs() -> None:
    # Not an audit hook: one in Python lets threads change while a tracer is set, and CPython 3.11
    # ends the thread that sets another one meanwhile.
    for owner, name in PROGRAMS:
        setattr(owner, name, _refusing(getattr(owner, name)))


def _refusing(start: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(start)
    def refuse_or_start(*arguments: Any, **options: Any) -> Any:
        if _in_process:
            program = _program_of(start, *arguments, **options)
            if Path(program).name != FORMATTER:
                raise AssertionError(
                    f"{_in_process[-1]} starts a program, {program}: a test of `make test` works "
                    "in one process. fix: move it to tests/functional "
                    "(docs/contributing/tests.md)"
                )
        return start(*arguments, **options)

    return refuse_or_start


def _program_of(start: Callable[..., Any], *arguments: Any, **options: Any) -> str:
    """What `start`, one of PROGRAMS, would start; its own name if it names no program."""
    is_method = start.__name__ == "__init__"
    line = options.get("args", next(iter(arguments[is_method:]), start.__name__))
    return os.fsdecode(line if isinstance(line, str | bytes | os.PathLike) else line[0])


@contextmanager
def _with_or_without_coverage(item: pytest.Item) -> Iterator[None]:
    """Run a test marked `untraced`, and what it needs for itself, without coverage.

    `no_cover` of pytest-cov has no effect in the processes of pytest-xdist: there its `pause`
    resumes the tracer of another `Coverage`, which the process started first.
    """
    if item.get_closest_marker("untraced") is None:
        yield
        return
    with _without_coverage():
        yield


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


def pytest_collection_finish() -> None:
    """Collect garbage again, but seldom, and never look at what is there already."""
    gc.freeze()
    gc.set_threshold(100_000, 10, 10)
    gc.enable()


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


def _leave_repetitions_untraced(items: list[pytest.Item]) -> None:
    """Trace what takes new branches, since a traced test takes two to four times as long.

    Of a test with many sets of parameters that is the first; of the folders, those of `TRACED`;
    and no property test, since coverage sees each call inside Hypothesis. What only the others take
    is missing from the figure, so it is a lower bound.
    """
    seen = set()
    for item in items:
        test = item.nodeid.partition("[")[0]
        is_property = isinstance(item, pytest.Function) and hypothesis.is_hypothesis_test(item.obj)
        if test in seen or is_property or not _is_below(item.path, item.config, TRACED):
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
