"""Reads answers of clients, and writes questions to them."""

from collections.abc import Mapping
from typing import Any, Final, TypeAlias

import msgspec
from msgspec import Struct

from gateway.calls.asking.errors import InvalidAnswer
from gateway.calls.asking.wire import METHODS, Given, OpenQuestion
from gateway.contract.policies.questions import (
    Answer,
    Elicitation,
    Elicited,
    Question,
    Root,
    RootsQuestion,
    Sampled,
    Sampling,
    kind_of,
)
from gateway.contract.values import jsontext
from gateway.contract.values.schema import Validator


class _Elicited(Struct, frozen=True):
    action: str
    content: dict[str, Any] | None = None


class _Sampled(Struct, frozen=True, rename="camel"):
    role: str
    content: dict[str, Any] | list[dict[str, Any]]
    model: str
    stop_reason: str | None = None


class _Rooted(Struct, frozen=True):
    roots: list[Root]


Form: TypeAlias = type[_Elicited] | type[_Sampled] | type[_Rooted]
_FORMS: Final[Mapping[str, Form]] = {
    METHODS["elicitation"]: _Elicited,
    METHODS["sampling"]: _Sampled,
    METHODS["roots"]: _Rooted,
}
_ACTIONS: Final = ("accept", "decline", "cancel")
_ROLES: Final = ("user", "assistant")


def asked_of(question: Question) -> OpenQuestion:
    """The request of `question`, as MCP has it."""
    method = METHODS[kind_of(question)]
    match question:
        case Elicitation(message=message, schema=schema):
            form = {"mode": "form", "message": message, "requestedSchema": dict(schema)}
            return OpenQuestion(method, form)
        case Sampling() as sampling:
            params: dict[str, Any] = {
                "messages": [dict(each) for each in sampling.messages],
                "maxTokens": sampling.max_tokens,
                **sampling.options,
            }
            if sampling.system_prompt is not None:
                params["systemPrompt"] = sampling.system_prompt
            return OpenQuestion(method, params)
        case RootsQuestion():
            return OpenQuestion(method, {})


def answer_of(key: str, asked: OpenQuestion, given: Any) -> Answer:
    """The answer that `given` is to the question with this key. Raises `InvalidAnswer`."""
    try:
        found = msgspec.convert(given, _FORMS[asked.method])
    except msgspec.ValidationError as error:
        raise InvalidAnswer(f"The answer to {key} is not valid: {error}.") from None
    match found:
        case _Elicited(action=action, content=content):
            return _elicited(key, asked, action, content)
        case _Sampled():
            return _sampled(key, found)
        case _Rooted(roots=roots):
            return tuple(roots)


def _sampled(key: str, found: _Sampled) -> Sampled:
    if found.role not in _ROLES:
        raise InvalidAnswer(f"The role of the answer to {key} is none of {_ROLES}.")
    blocks = found.content if isinstance(found.content, list) else [found.content]
    if not all(_is_block(each) for each in blocks):
        detail = "a content block has a type, and a text block has a text"
        raise InvalidAnswer(f"The answer to {key} is not valid: {detail}.")
    return Sampled(found.role, found.content, found.model, found.stop_reason)


def _is_block(block: Mapping[str, Any]) -> bool:
    kind = block.get("type")
    return isinstance(kind, str) and (kind != "text" or isinstance(block.get("text"), str))


def _elicited(
    key: str, asked: OpenQuestion, action: str, content: dict[str, Any] | None
) -> Elicited:
    match action:
        case "accept":
            violations = Validator(asked.params["requestedSchema"]).violations(content or {})
            if violations:
                first = violations[0]
                detail = f"{first.pointer or 'the form'} {first.detail}"
                raise InvalidAnswer(f"The answer to {key} is not valid: {detail}.")
            return Elicited("accept", content or {})
        case "decline" | "cancel":
            return Elicited(action)
        case _:
            raise InvalidAnswer(f"The action of the answer to {key} is none of {_ACTIONS}.")


def require_answer(key: str, asked: OpenQuestion, given: Any) -> None:
    """Raise `InvalidAnswer` unless `given` answers the question with this key."""
    answer_of(key, asked, given)


def size_of(given: Mapping[str, Given]) -> int:
    """How many bytes the answers have as JSON text."""
    return len(jsontext.encode({key: each.answer for key, each in given.items()}))
