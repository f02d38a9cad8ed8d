"""What a handler can ask the client of its call for, and the answers (MCP 2026-07-28, SEP-2322)."""

from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal, TypeAlias, get_args

from msgspec import Struct

AskKind = Literal["elicitation", "sampling", "roots"]
"""What a client must be able to do: ask its user, ask its model, name its roots."""

ASK_KINDS: Final[frozenset[AskKind]] = frozenset(get_args(AskKind))


class Elicitation(Struct, frozen=True):
    """A form for the client's user."""

    message: str
    schema: Mapping[str, Any]
    """The members of the form: an object of strings, numbers, booleans and choices, not nested."""


class Sampling(Struct, frozen=True, kw_only=True):
    """A request to the client's model."""

    messages: Sequence[Mapping[str, Any]]
    """As MCP has them: `role` and `content`."""
    max_tokens: int
    system_prompt: str | None = None
    options: Mapping[str, Any] = {}
    """Other parameters of `sampling/createMessage`, such as `temperature`."""


class RootsQuestion(Struct, frozen=True):
    """Which folders and files the client works on."""


Question: TypeAlias = Elicitation | Sampling | RootsQuestion


class Elicited(Struct, frozen=True):
    """What the user did with a form."""

    action: Literal["accept", "decline", "cancel"]
    """`decline`: the user said no. `cancel`: the user closed the form without an answer."""
    content: Mapping[str, Any] = {}
    """The form. It is valid against the schema. Empty unless it was accepted."""


class Sampled(Struct, frozen=True):
    """What the model said."""

    role: str
    content: Any
    """One content block of MCP, or a list of them."""
    model: str
    stop_reason: str | None = None

    @property
    def text(self) -> str:
        """The text of all text blocks."""
        blocks = self.content if isinstance(self.content, list) else [self.content]
        return "".join(each["text"] for each in blocks if each.get("type") == "text")


class Root(Struct, frozen=True):
    """A folder or file of the client."""

    uri: str
    name: str | None = None


Answer: TypeAlias = Elicited | Sampled | tuple[Root, ...]


def kind_of(question: Question) -> AskKind:
    """What a client must be able to do to answer `question`."""
    match question:
        case Elicitation():
            return "elicitation"
        case Sampling():
            return "sampling"
        case RootsQuestion():
            return "roots"
