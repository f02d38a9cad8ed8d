"""Asks the client of a prompt for required arguments that it has left out."""

from collections.abc import Mapping
from typing import Any, Final

from gateway.calls.asking.asked import answer_of, asked_of
from gateway.calls.asking.wire import OpenQuestion
from gateway.contract.offered import DeclaredPrompt, PromptArgument
from gateway.contract.policies.asking import Elicitation, Elicited

KEY: Final = "arguments"
"""The key of the question."""


def missing_in(prompt: DeclaredPrompt, given: Mapping[str, str]) -> OpenQuestion | None:
    """The question for the required arguments that are not `given`. None if there are none."""
    missing = [each for each in prompt.arguments if each.is_required and each.name not in given]
    if not missing:
        return None
    form = {
        "type": "object",
        "properties": {each.name: _field(each) for each in missing},
        "required": [each.name for each in missing],
    }
    return asked_of(Elicitation(prompt.description, form))


def completed(given: Mapping[str, str], asked: OpenQuestion, answer: Any) -> dict[str, str]:
    """`given` with what the user has answered. Raises `InvalidAnswer`."""
    found = answer_of(KEY, asked, answer)
    content = found.content if isinstance(found, Elicited) else {}
    fields = asked.params["requestedSchema"]["properties"]
    return {**given, **{name: content[name] for name in fields if name in content}}


def _field(argument: PromptArgument) -> dict[str, Any]:
    field: dict[str, Any] = {"type": "string", "description": argument.description}
    if argument.values:
        return {**field, "enum": [*argument.values]}
    return {**field, "maxLength": argument.max_length}
