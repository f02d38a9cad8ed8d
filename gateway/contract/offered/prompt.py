"""Prompts as their contracts declare them: `schemas/prompts/<connector>/<name>.yaml`."""

from typing import Final

from msgspec import Struct

from gateway.contract.offered.resource import DeclaredResource, Role

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
