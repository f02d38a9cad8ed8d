"""The five things that every client asks over every transport, and what it heard."""

from typing import Any, Final

from tests.clients.conversation import ClientUnderTest, Step, Transcript

STEPS: Final = (
    Step("example_greet", {"name": "Ada"}),
    Step("avinode_search_airports", {"query": "Teterboro", "limit": 3}),
    Step("example_greet", {"name": 7}),
    Step("example_calculate", {"operation": "divide", "a": 1, "b": 0}),
    Step("example_nothing", {}),
)


class Conversation(Transcript, frozen=True):
    """A transcript with the client that held it."""

    client: ClientUnderTest

    @property
    def greeting(self) -> dict[str, Any]:
        return self._result(0)

    @property
    def airports(self) -> dict[str, Any]:
        return self._result(1)

    @property
    def wrong_arguments(self) -> dict[str, Any]:
        return self._result(2)

    @property
    def declared_error(self) -> dict[str, Any]:
        return self._result(3)

    @property
    def unknown_tool(self) -> dict[str, Any] | None:
        return self.answers[4].error

    def _result(self, index: int) -> dict[str, Any]:
        answer = self.answers[index]
        assert answer.result is not None, f"{STEPS[index]} ended in {answer.error}"
        return answer.result
