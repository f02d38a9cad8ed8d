"""Resources as their contracts declare them: `schemas/resources/<connector>/<name>.yaml`."""

from collections.abc import Mapping
from typing import Any, Final, Literal

from msgspec import Struct

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
