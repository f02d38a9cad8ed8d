"""The records of a parsed binding.

`pointer` of every record is the JSON Pointer of its text inside `x-binding`.
"""

from collections.abc import Mapping
from typing import Any, Final, Literal

from msgspec import UNSET, Struct, UnsetType

from gateway.contract.upstream import Upstream
from gateway.contract.values.pointers import pointer_of

Root = Literal["inputs", "payload", "body", "header", "settings", "call", "item"]
Conversion = Literal[
    "string", "integer", "number", "boolean", "decimal-2", "date", "time", "date-time"
]
FallbackKind = Literal["error", "omit", "skip-item", "const"]


class BindingSource(Struct, frozen=True, kw_only=True):
    """The parts of the contracts that determine one tool's binding. Schemas are dereferenced."""

    tool_id: str
    x_binding: dict[str, Any]
    input_schema: dict[str, Any]
    output_schema: dict[str, Any]
    upstream: Upstream | None = None
    """The upstream that `x-binding.upstream` names; None for a Python binding."""
    declared_errors: frozenset[str] = frozenset()
    """Names under `x-policy.errors`."""
    package: str = "generated"
    """The package of the generated code."""
    is_file: bool = False
    """Whether the results of a Python binding are files."""


class MappingError(Struct, frozen=True, kw_only=True):
    """One problem of a binding or an event."""

    pointer: str
    """JSON Pointer inside `x-binding`."""
    rule: str
    message: str
    fix: str


def problem(pointer: str, rule: str, message: str, fix: str) -> MappingError:
    """A problem of the rule `binding/<rule>`."""
    return MappingError(pointer=pointer, rule=f"binding/{rule}", message=message, fix=fix)


class ReadExpression(Struct, frozen=True):
    """A parsed expression: the source of a value."""

    root: Root
    steps: tuple[str, ...] = ()

    def __str__(self) -> str:
        match self.root:
            case "item":
                return "@" + self.json_pointer
            case "header" | "settings" | "call":
                name = "response.header" if self.root == "header" else self.root
                return f"${name}.{self.steps[0]}"
            case root:
                word = _WORDS[root]
                if root == "inputs" and all(map(_is_plain, self.steps)):
                    return ".".join([word, *self.steps])
                return f"{word}#{self.json_pointer}" if self.steps else word

    @property
    def json_pointer(self) -> str:
        return pointer_of(self.steps)


_WORDS: Final[Mapping[Root, str]] = {
    "inputs": "$inputs",
    "payload": "$request.body",
    "body": "$response.body",
}


def _is_plain(step: str) -> bool:
    """Whether `step` may be written after a dot."""
    return step.replace("-", "_").isidentifier() and step.isascii()


class Presence(Struct, frozen=True, kw_only=True):
    """When a value is present, and what replaces an absent one."""

    when: ReadExpression | None = None
    is_omitted_if_absent: bool = False
    default: Any | UnsetType = UNSET
    """A value of the target schema. It is neither converted nor mapped."""


ALWAYS = Presence()


class Fallback(Struct, frozen=True):
    """What replaces a value that the target refuses (`else`, `onGap`)."""

    kind: FallbackKind
    constant: Any = None


class Read(Struct, frozen=True, kw_only=True):
    """`{value: EXPR, …}` or a bare expression."""

    pointer: str
    source: ReadExpression
    conversion: Conversion | None = None
    table: Mapping[str, Any] | None = None
    unmapped: Fallback | None = None
    """`else`."""
    gap: Fallback | None = None
    """`onGap`."""
    presence: Presence = ALWAYS


class Constant(Struct, frozen=True, kw_only=True):
    """`{const: X}`."""

    pointer: str
    value: Any
    presence: Presence = ALWAYS


class Members(Struct, frozen=True, kw_only=True):
    """`{object: {member: VALUE}}`, or the members of a group or a result."""

    pointer: str
    values: "Mapping[str, Value]"
    presence: Presence = ALWAYS


class Items(Struct, frozen=True, kw_only=True):
    """`{array: [VALUE, …]}`."""

    pointer: str
    values: "tuple[Value, ...]"
    presence: Presence = ALWAYS


class ItemFilter(Struct, frozen=True, kw_only=True):
    """The filter of a list's items: `where` for values, and `when` for presence."""

    allowed: Mapping[ReadExpression, tuple[Any, ...]] = {}
    needed: ReadExpression | None = None


class Each(Struct, frozen=True, kw_only=True):
    """`{each: EXPR, item: …}`."""

    pointer: str
    source: ReadExpression
    item: "Value"
    limit: int | None = None
    keep: ItemFilter = ItemFilter()
    presence: Presence = ALWAYS


class Count(Struct, frozen=True, kw_only=True):
    """`{count: EXPR}`."""

    pointer: str
    source: ReadExpression
    keep: ItemFilter = ItemFilter()
    presence: Presence = ALWAYS


class FieldFunction(Struct, frozen=True, kw_only=True):
    """`{python: module:function, with: [EXPR, …]}`. An absent argument is None."""

    pointer: str
    module: str
    function: str
    arguments: tuple[ReadExpression, ...]
    presence: Presence = ALWAYS


class Reference(Struct, frozen=True, kw_only=True):
    """`{ref: KIND, key: {column: VALUE}}`: the id of a row, which need not exist yet."""

    pointer: str
    kind: str
    key: Members
    """With `omitIfAbsent`, absent if one of its members is absent."""
    presence: Presence = ALWAYS


Value = Read | Constant | Members | Items | Each | Count | FieldFunction | Reference


class ErrorMeaning(Struct, frozen=True, kw_only=True):
    """The meaning of an upstream's status or code: a declared error or a result."""

    pointer: str
    reason: str | None = None
    result: Members | None = None


class HttpMap(Struct, frozen=True, kw_only=True):
    """An HTTP binding, or its fallback."""

    pointer: str
    upstream: str = ""
    """Empty for a fallback, which uses the same upstream."""
    operation: str
    path: Members
    query: Members
    header: Members
    body: Members | None
    results: "Mapping[str, Members | Read]"
    errors: Mapping[str, ErrorMeaning]
    fallback_on: tuple[str, ...] = ()
    is_write: bool = False
    """Whether a fallback writes."""
    fallback: "HttpMap | None" = None


class DocumentCall(Struct, frozen=True, kw_only=True):
    """A binding without a field map: the arguments are those of an operation of an import."""

    pointer: str
    upstream: str
    operation: str
    errors: Mapping[str, ErrorMeaning]


class HandlerMap(Struct, frozen=True, kw_only=True):
    """A Python binding: `module:function`."""

    pointer: str
    module: str
    function: str
    upstreams: tuple[str, ...] = ()
    """The upstreams that the function may use."""
    asks: tuple[str, ...] = ()
    """What the function may ask the client for."""
    reads_entities: bool = False
    asks_for_context: bool = False

    @property
    def takes_context(self) -> bool:
        """Whether the function gets the call context as its second argument."""
        return bool(self.upstreams or self.asks) or self.reads_entities or self.asks_for_context


WrittenBinding = HttpMap | HandlerMap | DocumentCall
"""What `x-binding` says."""
