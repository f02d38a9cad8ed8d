"""What the contract suite cannot know about the tools and webhooks of this catalogue.

It also draws from the suite: each upstream with all of its failures, each time with another tool,
one in a dozen of all absurd replies, and few arguments. tests/functional/contract runs all failures
and replies. Under the profile `thorough`, nothing is left out.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator
from itertools import count, islice
from pathlib import Path
from typing import Any

import hypothesis
import pytest

from gateway.catalogue import Entry
from gateway.testing import generation
from gateway.testing.cases import upstream_of
from gateway.testing.suite import replies, secrets

FALLBACKS = {"frankfurter.convert_currency": ("rate_source", "fallback")}
"""Tools that answer without their upstream, and the member of the result that says so."""
ADMITTED = {("avinode.search_flights", "403")}
"""What is an answer and no failure: a search that the account may not run finds nothing, and says
so (tests/unit/connectors/avinode/test_tools.py)."""
OPERATION = "gateway_upstream_operation"
REPLIES_APART = 13
"""Of so many absurd replies in a row, one is tried. No kind of value has so many."""
BOUNDARIES_APART = 12
"""Of so many values of the coverage phase in a row, one is tried."""
EXAMPLES = 3
"""Arguments of each kind that a tool is called with."""


@pytest.fixture(scope="session")
def gateway_may_answer() -> Callable[[str, str], bool]:
    """No other tool answers if its upstream fails, whether it has a Python handler or not."""
    return lambda tool, case: tool in FALLBACKS or (tool, case) in ADMITTED


@pytest.fixture(scope="session")
def gateway_webhook_settings() -> dict[str, dict[str, str]]:
    """With an address, the messages of Avinode send mails."""
    return {"avinode": {"notification_email": "desk@example.com"}}


@pytest.fixture(scope="session")
def gateway_every() -> int:
    return 1 if is_thorough() else BOUNDARIES_APART


def is_thorough() -> bool:
    return hypothesis.settings.get_current_profile_name() == "thorough"


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Of each upstream and fault, keep the test of one tool: of another one for each fault."""
    if is_thorough():
        return
    here = Path(__file__).parent
    of_pair: dict[tuple[str, str, str], list[pytest.Item]] = defaultdict(list)
    for item in items:
        params = getattr(getattr(item, "callspec", None), "params", {})
        if item.path.is_relative_to(here) and {OPERATION, "case"} <= params.keys():
            upstream = params[OPERATION].partition(".")[0]
            of_pair[item.name.partition("[")[0], upstream, params["case"]].append(item)
    left_out = {
        item
        for number, tools in enumerate(of_pair.values())
        for index, item in enumerate(tools)
        if index != number % len(tools)
    }
    config.hook.pytest_deselected(items=[item for item in items if item in left_out])
    items[:] = [item for item in items if item not in left_out]


@pytest.fixture(autouse=True)
def few(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Few examples of what the suite draws."""
    if is_thorough():
        yield
        return
    bodies, calls, number = replies.odd_bodies, secrets.calls, count()

    def some_bodies(text: bytes) -> Iterator[tuple[tuple[Any, ...], bytes]]:
        return islice(bodies(text), next(number) % REPLIES_APART, None, REPLIES_APART)

    def some_calls(*drawn: Any) -> Iterator[tuple[Entry, dict[str, Any]]]:
        """One of each upstream."""
        return iter({upstream_of(each[0]): each for each in calls(*drawn)}.values())

    monkeypatch.setattr(replies, "odd_bodies", some_bodies)
    monkeypatch.setattr(secrets, "calls", some_calls)
    monkeypatch.setattr(generation, "SMALL_BUDGET", EXAMPLES)
    profile = hypothesis.settings.get_current_profile_name()
    hypothesis.settings.register_profile("few", hypothesis.settings(), max_examples=EXAMPLES)
    hypothesis.settings.load_profile("few")
    yield
    hypothesis.settings.load_profile(profile)
