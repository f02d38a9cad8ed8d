"""Runs the code that a map becomes on values that may arrive, to find a result that is refused."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from msgspec import UNSET, UnsetType

from gateway.authoring.mapping.fields.emit import EmitContext, emit
from gateway.authoring.mapping.fields.nodes import (
    Count,
    Each,
    FieldFunction,
    Items,
    Members,
    Read,
    ReadExpression,
    Root,
    Value,
)
from gateway.authoring.mapping.fields.pycode import Module
from gateway.authoring.mapping.fields.scope import Scope, UnknownSource, leaves_of, sources_of
from gateway.authoring.mapping.fields.walk import FieldContext
from gateway.contract.context import CallFacts
from gateway.contract.fields.fieldmap import ABSENT, SkipItem, Unmappable, dig, is_one_of
from gateway.contract.schemas.algebra import Schema, admits
from gateway.contract.schemas.flattening import NoSample
from gateway.contract.schemas.samples import Samples, Schemas
from gateway.contract.upstream import ReplyFacts

_TRIES: Final = 24
_MOST_ITEMS: Final = 1_000
_ROOTS: Final[tuple[Root, ...]] = ("inputs", "payload", "body", "item")
_PARAMETERS: Final = ("item", "arguments", "payload", "call", "body", "reply")

Arrived = Mapping[Root, Any]
"""The values that the map reads, by their root."""
Hints = list[tuple[ReadExpression, Any]]
"""What the sources of a value should be. `ABSENT`: nothing."""


def refused_result(context: FieldContext, made: Schema, hint: Any | UnsetType) -> Any | UnsetType:
    """A result of the map that its target refuses. `UNSET` if none is found.

    Only results that `made` admits count: others have a part whose own verdict says so. `hint` is
    such a result if the values inside it could all arrive together. A map that calls functions of
    the author is not run.
    """
    if any(isinstance(leaf, FieldFunction) for leaf in leaves_of(context.value)):
        return UNSET
    try:
        run = _compiled(context)
        for arrived in _arrivals(context, hint):
            result = _result(run, arrived)
            if result is not UNSET and admits(made, result) and not admits(context.target, result):
                return result
    except (UnknownSource, NoSample):
        return UNSET
    return UNSET


def _compiled(context: FieldContext) -> Callable[..., Any]:
    """The function that the value becomes, as it would be generated."""
    module = Module()
    inside = EmitContext(module=module, scope=context.scope, target=context.target)
    text = emit(context.value, inside)
    module.define("_trial", _PARAMETERS, "Any", [text])
    names: dict[str, Any] = {"__name__": "gateway.trial"}
    exec(compile(module.text("A trial.", "", "_trial", name="TRIAL"), "trial", "exec"), names)  # noqa: S102 - text that is generated here
    found: Callable[..., Any] = names["TRIAL"]
    return found


def _result(run: Callable[..., Any], arrived: Arrived) -> Any | UnsetType:
    """The result. `UNSET` if there is none, or if the author's map refuses what arrived."""
    call = CallFacts(id="call-1", now="2026-11-20T10:00:00Z", settings=_Everything())
    body = arrived.get("body")
    reply = ReplyFacts(status=200, headers={}, body=body, elapsed_ms=1)
    given = (arrived.get("item"), arrived.get("inputs"), arrived.get("payload"), call, body, reply)
    try:
        result = run(*given)
    except (SkipItem, Unmappable, LookupError, TypeError, ValueError):
        return UNSET
    return UNSET if result is ABSENT else result


class _Everything(dict[str, str]):
    """Settings of any name. Their values do not matter to the rules of an object."""

    def __missing__(self, name: str) -> str:
        return name


def _arrivals(context: FieldContext, hint: Any | UnsetType) -> Iterator[Arrived]:
    scope = context.inner
    used = {each.root for each in (*sources_of(context.value), *scope.known)}
    schemas = {root: _schema(scope, root) for root in _ROOTS if root in used}
    samples = {root: _samples(schema) for root, schema in schemas.items()}
    hints = [] if hint is UNSET else _hints(context.value, hint, scope)
    for number in range(_TRIES):
        arrived = {root: _sample(each, number) for root, each in samples.items()}
        if number % 2 == 0:
            arrived = _laid(arrived, hints, scope)
        if all(admits(schemas[root], each) for root, each in arrived.items()) and all(
            _holds(arrived, source, allowed) for source, allowed in scope.known.items()
        ):
            yield arrived
        if not samples:
            return


def _schema(scope: Scope, root: Root) -> Schema:
    known = {
        "inputs": scope.inputs,
        "payload": scope.payload,
        "body": scope.body,
        "item": scope.item,
    }
    return known[root] or {}


def _samples(schema: Schema) -> Samples:
    return Schemas(schema.get("$defs", {})).samples(schema)


def _sample(samples: Samples, number: int) -> Any:
    """A value of the schema, another one for each number. Raises `NoSample`."""
    return samples.sample("trial", str(number), is_example=False, is_short=number % 3 == 0)


def _holds(arrived: Arrived, source: ReadExpression, allowed: tuple[Any, ...] | None) -> bool:
    """Whether a `when` or `where` around the value lets it through."""
    if source.root not in arrived:
        return True
    found = dig(arrived[source.root], *source.steps)
    if allowed is not None:
        return found is not ABSENT and is_one_of(found, allowed)
    return found is not ABSENT and (found is not None or source.root == "inputs")


def _hints(value: Value, wanted: Any, scope: Scope) -> Hints:
    """What should arrive so that `value` becomes `wanted`."""
    match value:
        case Read(source=source):
            return [(source, _read_hint(value, wanted))]
        case Count(source=source) if isinstance(wanted, int) and wanted <= _MOST_ITEMS:
            return [(source, [_item(value, None, scope)] * wanted)]
        case Members(values=members) if isinstance(wanted, dict):
            pairs = ((part, wanted.get(name, ABSENT)) for name, part in members.items())
            return [hint for part, each in pairs for hint in _hints(part, each, scope)]
        case Items(values=parts) if isinstance(wanted, list):
            return [
                hint
                for part, each in zip(parts, wanted, strict=False)
                for hint in _hints(part, each, scope)
            ]
        case Each(source=source) if isinstance(wanted, list):
            return [(source, [_item(value, each, scope) for each in wanted])]
        case _:
            return []


def _read_hint(value: Read, wanted: Any) -> Any:
    """What should arrive so that `value` becomes `wanted`. A converted value is given as it is."""
    default = value.presence.default
    if default is not UNSET and is_one_of(wanted, (default,)):
        return ABSENT
    table = value.table or {}
    return next((key for key, each in table.items() if is_one_of(wanted, (each,))), wanted)


def _item(value: Each | Count, wanted: Any, scope: Scope) -> Any:
    """An item that becomes `wanted`, or any item to count."""
    inner = scope.entering(scope.find(value.source), value.keep)
    hints = _hints(value.item, wanted, inner) if isinstance(value, Each) else []
    return _laid({"item": _sample(_samples(inner.item or {}), 0)}, hints, inner)["item"]


def _laid(arrived: Arrived, hints: Hints, scope: Scope) -> dict[Root, Any]:
    """`arrived` with the hints, and with the first of the values that a `where` keeps."""
    kept = [(source, allowed[0]) for source, allowed in scope.known.items() if allowed]
    found = dict(arrived)
    for source, value in (*hints, *kept):
        if source.root in found:
            found[source.root] = _with(found[source.root], source.steps, value)
    return found


def _with(whole: Any, steps: tuple[str, ...], value: Any) -> Any:
    """`whole` with `value` at `steps`, or without what is there."""
    if not steps:
        return whole if value is ABSENT else value
    members = whole if isinstance(whole, dict) else {}
    name, *rest = steps
    if value is ABSENT and (name not in members or not rest):
        return {each: member for each, member in members.items() if each != name}
    return {**members, name: _with(members.get(name), tuple(rest), value)}
