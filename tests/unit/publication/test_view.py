"""The view of a caller: the policy of its agent is stronger than the setting and the client."""

import pytest

from gateway.contract.agent_view import AgentView
from gateway.errors import ConfigurationError
from gateway.publication.view import ToolView, Views


def test_an_agent_without_a_view_gets_the_default() -> None:
    assert Views(default="full").of("anyone") == ToolView("full", "default")
    assert Views().of("anyone") == ToolView("slim", "default")


def test_the_policy_of_an_agent_is_stronger_than_the_default() -> None:
    views = Views({"a": AgentView(list="search"), "b": AgentView(profile="gemini")}, "full")

    assert views.of("a") == ToolView("search", "default")
    assert views.of("b") == ToolView("full", "gemini")


def test_the_client_chooses_the_profile_where_nothing_else_does() -> None:
    views = Views({"careful": AgentView(profile="claude")})
    assert views.of("other") == ToolView("slim", "default")
    assert views.of("other", "gemini") == ToolView("slim", "gemini")
    assert views.of("careful", "gemini") == ToolView("slim", "claude")
    assert views.of("other", "gemini") is views.of("other", "gemini")


def test_a_setting_decides_for_agents_without_a_profile() -> None:
    views = Views({"careful": AgentView(profile="claude")}, profile="source")
    assert views.of("other", "gemini").profile == "source"
    assert views.of("careful", "gemini").profile == "claude"


def test_a_profile_that_does_not_exist_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="did you mean gemini"):
        Views(profile="gemni")
    with pytest.raises(ConfigurationError, match="no client profile 'x'; the profiles are default"):
        Views({"agent": AgentView(profile="x")})
