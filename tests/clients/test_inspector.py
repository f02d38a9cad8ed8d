"""The Inspector starts a server for each question, so it asks few questions of one."""

import pytest

from tests.clients.conversation import Step, Transport
from tests.clients.inspector import converse


@pytest.mark.node
@pytest.mark.parametrize(("era", "local"), [("legacy", "stdio"), ("modern", "bridge")])
def test_the_inspector_calls_a_tool_of_a_server_that_it_starts(
    era: str, local: str, transports: dict[str, Transport]
) -> None:
    heard = converse(era, transports[local], [Step("example_greet", {"name": "Ada"})])
    assert len(heard.tools) > 40
    assert heard.answers[0].result is not None
    assert heard.answers[0].result["structuredContent"] == {"greeting": "Hello, Ada!"}
