"""The fixtures of the contract suite. A test that takes `gateway_operation` runs for each tool.

A project can replace `gateway_may_answer` and `gateway_webhook_settings` in its `conftest.py`.
"""

import asyncio
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractAsyncContextManager
from math import ceil
from typing import Final, TypeVar

import pytest

from gateway.catalogue import Catalogue, Entry
from gateway.contract.operation import PythonBinding
from gateway.testing import ALL_OPTION, BUDGET_OPTION, SEED_OPTION
from gateway.testing.cases import OperationDraw, callable_alone, documented_requests, upstream_of
from gateway.testing.gateways import (
    Faces,
    Site,
    catalogue_under_test,
    open_faces,
    open_site,
    project_under_test,
)
from gateway.testing.kept_vectors import by_subject
from gateway.testing.links import PROBLEMS, drawn_links, link_lines, link_problems
from gateway.testing.live import LiveGateway, open_live
from gateway.testing.runs import SUITE_RUN, SuiteRun, begin
from gateway.testing.workflows import (
    WorkflowPasses,
    follow_workflows,
    workflows_under_test,
)

Answers = Callable[[str, str], bool]
"""Whether a tool (its id) may answer while its upstream commits a fault (its name)."""

Loop = asyncio.AbstractEventLoop
_WHOLE_SECONDS: Final = 300
"""With a budget of so long, all values of the coverage phase are tried."""
_Gateway = TypeVar("_Gateway")

_PARAMETERS: Final[Mapping[str, Callable[[Catalogue, OperationDraw], Iterable[str]]]] = {
    "gateway_operation": lambda catalogue, _: map(_id, _written(catalogue)),
    "gateway_written_operation": lambda catalogue, _: map(_id, _written(catalogue)),
    "gateway_upstream_operation": lambda catalogue, _: map(
        _id, filter(upstream_of, _written(catalogue))
    ),
    "gateway_mocked_operation": lambda catalogue, _: map(_id, _mocked(catalogue)),
    "gateway_imported_operation": lambda catalogue, draw: (
        each.head.id for each in draw.all_of(catalogue)
    ),
    "gateway_contract_schema": lambda catalogue, _: by_subject(catalogue, project_under_test()),
    "gateway_documented": lambda catalogue, _: documented_requests(catalogue),
    "gateway_link": drawn_links,
    "gateway_workflow": lambda *_: (each.id for each in workflows_under_test()),
    "gateway_upstream": lambda catalogue, _: sorted(
        {name for entry in _written(catalogue) if (name := upstream_of(entry))}
    ),
    "gateway_agent": lambda catalogue, _: sorted(catalogue.grants),
    "gateway_webhook_event": lambda catalogue, _: (
        f"{provider}.{event.type}"
        for provider, declared in catalogue.webhooks.items()
        for event in declared.source.events
    ),
}
"""Parameters of tests, and the values for which each test with one runs."""


def draw_of(config: pytest.Config) -> OperationDraw:
    """What the options of this run say."""
    number = config.getoption(SEED_OPTION) or 0
    return OperationDraw(seed=number, is_whole=config.getoption(ALL_OPTION))


def pytest_configure(config: pytest.Config) -> None:
    """Begin a run of the suite."""
    begin(config)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run a test once for each value of its parameter."""
    draw = draw_of(metafunc.config)
    if "gateway_link" in metafunc.fixturenames:
        metafunc.config.stash[PROBLEMS] = list(link_problems(catalogue_under_test()))
    for name, values in _PARAMETERS.items():
        if name in metafunc.fixturenames:
            metafunc.parametrize(name, list(values(catalogue_under_test(), draw)))


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """Print how many operations and links of imported documents are tested."""
    draw = draw_of(config)
    problems = config.stash.get(PROBLEMS, ())
    lines = draw.lines(catalogue_under_test())
    for line in (*lines, *link_lines(problems, terminalreporter.stats, draw)):
        terminalreporter.write_line(line)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out tests whose parameter has no value, such as those of webhooks without webhooks.

    Those that take what time a budget has left need one.
    """
    has_budget = config.getoption(BUDGET_OPTION) is not None
    nothing = [
        item
        for item in items
        if any(map(_is_of_nothing, item.iter_markers("skip")))
        or ("gateway_rest_of_budget" in getattr(item, "fixturenames", ()) and not has_budget)
    ]
    if nothing:
        config.hook.pytest_deselected(items=nothing)
        items[:] = [item for item in items if item not in nothing]


def _is_of_nothing(mark: pytest.Mark) -> bool:
    return "empty parameter set for (gateway_" in str(mark.kwargs.get("reason"))


def _id(entry: Entry) -> str:
    return entry.id


def _written(catalogue: Catalogue) -> Iterator[Entry]:
    """The tools with contract files: those of imported documents have no examples and no models."""
    return (each for each in callable_alone(catalogue) if not each.operation.is_imported)


def _mocked(catalogue: Catalogue) -> Iterator[Entry]:
    """The tools whose upstream has a mock over HTTP. A workspace database has none."""
    for entry in _written(catalogue):
        name = upstream_of(entry)
        if name and not catalogue.upstreams[name].has_workspace:
            yield entry


@pytest.fixture(scope="session")
def gateway_loop() -> Iterator[Loop]:
    """The event loop of the gateways under test."""
    with asyncio.Runner() as runner:
        yield runner.get_loop()


@pytest.fixture(scope="session")
def gateway_every(pytestconfig: pytest.Config) -> int:
    """Of so many values of the coverage phase, one is tried: of fewer, the less time there is."""
    budget = pytestconfig.getoption(BUDGET_OPTION)
    return 1 if budget is None else max(1, ceil(_WHOLE_SECONDS / budget))


@pytest.fixture
def gateway_rest_of_budget(pytestconfig: pytest.Config) -> Callable[[], float]:
    """The seconds that the budget of this run still has."""
    suite_run: SuiteRun = pytestconfig.stash[SUITE_RUN]
    return lambda: suite_run.left() or 0.0


@pytest.fixture(scope="session")
def gateway_faces(gateway_loop: Loop, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Faces]:
    """The project on mocks over REST, both versions of MCP and stdio, with all tools granted."""
    yield from opened(gateway_loop, open_faces(tmp_path_factory.mktemp("gateway")))


@pytest.fixture(scope="session")
def gateway_site(gateway_loop: Loop, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """The project on mocks with its own policies, and a key for each agent."""
    agents = sorted(catalogue_under_test().grants)
    yield from opened(gateway_loop, open_site(tmp_path_factory.mktemp("gateway"), agents))


@pytest.fixture(scope="session")
def gateway_workflow_passes(
    gateway_loop: Loop, tmp_path_factory: pytest.TempPathFactory
) -> WorkflowPasses:
    """All workflows of the project, followed over every transport."""
    folder = tmp_path_factory.mktemp("workflows")
    return gateway_loop.run_until_complete(follow_workflows(workflows_under_test(), folder))


@pytest.fixture(scope="session")
def gateway_live(
    gateway_loop: Loop, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[LiveGateway]:
    """The project on live backends, at upstreams that fail on demand."""
    yield from opened(gateway_loop, open_live(tmp_path_factory.mktemp("live")))


def opened(loop: Loop, opening: AbstractAsyncContextManager[_Gateway]) -> Iterator[_Gateway]:
    """A gateway that is open until the tests have ended."""
    yield loop.run_until_complete(opening.__aenter__())
    loop.run_until_complete(opening.__aexit__(None, None, None))


@pytest.fixture(scope="session")
def gateway_may_answer() -> Answers:
    """By default, tools with a Python handler may answer without their upstream."""
    catalogue = catalogue_under_test()
    return lambda tool, _: isinstance(catalogue.find(tool).operation.binding, PythonBinding)


@pytest.fixture(scope="session")
def gateway_webhook_settings() -> Mapping[str, Mapping[str, str]]:
    """By provider, settings that webhooks are tried with. The others have their defaults."""
    return {}
