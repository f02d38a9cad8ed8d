"""What the policies say about how an agent sees its tools."""

from typing import Literal, TypeAlias

from msgspec import Struct

ListMode: TypeAlias = Literal["full", "slim", "search"]
"""How much of the tools a list shows. `full`: all. `slim`: without what a model does not need.
`search`: tools that find and call the others."""


class AgentView(Struct, frozen=True, kw_only=True):
    """How an agent of `schemas/policies/` sees its tools. None where the policies do not say."""

    list: ListMode | None = None
    profile: str | None = None
    """The name of a client profile."""
