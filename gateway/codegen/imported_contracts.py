"""What the generator knows of imported documents, of which the records have all."""

from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import Raw, Struct

from gateway.contract.imported import ImportedReply, ResultCheck
from gateway.contract.operation import CallPolicy, Effect
from gateway.contract.policies.limits import ToolLimits
from gateway.contracts.policies import GrantableTool
from gateway.encoding.replies.results import published_results


class ImportedTool(Struct, frozen=True, kw_only=True):
    """An operation of an imported document, for policies and the published OpenAPI document."""

    id: str
    tool: str
    title: str
    description: str
    effect: Effect
    input_schema: Raw
    """Refers to the definitions of its contract as `#/$defs/<name>`."""
    method: str = ""
    replies: Raw = Raw(b"[]")
    """A list of `ImportedReply`."""
    selects_fields: bool = False
    file_types: tuple[str, ...] = ()
    sensitive: tuple[str, ...] = ()
    limits: ToolLimits | None = None
    policy: CallPolicy = CallPolicy()
    results: ResultCheck = "enforce"
    tags: tuple[str, ...] = ()

    @property
    def grantable(self) -> GrantableTool:
        """What grants need to know of it."""
        return GrantableTool(id=self.id, effect=self.effect, tags=self.tags)

    def decoded_schema(self) -> dict[str, Any]:
        """The input schema, decoded each time: those of ten thousand tools are hundreds of MB."""
        return msgspec.json.decode(self.input_schema, type=dict[str, Any])

    def published_results(self, definitions: Mapping[str, Any]) -> dict[str, Any]:
        """The schema of the results, made each time. It has the definitions that it needs."""
        replies = msgspec.json.decode(self.replies, type=tuple[ImportedReply, ...])
        is_enforced = self.results != "report" and self.method != "HEAD"
        return published_results(replies, definitions, is_enforced=is_enforced)


class ImportedContract(Struct, frozen=True, kw_only=True):
    """An imported document, without what only the run time needs."""

    connector: str
    title: str
    operations: tuple[ImportedTool, ...]
    bound: tuple[ImportedTool, ...] = ()
    """Those that only tools with contract files call."""
    definitions: dict[str, Raw] = {}

    def decoded_definitions(self) -> dict[str, Any]:
        """The definitions, decoded each time."""
        return {name: msgspec.json.decode(raw) for name, raw in self.definitions.items()}
