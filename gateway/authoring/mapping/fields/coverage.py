"""Proves that targets allow every value that may arrive, or finds counterexamples and gaps."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from enum import StrEnum
from itertools import chain, islice
from typing import Any, Final

from msgspec import UNSET, Struct, UnsetType
from msgspec.structs import replace

from gateway.authoring.mapping.fields.emit import EmitContext, emit
from gateway.authoring.mapping.fields.images import (
    apply,
    count_image,
    image_of,
    is_assembled,
    length_image,
    whole_image,
)
from gateway.authoring.mapping.fields.nodes import (
    BindingSource,
    Constant,
    Count,
    Each,
    Fallback,
    FieldFunction,
    HttpMap,
    Items,
    MappingError,
    Members,
    Read,
    ReadExpression,
    Reference,
    Root,
    Value,
    problem,
)
from gateway.authoring.mapping.fields.parse import parse
from gateway.authoring.mapping.fields.pycode import Module
from gateway.authoring.mapping.fields.scope import (
    ROW_ID,
    Scope,
    SourceValues,
    UnknownSource,
    leaves_of,
    sources_of,
)
from gateway.authoring.mapping.fields.walk import FieldContext, maps, request_visits, result_visits
from gateway.contract.context import CallFacts
from gateway.contract.fields.fieldmap import ABSENT, SkipItem, Unmappable, dig, is_one_of
from gateway.contract.schemas.algebra import Schema, admits, covers, finite, kinds, violations
from gateway.contract.schemas.containment import Contained, Witness, containment
from gateway.contract.schemas.flattening import NoSample
from gateway.contract.schemas.samples import Samples, Schemas
from gateway.contract.schemas.shapes import items_of, member, members_of, required_of
from gateway.contract.upstream import ReplyFacts, UpstreamOperation

# Runs the code that a map becomes on values that may arrive, to find a result that is refused.

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


# Proves that a target schema allows every value of a field, or finds a counterexample.

_MOST: Final = 400
_DEEPEST: Final = 4
_LONGEST: Final = 5000
_TEXTS: Final = (
    "x",
    "",
    "other",
    "0",
    "1.5",
    "true",
    "2026-01-31",
    "2026-01-31T12:00:00Z",
    "2026-01-31T12:00:00.123+01:00",
    "12:00:00Z",
    "a@example.com",
    "https://example.com/",
    "6f8f5c1e-0a51-4c8e-9d7a-3d1c2b4a5f60",
    "\n",
)
_NUMBERS: Final = (0, 1, -1, 0.5, 10**30, -(10**30))


def samples(schema: Schema, other: Schema) -> Iterator[Any]:
    """Values of `schema`. Those that `other` is likely to refuse come first."""
    tried = (value for value in _candidates(schema, other, 0) if admits(schema, value))
    # All values of a list are tried, so that none of them is overlooked.
    return tried if finite(schema) is not None else islice(tried, _MOST)


def _candidates(schema: Schema, other: Schema, depth: int) -> Iterator[Any]:
    listed = finite(schema)
    if listed is not None:
        yield from listed
        return
    found = kinds(schema)
    yield from [None] if "null" in found else []
    yield from [False, True] if "boolean" in found else []
    yield from _numbers(schema, other) if "number" in found else []
    yield from _texts(schema, other) if "string" in found else []
    if depth < _DEEPEST:
        yield from _lists(schema, other, depth) if "array" in found else []
        yield from _objects(schema, other, depth) if "object" in found else []


def _numbers(schema: Schema, other: Schema) -> Iterator[Any]:
    names = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf")
    for bound in chain(_keywords(other, names), _keywords(schema, names)):
        yield from (bound, bound - 1, bound + 1, bound - 0.5, bound + 0.5)
    yield from _NUMBERS


def _texts(schema: Schema, other: Schema) -> Iterator[str]:
    yield from (text for text in _keywords(schema, ("examples",)) if isinstance(text, str))
    yield from _TEXTS
    names = ("maxLength", "minLength")
    bounds = chain(_keywords(other, names), (3, 4, 8), _keywords(schema, names))
    lengths = [
        min(bound + step, _LONGEST) for bound in bounds for step in (0, 1, -1) if bound + step > 0
    ]
    yield from (letter * length for length in lengths for letter in "Aa0x")


def _lists(schema: Schema, other: Schema, depth: int) -> Iterator[list[Any]]:
    yield []
    items = items_of(schema)
    few = list(islice(_admitted(items, items_of(other), depth + 1), 12))
    yield from ([value] for value in few)
    counts = (*_keywords(other, ("maxItems", "minItems")), *_keywords(schema, ("minItems",)))
    yield from (
        few[:1] * size for count in counts for size in (count, count + 1) if few and size < 1000
    )


def _objects(schema: Schema, other: Schema, depth: int) -> Iterator[dict[str, Any]]:
    least = {
        name: next(_admitted(_part(schema, name), _part(other, name), depth + 1), None)
        for name in required_of(schema)
    }
    yield least
    yield {**least, "x": 1}
    for name in members_of(schema):
        values = _admitted(_part(schema, name), _part(other, name), depth + 1)
        yield from ({**least, name: value} for value in islice(values, 12))


def _admitted(schema: Schema, other: Schema, depth: int) -> Iterator[Any]:
    return (value for value in _candidates(schema, other, depth) if admits(schema, value))


def _part(schema: Schema, name: str) -> Schema:
    found = member(schema, name)
    return found.schema if found else {}


def _keywords(schema: Any, names: tuple[str, ...]) -> Iterator[Any]:
    """The values of these keywords, including those in the branches of `allOf` and others."""
    if not isinstance(schema, dict):
        return
    for name in names:
        value = schema.get(name, ())
        yield from value if isinstance(value, list) else [value] if value != () else []
    for branch in chain.from_iterable(schema.get(k, ()) for k in ("allOf", "anyOf", "oneOf")):
        yield from _keywords(branch, names)


_MAX_WITNESS: Final = 60
_NOTHING: Final[Schema] = {"not": {}}
_NEVER: Final = "the schema of what is read allows no value at all"
_NOT_COMPARABLE: Final = "the schemas cannot be compared; every value is checked at run time"


class Coverage(StrEnum):
    """Whether the target schema allows every value of one field."""

    PROVED = "PROVED"
    GAP = "GAP"
    UNDECIDED = "UNDECIDED"


class CoverageResult(Struct, frozen=True):
    """A verdict and its reason."""

    verdict: Coverage
    witness: str | None = None
    """A value that the target refuses, as shortened JSON text."""
    reason: str = ""


PROVED: Final = CoverageResult(Coverage.PROVED)


def prove_read(value: Read, source: Schema, target: Schema) -> CoverageResult:
    """Whether `target` allows the result of the read `value` for every value of `source`.

    A value that `else` handles is not a gap, unless `else` is `error`.
    """
    image = image_of(value, source)
    is_handled = value.unmapped is not None and value.unmapped.kind != "error"
    is_answered = image.is_total is True or is_handled
    if is_answered and covers(target, image.schema):
        return PROVED
    found = _refused_sample(value, samples(source, target), target, is_handled=is_handled)
    if found is not None:
        return found
    if finite(source) is not None:
        return PROVED
    if value.table is not None and not is_answered:
        return CoverageResult(Coverage.GAP, reason="values that are not in the map may arrive")
    shown = containment(target, image.schema)
    if isinstance(shown, Contained) and is_answered:
        return PROVED
    if isinstance(shown, Witness) and image.is_exact:
        found = _refused_sample(value, [shown.value], target, is_handled=is_handled)
    return found or CoverageResult(Coverage.UNDECIDED, reason=_NOT_COMPARABLE)


def _refused_sample(
    value: Read, tried: Iterable[Any], target: Schema, *, is_handled: bool
) -> CoverageResult | None:
    """The gap by the first value whose result is refused. None if there is none."""
    for sample in tried:
        reason = _objection(value, sample, target, is_handled=is_handled)
        if reason:
            return CoverageResult(Coverage.GAP, shortened(sample), reason)
    return None


def prove_image(image: Schema, target: Schema) -> CoverageResult:
    """Whether `target` allows every value of `image`."""
    if covers(target, image):
        return PROVED
    shown = containment(target, image)
    if isinstance(shown, Contained):
        return PROVED
    searched = [shown.value] if isinstance(shown, Witness) else []
    for sample in chain(samples(image, target), searched):
        if not admits(target, sample):
            return CoverageResult(Coverage.GAP, shortened(sample), objection_to(sample, target))
    return CoverageResult(Coverage.UNDECIDED, reason=_NOT_COMPARABLE)


def shortened(value: Any) -> str:
    """`value` as JSON text of at most a line."""
    text = json.dumps(value, ensure_ascii=False)
    if len(text) <= _MAX_WITNESS:
        return text
    what = f"{len(value)} characters" if isinstance(value, str) else f"{len(text)} bytes of JSON"
    return f"{text[: _MAX_WITNESS - 20]}… ({what})"


def objection_to(value: Any, target: Schema) -> str:
    """Why `target` refuses `value`: the first violation."""
    first = next(iter(violations(target, value)), None)
    if first is None:
        return "the target schema refuses it"
    where = f" at {first.pointer}" if first.pointer else ""
    return f"the target schema refuses it by `{first.keyword}`{where}: {first.detail}"


def fallback_text(fallback: Fallback | None) -> str | None:
    """A fallback as the contract writes it."""
    if fallback is None:
        return None
    return f"const {shortened(fallback.constant)}" if fallback.kind == "const" else fallback.kind


def _objection(value: Read, sample: Any, target: Schema, *, is_handled: bool) -> str:
    """Why the result for `sample` is refused. Empty if it is not."""
    try:
        result = apply(value, sample)
    except ValueError as error:
        return "" if is_handled else str(error).removeprefix("/: ")
    return "" if admits(target, result) else objection_to(result, target)


# Proves for each mapped field that the target schema allows every value that may arrive.

_HINTS: Final = 3
_LENGTHS: Final[tuple[str, ...]] = ("minItems", "maxItems")
ABSENT_TEXT: Final = "(absent)"
WHOLE: Final = "(the whole)"
"""The source of an object or list that is put together from other values."""
_AT_RUN_TIME: Final = "the result of a function is checked at run time, with the whole result"


class Proof(Struct, frozen=True, kw_only=True):
    """The verdict for one mapped field of a result, a request, a row or an event."""

    pointer: str
    """The value's JSON Pointer inside `x-binding`."""
    field: str
    """JSON Pointer into the result or what else is made, `*` for any index."""
    side: str = "the result"
    """What the field is a part of, such as `the body of createOrder`."""
    source: str
    """The expression, constant or function that the field comes from."""
    verdict: Coverage
    witness: str | None = None
    """A value that may arrive and that the target schema refuses, as shortened JSON text."""
    on_gap: str | None = None
    """The contract's fallback for such a value."""
    reason: str = ""


def prove(binding: BindingSource) -> list[Proof]:
    """The verdict for every field of every result, in the order of the contract.

    Fields with an unknown source have none: `check` reports those.
    """
    return list(_proofs(binding, result_visits))


def prove_requests(binding: BindingSource) -> list[Proof]:
    """The verdict for every field of every request: whether every argument can be sent."""
    return list(_proofs(binding, request_visits))


_Visits = Callable[[HttpMap, BindingSource, UpstreamOperation], Iterator[FieldContext]]


def _proofs(binding: BindingSource, visits: _Visits) -> Iterator[Proof]:
    written, _ = parse(binding.x_binding)
    if not isinstance(written, HttpMap) or binding.upstream is None:
        return
    for part in maps(written):
        operation = binding.upstream.find(part.operation)
        if operation is not None:
            yield from proofs_of(visits(part, binding, operation))


def proofs_of(contexts: Iterable[FieldContext]) -> Iterator[Proof]:
    """The verdicts for values, in their order."""
    return (proof for context in contexts if (proof := prove_context(context)))


def prove_context(context: FieldContext) -> Proof | None:
    """The verdict for one value. None for a value with an unknown source, and for an object whose
    target has no rules but those of its members, which have verdicts."""
    try:
        proof = _prove(context)
    except UnknownSource:
        return None
    if proof is not None and proof.verdict is Coverage.UNDECIDED and _arrives_never(context):
        return replace(proof, verdict=Coverage.PROVED, reason=_NEVER)
    return proof


def _arrives_never(context: FieldContext) -> bool:
    """Whether a schema of what is read allows no value, so that the map is never run."""
    scope = context.inner
    read = (scope.inputs, scope.payload, scope.body, scope.item)
    return any(isinstance(containment(_NOTHING, each), Contained) for each in read if each)


def _prove(context: FieldContext) -> Proof | None:
    value = context.value
    if isinstance(value, Read):
        return _prove_read(context, value)
    if isinstance(value, Members | Items) and is_assembled(context):
        return None
    return _proof(context, *_judged(context))


def _judged(context: FieldContext) -> tuple[str, CoverageResult]:
    """Where a value that is no read comes from, and its verdict."""
    match context.value:
        case Constant(value=constant):
            return shortened(constant), prove_image({"const": constant}, context.target)
        case Each(source=source) | Count(source=source) as value:
            return str(source), _prove_list(context, value)
        case Reference(kind=kind):
            return f"ref {kind}", prove_image(ROW_ID, context.target)
        case FieldFunction(module=module, function=function):
            undecided = CoverageResult(Coverage.UNDECIDED, reason=_AT_RUN_TIME)
            return f"{module}:{function}", undecided
        case _:
            return WHOLE, prove_whole(context)


def _prove_read(context: FieldContext, value: Read) -> Proof | None:
    values = context.inner.find(value.source)
    on_gap = fallback_text(value.gap or value.unmapped)
    if is_absence_a_gap(context, value, values):
        result = CoverageResult(Coverage.GAP, ABSENT_TEXT, "the value may be absent")
    else:
        result = prove_read(value, values.schema, context.target)
    return _proof(context, str(value.source), result, on_gap)


def is_absence_a_gap(context: FieldContext, value: Read, values: SourceValues) -> bool:
    """Whether the value may be absent, and only an `onGap` could handle that."""
    presence = value.presence
    is_dropped = context.is_in_whole if value.gap is None else value.gap.kind == "omit"
    is_left_out = presence.is_omitted_if_absent or is_dropped
    return values.may_be_absent and presence.default is UNSET and not is_left_out


def _prove_list(context: FieldContext, value: Each | Count) -> CoverageResult:
    """Whether the target allows the number of items that the list may have, and its other rules."""
    if isinstance(value, Count):
        return prove_image(count_image(value, context), context.target)
    if not is_assembled(context):
        return prove_whole(context)
    target: Schema = {word: context.target[word] for word in _LENGTHS if word in context.target}
    return prove_image(length_image(value, context), {"type": "array", **target})


def prove_whole(context: FieldContext) -> CoverageResult:
    """Whether the target allows every object or list that the map may make of admitted parts.

    A witness is a result of the map itself for something that may arrive.
    """
    made, target = whole_image(context), context.target
    if covers(target, made):
        return PROVED
    if _is_only_unique(target, made):
        return CoverageResult(Coverage.UNDECIDED, reason="uniqueItems is checked at run time")
    refused = (each for each in samples(made, target) if not admits(target, each))
    found = _refuted(context, made, [*islice(refused, _HINTS)] or [UNSET])
    if found is not None:
        return found
    shown = containment(target, made)
    if isinstance(shown, Contained):
        return PROVED
    found = _refuted(context, made, [shown.value]) if isinstance(shown, Witness) else None
    return found or CoverageResult(Coverage.UNDECIDED, reason=_NOT_COMPARABLE)


def _refuted(context: FieldContext, made: Schema, hints: list[Any]) -> CoverageResult | None:
    """The gap that one of the hints leads to. None if no result of the map is refused."""
    for hint in hints:
        refused = refused_result(context, made, hint)
        if refused is not UNSET:
            reason = objection_to(refused, context.target)
            return CoverageResult(Coverage.GAP, shortened(refused), reason)
    return None


def _is_only_unique(target: Schema, made: Schema) -> bool:
    """Whether the target would allow every list if their items were distinct."""
    without = {word: value for word, value in target.items() if word != "uniqueItems"}
    return len(without) < len(target) and covers(without, made) is True


def _proof(
    context: FieldContext, source: str, result: CoverageResult, on_gap: str | None = None
) -> Proof | None:
    if not context.is_declared:
        return None
    return Proof(
        pointer=context.value.pointer,
        field=context.field,
        side=context.side,
        source=source,
        verdict=result.verdict,
        witness=result.witness,
        on_gap=on_gap,
        reason=result.reason,
    )


# Finds gaps: values that may arrive, that the target refuses, and that have no fallback.


def gaps(binding: BindingSource, written: HttpMap) -> Iterator[MappingError]:
    """One problem per gap. Absence without a fallback is reported elsewhere."""
    for part in maps(written):
        operation = binding.upstream.find(part.operation) if binding.upstream else None
        if operation is None:
            continue
        for context in request_visits(part, binding, operation):
            proof = gap_of(context)
            if proof:
                yield unsendable(proof)
        for context in result_visits(part, binding, operation):
            proof = gap_of(context)
            if proof and proof.on_gap is None:
                yield unanswerable(proof, context)


def gap_of(context: FieldContext) -> Proof | None:
    """The proof of a gap. None for constants and absence, which are checked elsewhere."""
    proof = None if isinstance(context.value, Constant) else prove_context(context)
    is_gap = proof is not None and proof.verdict is Coverage.GAP and proof.witness != ABSENT_TEXT
    return proof if is_gap else None


def unsendable(proof: Proof) -> MappingError:
    """The problem of an argument that cannot be sent."""
    return problem(
        proof.pointer,
        "unsendable",
        f"the input schema allows an argument that cannot be sent here{_example(proof)}",
        "narrow the input schema, complete the map, or widen the upstream contract",
    )


def unanswerable(proof: Proof, context: FieldContext) -> MappingError:
    """The problem of a received value that the target refuses."""
    return problem(
        proof.pointer,
        "gap-without-ongap",
        f"{context.side} does not allow every value that may arrive{_example(proof)}",
        _fix_of_gap(context.value),
    )


def _fix_of_gap(value: Value) -> str:
    if isinstance(value, Read):
        return "write onGap (or else, for a map), widen its schema, or narrow the source's schema"
    if isinstance(value, Members | Items):
        return "map other values, or adapt the rules that one of the two schemas has for the whole"
    return "set limit, or adapt the bounds of one of the two schemas"


def _example(proof: Proof) -> str:
    example = f", for example {proof.witness}" if proof.witness else ""
    return f"{example}: {proof.reason}" if proof.reason else example
