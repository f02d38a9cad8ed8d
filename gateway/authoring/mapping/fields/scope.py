"""Finds the expressions of a value, their schemas, and whether a value may be absent."""

from collections.abc import Iterator, Mapping
from typing import Any, Literal

from msgspec import UNSET, Struct, UnsetType
from msgspec.structs import replace

from gateway.authoring.mapping.fields.nodes import (
    Constant,
    Count,
    Each,
    FieldFunction,
    ItemFilter,
    Items,
    Members,
    Read,
    ReadExpression,
    Reference,
    Value,
)
from gateway.contract.schemas.algebra import Schema, admits, kinds, without_null
from gateway.contract.schemas.shapes import child, items_of, members_of
from gateway.contract.values.nearest import did_you_mean

# Finds the schema of an expression's values, and whether a value may be absent.

Tenancy = Literal["none", "some", "all"]

CALL_SCHEMAS: Mapping[str, Schema] = {
    "id": {"type": "string", "minLength": 1, "maxLength": 64},
    "now": {"type": "string", "format": "date-time", "minLength": 20, "maxLength": 35},
    "tenant": {"type": "string", "minLength": 1, "maxLength": 100},
    "elapsed_ms": {"type": "integer", "minimum": 0},
    "may_escalate": {"type": "boolean"},
}


ROW_ID: Schema = {"type": "string", "format": "uuid"}
"""The schema of a row's id."""


class UnknownSource(Exception):
    """An expression does not refer to a declared value."""

    def __init__(self, message: str, fix: str) -> None:
        super().__init__(message)
        self.message = message
        self.fix = fix


class PathStep(Struct, frozen=True):
    """One step from a value to a member or an item."""

    key: str | int
    is_certain: bool
    """Whether every valid value has this member or item."""
    is_in_object: bool = True
    """Whether the value is always an object."""


class SourceValues(Struct, frozen=True, kw_only=True):
    """The values that an expression may read."""

    source: ReadExpression
    steps: tuple[PathStep, ...]
    schema: Schema
    """The schema of a present value."""
    is_null_absent: bool
    """Whether the value may be null, which counts as absent."""
    default: Any | UnsetType = UNSET
    """The default of the input schema for a missing argument."""
    pointer: str
    """The pointer for errors: into the arguments or the reply's body, with `*` for any index, or
    `/header/<name>`."""

    @property
    def may_be_absent(self) -> bool:
        is_certain = all(step.is_certain for step in self.steps) and not self.is_null_absent
        return not is_certain and self.default is UNSET


class Scope(Struct, frozen=True, kw_only=True):
    """The values that an expression may read at one place of a field map."""

    inputs: Schema | None = None
    payload: Schema | None = None
    """The schema of the webhook's payload, or of the reply that was fetched for it."""
    payload_side: str = "the payload"
    """The name of the payload in errors."""
    entities: Mapping[str, Schema] = {}
    """Schemas of the keys of entities that may be referred to, by kind."""
    settings: Mapping[str, Schema] = {}
    """Schemas of the settings, by name."""
    empty_settings: frozenset[str] = frozenset()
    """Settings that may be empty, and are then absent."""
    tenancy: Tenancy = "none"
    """Which messages of the webhook name a tenant."""
    body: Schema | None = None
    is_reply: bool = False
    reply: str = "the reply"
    """The name of the reply in errors, such as `the reply of findBooks`."""
    item: Schema | None = None
    item_side: str = "the item"
    """The name in errors of the value that contains the item's list."""
    item_pointer: str = ""
    known: Mapping[ReadExpression, tuple[Any, ...] | None] = {}
    """Sources that are present here because of a `when` or `where`, with their allowed values."""

    def assuming(self, source: ReadExpression | None) -> "Scope":
        """The scope in which `source` is present."""
        return self if source is None else replace(self, known={**self.known, source: None})

    def entering(self, items: SourceValues, keep: ItemFilter) -> "Scope":
        """The scope of an item of the list `items` that `keep` accepts."""
        inner = self.entering_any(items)
        if keep.needed is not None:
            inner = inner.assuming(keep.needed)
        return replace(inner, known={**inner.known, **keep.allowed})

    def entering_any(self, items: SourceValues) -> "Scope":
        """The scope of any item of the list `items`, in which its filter is checked."""
        return replace(
            self,
            item=items_of(items.schema),
            item_side=self._side(items.source),
            item_pointer=f"{items.pointer}/*",
            known={
                source: allowed for source, allowed in self.known.items() if source.root != "item"
            },
        )

    def find(self, source: ReadExpression) -> SourceValues:
        """The values that `source` may read. Raises `UnknownSource`."""
        match source.root:
            case "call":
                return self._call(source)
            case "settings":
                return self._setting(source)
            case "header":
                return self._header(source)
            case "item":
                return self._walk(source, self._item(), self.item_pointer)
            case "inputs" | "payload" | "body" as root:
                sides = {"inputs": self._inputs, "payload": self._payload, "body": self._body}
                return self._walk(source, sides[root](), "")

    def _call(self, source: ReadExpression) -> SourceValues:
        name = source.steps[0]
        if name == "elapsed_ms" and not self.is_reply:
            raise UnknownSource(
                "is not known before the reply", "use it only under response or errors"
            )
        if name == "tenant" and self.tenancy == "none":
            raise UnknownSource(
                "no profile of this event names a tenant",
                "declare the profile's tenant, or read something else",
            )
        is_certain = name != "tenant" or self.tenancy == "all" or source in self.known
        return SourceValues(
            source=source,
            steps=() if is_certain else (PathStep(name, is_certain=False),),
            schema=CALL_SCHEMAS[name],
            is_null_absent=False,
            pointer=f"/{name}",
        )

    def _setting(self, source: ReadExpression) -> SourceValues:
        name = source.steps[0]
        if name not in self.settings:
            owner = "upstream" if self.payload is None else "webhook"
            raise UnknownSource(
                f"the {owner} declares no setting {name}",
                did_you_mean(name, self.settings)
                or f"declare it under x-{owner}.settings, or correct the name",
            )
        return SourceValues(
            source=source,
            steps=(
                PathStep(name, is_certain=name not in self.empty_settings or source in self.known),
            ),
            schema=self.settings[name],
            is_null_absent=False,
            pointer=f"/settings/{name}",
        )

    def _header(self, source: ReadExpression) -> SourceValues:
        if not self.is_reply:
            raise UnknownSource("there is no reply yet", "use it only under response or errors")
        return SourceValues(
            source=source,
            steps=(PathStep(source.steps[0], source in self.known),),
            schema={"type": "string"},
            is_null_absent=False,
            pointer=f"/header/{source.steps[0]}",
        )

    def _inputs(self) -> Schema:
        if self.inputs is None:
            raise UnknownSource("a webhook has no arguments", "read $request.body")
        return self.inputs

    def _payload(self) -> Schema:
        if self.payload is None:
            raise UnknownSource("this is not a webhook", "read $inputs or $response.body")
        return self.payload

    def _body(self) -> Schema:
        if not self.is_reply:
            raise UnknownSource("there is no reply yet", "use it only under response or errors")
        if self.body is None:
            raise UnknownSource(
                "only the body of a success whose schema the upstream declares can be read",
                "declare the body's schema, or use constants and $inputs",
            )
        return self.body

    def _item(self) -> Schema:
        if self.item is None:
            raise UnknownSource(
                "there is no item outside each and count", "read from the list instead"
            )
        return self.item

    def _walk(self, source: ReadExpression, schema: Schema, pointer: str) -> SourceValues:
        steps: list[PathStep] = []
        reached = ReadExpression(source.root)
        for name in source.steps:
            schema = self._narrowed(reached, schema)
            is_container, found = child(schema, name)
            reached = ReadExpression(source.root, (*reached.steps, name))
            if found is None:
                where = pointer + reached.json_pointer
                raise UnknownSource(
                    f"{self._side(source)} has no {where}",
                    did_you_mean(name, members_of(schema))
                    or "correct the name or declare it in the contract",
                )
            is_known = self._is_known(reached)
            key = int(name) if kinds(without_null(schema)) == {"array"} else name
            is_surely_inside = (is_container or is_known) and all(s.is_certain for s in steps)
            steps.append(
                PathStep(
                    key,
                    is_certain=is_known or (is_container and found.is_required),
                    is_in_object=is_surely_inside and isinstance(key, str),
                )
            )
            schema = found.schema
        return self._source_values(source, tuple(steps), schema, pointer)

    def _side(self, source: ReadExpression) -> str:
        """The name in errors of the value that contains `source`."""
        sides = {
            "inputs": "the input schema",
            "payload": self.payload_side,
            "body": self.reply,
            "item": self.item_side,
        }
        return sides.get(source.root, str(source))

    def _source_values(
        self, source: ReadExpression, steps: tuple[PathStep, ...], schema: Schema, pointer: str
    ) -> SourceValues:
        is_nullable = admits(schema, None) and source.root != "inputs"
        allowed = self.known.get(source)
        if allowed is not None:
            schema = {"enum": [value for value in allowed if admits(schema, value)]}
        return SourceValues(
            source=source,
            steps=steps,
            schema=without_null(schema) if source.root != "inputs" else schema,
            is_null_absent=is_nullable and not self._is_known(source),
            default=schema.get("default", UNSET) if _is_optional_input(source, steps) else UNSET,
            pointer=pointer + source.json_pointer,
        )

    def _narrowed(self, source: ReadExpression, schema: Schema) -> Schema:
        """`schema`, without null if `source` is known to be present."""
        is_not_null = source.root != "inputs" and self._is_known(source)
        return without_null(schema) if is_not_null else schema

    def _is_known(self, source: ReadExpression) -> bool:
        length = len(source.steps)
        return any(
            known.root == source.root and known.steps[:length] == source.steps
            for known in self.known
        )


def _is_optional_input(source: ReadExpression, steps: tuple[PathStep, ...]) -> bool:
    return source.root == "inputs" and not all(step.is_certain for step in steps)


# Determines whether a mapped value may be absent from its object or list.


def inner_scope(value: Value, scope: Scope) -> Scope:
    """The scope inside `value`, in which the source of its `when` is present."""
    return scope.assuming(value.presence.when)


def may_be_absent(value: Value, scope: Scope) -> bool:
    """Whether the compiled expression may yield `ABSENT`."""
    when = value.presence.when
    if when is not None and scope.find(when).may_be_absent:
        return True
    return _is_missing(value, inner_scope(value, scope))


def _is_missing(value: Value, scope: Scope) -> bool:
    """`may_be_absent` if the source of the value's own `when` is present."""
    match value:
        case Read() | Each() | Count():
            is_answered = value.presence.default is not UNSET or is_needed(value)
            is_lost = not is_answered and scope.find(value.source).may_be_absent
            return is_lost or (value.presence.default is UNSET and _is_dropped(value))
        case Members(presence=presence):
            return presence.is_omitted_if_absent and any(
                may_be_absent(member, scope) and not is_droppable(member)
                for member in value.values.values()
            )
        case Reference(key=key):
            return _is_missing(key, scope)
        case FieldFunction(presence=presence):
            return presence.is_omitted_if_absent
        case Constant() | Items():
            return False


def is_droppable(value: Value) -> bool:
    """Whether the author allows the object around it to exist without this value."""
    presence = value.presence
    return presence.is_omitted_if_absent or presence.when is not None or _is_dropped(value)


def is_needed(value: Value) -> bool:
    """Whether only `onGap` handles the absence of the value, with another fallback than omit."""
    presence = value.presence
    is_handled = presence.is_omitted_if_absent or presence.default is not UNSET
    has_fallback = isinstance(value, Read) and value.gap is not None and value.gap.kind != "omit"
    return has_fallback and not is_handled


def _is_dropped(value: Value) -> bool:
    """Whether a value that has no counterpart in the target is left out."""
    fallbacks = (value.unmapped, value.gap) if isinstance(value, Read) else ()
    return any(fallback is not None and fallback.kind == "omit" for fallback in fallbacks)


# Finds the expressions and the parts of a value.


def sources_of(value: Value) -> tuple[ReadExpression, ...]:
    """The expressions in `value`, except those that read items of a list inside it."""
    own = () if value.presence.when is None else (value.presence.when,)
    match value:
        case Read(source=source) | Count(source=source):
            return (*own, source)
        case FieldFunction(arguments=arguments):
            return (*own, *arguments)
        case Members(values=members) | Reference(key=Members(values=members)):
            return (*own, *_all(iter(members.values())))
        case Items(values=values):
            return (*own, *_all(iter(values)))
        case Each(source=source, item=item):
            inner = (found for found in sources_of(item) if found.root != "item")
            return (*own, source, *inner)
        case Constant():
            return own


def _all(values: Iterator[Value]) -> Iterator[ReadExpression]:
    return (source for value in values for source in sources_of(value))


def reads_of(value: Value) -> Iterator[Read]:
    """All reads inside `value`."""
    return (leaf for leaf in leaves_of(value) if isinstance(leaf, Read))


def leaves_of(value: Value) -> Iterator[Value]:
    """All values inside `value` that contain no other values."""
    match value:
        case Members(values=members) | Reference(key=Members(values=members)):
            for member in members.values():
                yield from leaves_of(member)
        case Items(values=values):
            for part in values:
                yield from leaves_of(part)
        case Each(item=item):
            yield from leaves_of(item)
        case _:
            yield value


def may_skip(value: Value) -> bool:
    """Whether a fallback in `value` may leave out the list item that contains it."""
    fallbacks = (fallback for read in reads_of(value) for fallback in (read.unmapped, read.gap))
    return any(fallback is not None and fallback.kind == "skip-item" for fallback in fallbacks)
