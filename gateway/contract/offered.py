"""What MCP clients are offered beside tools: resources and prompts, as contracts declare them."""

import re
from collections.abc import Mapping
from functools import partial
from typing import Any, Final, Literal
from urllib.parse import unquote_to_bytes

from msgspec import Struct

from gateway.contract.values.hidden import visible_text

# Texts with placeholders, and the URI templates of resources.
#
# A placeholder is replaced once, by text that is not read again. There is no other syntax: braces
# around anything else are text.

_PLACEHOLDER: Final = re.compile(r"\{([A-Za-z][A-Za-z0-9_]*(?:\.[a-z][a-z0-9_]*)?)\}")
_UNRESERVED: Final = r"[A-Za-z0-9._~-]"
_VALUE: Final = rf"((?:{_UNRESERVED}|%[0-9A-Fa-f]{{2}})+)"
"""What simple expansion makes of a value that is not empty (RFC 6570 section 3.2.2)."""
_ONLY_UNRESERVED: Final = re.compile(rf"(?:{_UNRESERVED}|%[0-9A-Fa-f]{{2}})*")
_PIECE: Final = re.compile(rf"{_PLACEHOLDER.pattern}|(%[0-9A-Fa-f]{{2}}|.)", re.DOTALL)
LONGEST_URI: Final = 2_048
"""Characters of a URI that is looked up."""


def placeholders(text: str) -> tuple[str, ...]:
    """The names in the placeholders of `text`, in their order."""
    return tuple(_PLACEHOLDER.findall(text))


def filled(text: str, values: Mapping[str, str]) -> str:
    """`text` with `values` in the place of its placeholders. Raises `KeyError` if one lacks."""
    return _PLACEHOLDER.sub(partial(_value, values), text)


def _value(values: Mapping[str, str], found: re.Match[str]) -> str:
    return values[found[1]]


def _pieces(text: str) -> list[str | None]:
    """The characters of a template, each variable as None and each percent-encoded byte as one."""
    return [found[2] for found in _PIECE.finditer(text)]


def _are_alike(one: str | None, other: str | None) -> bool:
    """Whether two pieces can be the same text."""
    if one is None or other is None:
        return all(each is None or _ONLY_UNRESERVED.fullmatch(each) for each in (one, other))
    return one == other


class UriTemplate:
    """A URI template of level 1 (RFC 6570): placeholders in a URI."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.variables = placeholders(text)
        literals = _PLACEHOLDER.split(text)[::2]
        self._pattern = re.compile(_VALUE.join(map(re.escape, literals)))
        self.is_clear = len(set(self.variables)) == len(self.variables) and not any(
            _ONLY_UNRESERVED.fullmatch(each) for each in literals[1:-1]
        )
        """Whether each URI has one reading: no variable twice, and between two of them a character
        that no value contains."""

    def meets(self, other: "UriTemplate") -> bool:
        """Whether one URI can be made by both, if their variables may have any value."""
        ours, theirs = _pieces(self.text), _pieces(other.text)
        waiting, known = [(0, 0)], {(0, 0)}
        while waiting:
            i, j = waiting.pop()
            if (i, j) == (len(ours), len(theirs)):
                return True
            if i == len(ours) or j == len(theirs) or not _are_alike(ours[i], theirs[j]):
                continue
            # A variable may take the next piece too, a literal may not.
            nexts = {(i + 1, j + 1)}
            nexts |= {(i, j + 1)} if ours[i] is None else set()
            nexts |= {(i + 1, j)} if theirs[j] is None else set()
            waiting += nexts - known
            known |= nexts
        return False

    def match(self, uri: str) -> dict[str, str] | None:
        """The values with which the template makes `uri`. None if it cannot make it.

        A value is any other text that was percent-encoded, also `/`, `..` and line feeds. A URI
        whose values have hidden characters, such as NUL, is none.
        """
        found = self._pattern.fullmatch(uri) if len(uri) <= LONGEST_URI else None
        if found is None:
            return None
        try:
            values = [unquote_to_bytes(each).decode() for each in found.groups()]
        except UnicodeDecodeError:
            return None
        if any(visible_text(each)[1] for each in values):
            return None
        return dict(zip(self.variables, values, strict=True))


# Resources as their contracts declare them: `schemas/resources/<connector>/<name>.yaml`.

RESOURCES: Final = "resources"
"""The folder of the contracts, and the beginning of grants for resources."""
LARGEST: Final = 1 << 20
"""Bytes of the contents of one resource."""
Role = Literal["user", "assistant"]


class FileContents(Struct, frozen=True, kw_only=True, tag="file", omit_defaults=True):
    """The content of a file beside the contract. Exactly one of the members is set."""

    text: str | None = None
    blob: str | None = None
    """In base64 (RFC 4648 section 4)."""
    size: int
    """In bytes."""


class Supplied(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """An argument of the tool: the value of a variable, or a constant."""

    variable: str | None = None
    kind: Literal["integer", "number", "boolean"] | None = None
    """The JSON type as which the variable's text is read. None: string."""
    constant: Any = None


class ToolContents(Struct, frozen=True, kw_only=True, tag="tool"):
    """The result of a read tool."""

    operation: str
    arguments: Mapping[str, Supplied]


class HandlerContents(Struct, frozen=True, kw_only=True, tag="python"):
    """What a Python function, marked `@resource_handler`, returns for the variables."""

    module: str
    function: str


class Variable(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A variable of a URI template."""

    name: str
    description: str
    values: tuple[str, ...] = ()
    """The only values. Empty: any."""


class DeclaredResource(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A resource, or a template of resources."""

    connector: str
    name: str
    uri: str
    """With `is_template`, a URI template of level 1 (RFC 6570)."""
    is_template: bool = False
    title: str
    description: str
    mime_type: str
    audience: tuple[Role, ...] = ()
    priority: float | None = None
    variables: tuple[Variable, ...] = ()
    contents: FileContents | ToolContents | HandlerContents

    @property
    def grant(self) -> str:
        """What an agent must be granted: the tool that it comes from, or the resource itself."""
        if isinstance(self.contents, ToolContents):
            return self.contents.operation
        return f"{RESOURCES}/{self.connector}.{self.name}"


# Prompts as their contracts declare them: `schemas/prompts/<connector>/<name>.yaml`.

PROMPTS: Final = "prompts"
"""The folder of the contracts, and the beginning of grants for prompts."""
LONGEST_ARGUMENT: Final = 4_000
"""Characters of an argument, unless its contract says less."""


class PromptArgument(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """An argument of a prompt: a text."""

    name: str
    description: str
    is_required: bool = False
    values: tuple[str, ...] = ()
    """The only values. Empty: any."""
    max_length: int = LONGEST_ARGUMENT
    default: str = ""
    """What takes its place when it is not given."""


class PromptText(Struct, frozen=True, kw_only=True, tag="text"):
    """A text with placeholders: arguments, and ids of operations for the names of their tools."""

    text: str


class PromptImage(Struct, frozen=True, kw_only=True, tag="image"):
    """An image."""

    mime_type: str
    blob: str
    """In base64 (RFC 4648 section 4)."""


class PromptResource(Struct, frozen=True, kw_only=True, tag="resource", omit_defaults=True):
    """An embedded resource. Its URI and its text have placeholders, `blob` and `data` have none."""

    uri: str
    mime_type: str
    text: str | None = None
    data: str | None = None
    """The text of a file, which is sent as it is."""
    blob: str | None = None
    """In base64 (RFC 4648 section 4)."""


class PromptMessage(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One message of a prompt."""

    role: Role
    content: PromptText | PromptImage | PromptResource
    tools: tuple[str, ...] = ()
    """The operations that its placeholders name. Without one of them, the message is left out."""


class DeclaredPrompt(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A prompt."""

    connector: str
    name: str
    title: str
    description: str
    arguments: tuple[PromptArgument, ...] = ()
    messages: tuple[PromptMessage, ...]

    @property
    def grant(self) -> str:
        """What an agent must be granted."""
        return f"{PROMPTS}/{self.connector}.{self.name}"


class Offered(Struct, frozen=True, kw_only=True):
    """All that contracts offer beside tools, sorted by connector and name."""

    resources: tuple[DeclaredResource, ...] = ()
    prompts: tuple[DeclaredPrompt, ...] = ()

    @property
    def grants(self) -> frozenset[str]:
        """What agents are granted by name of its own: all but resources that come from tools."""
        found = [each.grant for each in self.resources]
        found += [each.grant for each in self.prompts]
        return frozenset(grant for grant in found if "/" in grant)

    @property
    def tools(self) -> frozenset[str]:
        """The operations that prompts name."""
        messages = (message for each in self.prompts for message in each.messages)
        return frozenset(tool for message in messages for tool in message.tools)
