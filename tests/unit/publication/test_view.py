"""The view of a caller: the policy of its agent is stronger than the default."""

from gateway.contract.agent_view import AgentView
from gateway.publication.view import ToolView, Views


def test_an_agent_without_a_view_gets_the_default() -> None:
    assert Views(default="full").of("anyone") == ToolView("full", "default")
    assert Views().of("anyone") == ToolView("slim", "default")


def test_the_policy_of_an_agent_is_stronger_than_the_default() -> None:
    views = Views({"a": AgentView(list="search"), "b": AgentView(profile="gemini")}, "full")

    assert views.of("a") == ToolView("search", "default")
    assert views.of("b") == ToolView("full", "gemini")
