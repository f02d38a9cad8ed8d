"""The tools of the official conformance suite that ask in the handshake revisions."""

from collections.abc import Mapping
from typing import Any, Final

from generated.models.conformance.test_elicitation import (
    TestElicitationInput,
    TestElicitationOutput,
)
from generated.models.conformance.test_elicitation_sep1034_defaults import (
    TestElicitationSep1034DefaultsInput,
    TestElicitationSep1034DefaultsOutput,
)
from generated.models.conformance.test_elicitation_sep1330_enums import (
    TestElicitationSep1330EnumsInput,
    TestElicitationSep1330EnumsOutput,
)
from generated.models.conformance.test_sampling import TestSamplingInput, TestSamplingOutput

from gateway.contract.connector import tool_handler
from gateway.contract.context import CallContext
from gateway.contract.policies.questions import Elicited

USER: Final[Mapping[str, Any]] = {
    "type": "object",
    "properties": {
        "username": {"type": "string", "description": "User's response"},
        "email": {"type": "string", "description": "User's email address"},
    },
    "required": ["username", "email"],
}
DEFAULTS: Final[Mapping[str, Any]] = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "default": "John Doe"},
        "age": {"type": "integer", "default": 30},
        "score": {"type": "number", "default": 95.5},
        "status": {
            "type": "string",
            "enum": ["active", "inactive", "pending"],
            "default": "active",
        },
        "verified": {"type": "boolean", "default": True},
    },
}
_VALUES: Final = [
    {"const": "value1", "title": "First Choice"},
    {"const": "value2", "title": "Second Choice"},
    {"const": "value3", "title": "Third Choice"},
]
_OPTIONS: Final = {"type": "string", "enum": ["option1", "option2", "option3"]}
CHOICES: Final[Mapping[str, Any]] = {
    "type": "object",
    "properties": {
        "untitledSingle": _OPTIONS,
        "titledSingle": {"type": "string", "oneOf": _VALUES},
        "legacyEnum": {
            "type": "string",
            "enum": ["opt1", "opt2", "opt3"],
            "enumNames": ["Option One", "Option Two", "Option Three"],
        },
        "untitledMulti": {"type": "array", "items": _OPTIONS},
        "titledMulti": {"type": "array", "items": {"anyOf": _VALUES}},
    },
}


def _completed(answer: Elicited) -> str:
    return f"Elicitation completed: action={answer.action}, content={answer.content}"[:400]


@tool_handler
async def sampling(arguments: TestSamplingInput, context: CallContext) -> TestSamplingOutput:
    """What the model says."""
    answer = await context.sample(arguments.prompt, max_tokens=100)
    return TestSamplingOutput(text=f"LLM response: {answer.text}"[:400])


@tool_handler
async def elicitation(
    arguments: TestElicitationInput, context: CallContext
) -> TestElicitationOutput:
    """What the user says."""
    answer = await context.ask(arguments.message, USER)
    said = f"action: {answer.action}, content: {answer.content}"
    return TestElicitationOutput(text=f"User response: {said}"[:400])


@tool_handler
async def elicitation_defaults(
    _: TestElicitationSep1034DefaultsInput, context: CallContext
) -> TestElicitationSep1034DefaultsOutput:
    """A form with defaults."""
    answer = await context.ask("Who are you?", DEFAULTS)
    return TestElicitationSep1034DefaultsOutput(text=_completed(answer))


@tool_handler
async def elicitation_enums(
    _: TestElicitationSep1330EnumsInput, context: CallContext
) -> TestElicitationSep1330EnumsOutput:
    """A form of choices."""
    answer = await context.ask("What do you choose?", CHOICES)
    return TestElicitationSep1330EnumsOutput(text=_completed(answer))
