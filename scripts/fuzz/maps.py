"""Proofs of field maps: what is PROVED is run on many replies, and each result is judged.

A trial draws the schema of a reply, a map of it, and a target schema that is often near to what the
map makes. A map without gaps and open questions must give valid results for all valid replies. A
gap's witness must be a value that may arrive and that the target refuses.
"""

import copy
import json
from collections.abc import Callable, Iterator
from random import Random
from typing import Any, Final

from authority import Authority
from outcome import Outcome, Verdict
from random_schemas import Maker, edited, known_values, value

from gateway.authoring.mapping.fields import BindingSource, compile_binding
from gateway.authoring.mapping.fields.check import meaning_problems
from gateway.authoring.mapping.fields.coverage import (
    ABSENT_TEXT,
    Coverage,
    Proof,
    prove_context,
)
from gateway.authoring.mapping.fields.images import apply
from gateway.authoring.mapping.fields.nodes import HttpMap, Read
from gateway.authoring.mapping.fields.parse import parse
from gateway.authoring.mapping.fields.walk import FieldContext, result_visits
from gateway.contract.context import CallFacts
from gateway.contract.fields.fieldmap import Unmappable
from gateway.contract.upstream import ReplyFacts, Upstream, UpstreamOperation
from gateway.contract.values.jsontext import decode, encode

_CALL: Final = CallFacts(id="call-1", now="2026-11-20T10:00:00Z")
_INPUTS: Final = {"type": "object", "properties": {}, "additionalProperties": False}
_REPLIES: Final = 40
_DRAWS: Final = 24
_NAMES: Final = ("a", "b", "c", "ab")
_TRIES: Final = 30
_SEES: Final = {Coverage.PROVED: Verdict.CONTAINED, Coverage.GAP: Verdict.WITNESS}

Schema = dict[str, Any]


def trial(seed: str) -> list[Outcome]:
    """The verdicts of one map that says something."""
    for number in range(_TRIES):
        case = _case(Random(f"{seed}/{number}"))  # noqa: S311 - repeatable by design
        found = _outcomes(_repaired(case), seed)
        if found:
            return found
    return []


def _repaired(case: dict[str, Any]) -> dict[str, Any]:
    """The case without the members of its map that are refused for another reason than a gap."""
    for _ in range(_TRIES):
        source = _binding(case)
        written, problems = parse(source.x_binding)
        found = problems if written is None else meaning_problems(source, written)
        bad = {each.pointer.split("/")[3] for each in found if each.pointer.count("/") > 2}
        if not bad:
            break
        case = {**case, "map": {k: each for k, each in case["map"].items() if k not in bad}}
    return case


def judged(case: dict[str, Any], seed: str) -> Outcome:
    """The worst verdict of one map."""
    found = _outcomes(case, seed)
    wrong = [each for each in found if each.verdict == Verdict.UNSOUND]
    return (wrong or found or [Outcome(Verdict.UNDECIDED, case, "the map is refused")])[0]


def schemas_of(case: dict[str, Any]) -> list[str]:
    """All parts of a case may be made smaller."""
    return ["map", "target", "body"] if case else []


# Draws a case.


def _case(random: Random) -> dict[str, Any]:
    maker = Maker(random)
    maker.definitions = []
    members = {"x": _plain(maker), "y": _plain(maker), "n": _plain(maker)}
    item = {
        "type": "object",
        "properties": {"p": _plain(maker), "q": _plain(maker)},
        "required": random.sample(("p", "q"), random.randint(0, 2)),
    }
    bounds = {word: random.randint(*limits) for word, limits in _BOUNDS if random.random() < 0.5}
    members["l"] = {"type": "array", "items": item, **bounds}
    body: Schema = {
        "type": "object",
        "properties": members,
        "required": [name for name in members if random.random() < 0.8],
    }
    if random.random() < 0.15:
        body = {**body, **_renamed(Maker(random).document())}
    written, target = _object(_Drawing(random, members), 2)
    return {"body": body, "target": target, "map": written}


_BOUNDS: Final = (("minItems", (0, 1)), ("maxItems", (1, 4)))


def _plain(maker: Maker) -> Schema:
    found = maker.schema(1)
    return found if isinstance(found, dict) else {"type": "string"}


def _renamed(document: Schema) -> Schema:
    """Definitions of one name are the same in the whole project, so these have other names."""
    text = json.dumps(document)
    for number in range(2):
        text = text.replace(f'#/$defs/d{number}"', f'#/$defs/s{number}"')
        text = text.replace(f'"d{number}":', f'"s{number}":')
    found: Schema = json.loads(text)
    return found


class _Drawing:
    """What a map may read here."""

    def __init__(self, random: Random, members: Schema, root: str = "$response.body#/") -> None:
        self.random, self.members, self.root = random, members, root

    def any_member(self) -> str:
        return self.random.choice([name for name in self.members if name != "l"])


def _object(drawing: _Drawing, depth: int) -> tuple[Any, Schema]:
    """The members of a map, and the target's schema."""
    random = drawing.random
    names = random.sample(_NAMES, random.randint(1, 4))
    made = {name: _value(drawing, depth - 1) for name in names}
    properties = {name: target for name, (_, target) in made.items()}
    target: Schema = {
        "type": "object",
        "properties": properties,
        "required": [name for name in names if random.random() < 0.3],
    }
    if random.random() < 0.6:
        target["additionalProperties"] = False
    if random.random() < 0.5:
        target |= _rule(random)
    return {name: written for name, (written, _) in made.items()}, target


def _rule(random: Random) -> Schema:
    """A rule for a whole object."""
    maker = Maker(random)
    maker.definitions = []
    inner = {"properties": {random.choice(_NAMES): maker.schema(0)}}
    needs = {"required": [random.choice(_NAMES)]}
    rules: list[Schema] = [
        {"dependentRequired": {random.choice(_NAMES): [random.choice(_NAMES)]}},
        {"minProperties": random.randint(1, 3)},
        {"maxProperties": random.randint(1, 3)},
        {"anyOf": [needs, inner]},
        {"oneOf": [needs, inner]},
        {"not": random.choice((needs, inner))},
        {"if": random.choice((needs, inner)), "then": random.choice((needs, inner))},
        {"propertyNames": {"maxLength": random.randint(1, 2)}},
        {"patternProperties": {"^a": maker.schema(0)}},
        {"allOf": [random.choice((needs, inner))]},
    ]
    return random.choice(rules)


def _value(drawing: _Drawing, depth: int) -> tuple[Any, Schema]:
    """A value of a map, and a schema that is often near to what it makes."""
    draw = drawing.random.random()
    makers: list[tuple[float, Callable[[_Drawing, int], tuple[Any, Schema]]]] = [
        (0.6, _read),
        (0.68, _constant),
        (0.74, _count),
        (0.84, _literal),
        (0.92, _nested),
        (1.0, _each),
    ]
    make = next(make for share, make in makers if draw < share)
    if depth <= 0 and make in (_literal, _nested, _each):
        make = _read
    if make in (_each, _count) and "l" not in drawing.members:
        make = _read
    return make(drawing, depth)


def _read(drawing: _Drawing, _: int) -> tuple[Any, Schema]:
    random, name = drawing.random, drawing.any_member()
    source = drawing.members[name]
    written: Schema = {"value": f"{drawing.root}{name}", **_presence(random)}
    target = _near(random, source)
    draw = random.random()
    if draw < 0.15:
        written["as"] = random.choice(("string", "integer", "number", "boolean", "decimal-2"))
        target = random.choice(({"type": "string"}, {"type": "number"}, target, {}))
    elif draw < 0.25:
        written |= {"map": {"a": 1, "b": "b", "1": None}}
        written |= random.choice(({}, {"else": {"const": 1}}, {"else": "omit"}))
        target = random.choice(({"enum": [1, "b", None]}, {}, target))
    if random.random() < 0.25:
        written["onGap"] = random.choice(("omit", {"const": value(random, 0)}))
    return written, target


def _presence(random: Random) -> Schema:
    draw = random.random()
    if draw < 0.55:
        return {"omitIfAbsent": True}
    return {"default": value(random, 0)} if draw < 0.65 else {}


def _near(random: Random, source: Schema) -> Schema:
    draw = random.random()
    if draw < 0.35:
        return copy.deepcopy(source)
    if draw < 0.7:
        return edited(source, random)
    if draw < 0.8:
        return {}
    maker = Maker(random)
    maker.definitions = []
    return _plain(maker)


def _constant(drawing: _Drawing, _: int) -> tuple[Any, Schema]:
    constant = value(drawing.random, 1)
    return {"const": constant}, drawing.random.choice(({}, {"const": constant}))


def _count(drawing: _Drawing, _: int) -> tuple[Any, Schema]:
    written = {"count": f"{drawing.root}l", "omitIfAbsent": True}
    return written, {"type": "integer", "maximum": drawing.random.randint(1, 5)}


def _literal(drawing: _Drawing, depth: int) -> tuple[Any, Schema]:
    random = drawing.random
    made = [_value(drawing, depth - 1) for _ in range(random.randint(1, 3))]
    targets = [target for _, target in made]
    forms: list[Schema] = [
        {"type": "array", "prefixItems": targets, "items": random.choice((False, {}))},
        {"type": "array", "items": {"anyOf": targets}, "maxItems": random.randint(1, 3)},
        {"type": "array", "contains": targets[0], "minItems": random.randint(0, 3)},
        {"anyOf": [{"type": "array", "items": {"anyOf": targets}}, {"type": "null"}]},
    ]
    return {"array": [written for written, _ in made]}, random.choice(forms)


def _nested(drawing: _Drawing, depth: int) -> tuple[Any, Schema]:
    members, target = _object(drawing, depth)
    return {"object": members, "omitIfAbsent": drawing.random.random() < 0.5}, target


def _each(drawing: _Drawing, depth: int) -> tuple[Any, Schema]:
    random = drawing.random
    item = drawing.members["l"]["items"]
    inner = _Drawing(random, item["properties"], "@/")
    if random.random() < 0.3:
        written, target = "@", _near(random, item)
    else:
        written, target = _object(inner, depth)
    bounds = {word: random.randint(0, 4) for word in ("minItems", "maxItems", "minContains")}
    chosen = {word: bounds[word] for word in bounds if random.random() < 0.3}
    forms: list[Schema] = [
        {"type": "array", "items": target, **chosen},
        {"anyOf": [{"type": "array", "items": target, **chosen}, {"type": "null"}]},
        {"type": "array", "allOf": [{"items": target}, chosen]},
        {"type": "array", "contains": target, **chosen},
        {"type": "array", "items": target, "uniqueItems": True},
    ]
    rest = random.choice(({}, {"limit": random.randint(1, 3)}, {"when": "@/p"}))
    return {"each": f"{drawing.root}l", "item": written, "omitIfAbsent": True, **rest}, (
        random.choice(forms)
    )


# Judges a case.


def _outcomes(case: dict[str, Any], seed: str) -> list[Outcome]:
    """The verdicts of the map. None if it is refused for another reason than a gap."""
    source = _binding(case)
    try:
        written, problems = parse(source.x_binding)
        if written is None or problems or meaning_problems(source, written):
            return []
        found = [*_verdicts(source)]
    except Exception as error:  # noqa: BLE001 - it never raises: that is one of the claims
        return [Outcome(Verdict.UNSOUND, case, f"raised {type(error).__name__}: {error}")]
    if not found:
        return []
    outcomes = [
        Outcome(_SEES.get(proof.verdict, Verdict.UNDECIDED), case, proof.reason)
        for _, proof in found
    ]
    for context, proof in found:
        wrong = _untrue_gap(context, proof) if proof.verdict is Coverage.GAP else ""
        outcomes += [Outcome(Verdict.UNSOUND, case, wrong)] if wrong else []
    if all(proof.verdict is Coverage.PROVED or proof.on_gap for _, proof in found):
        wrong, count = _refused_result(source, case, seed)
        outcomes[0].values = count
        outcomes += [Outcome(Verdict.UNSOUND, case, wrong)] if wrong else []
    return outcomes


def _binding(case: dict[str, Any]) -> BindingSource:
    operation = UpstreamOperation(
        id="op", method="GET", path="/t", parameters=(), replies={"200": case["body"]}
    )
    written = {"upstream": "s", "operationId": "op", "response": {"200": case["map"]}}
    return BindingSource(
        tool_id="s.t",
        x_binding=written,
        input_schema=_INPUTS,
        output_schema=case["target"],
        upstream=Upstream(name="s", title="S", base_url=None, operations=(operation,)),
    )


def _verdicts(source: BindingSource) -> Iterator[tuple[FieldContext, Proof]]:
    written, _ = parse(source.x_binding)
    if isinstance(written, HttpMap) and source.upstream is not None:
        for context in result_visits(written, source, source.upstream.operations[0]):
            proof = prove_context(context)
            if proof is not None:
                yield context, proof


def _untrue_gap(context: FieldContext, proof: Proof) -> str:
    """What is wrong with the witness of a gap. Empty if it shows one, or is not shown whole."""
    if proof.witness in {None, ABSENT_TEXT} or "… (" in str(proof.witness):
        return ""
    witness = json.loads(str(proof.witness))
    target = Authority(context.target)
    if not isinstance(context.value, Read):
        return f"the target admits {witness!r}" if target.admits(witness) else ""
    if not Authority(context.inner.find(context.value.source).schema).admits(witness):
        return f"{witness!r} cannot arrive"
    try:
        result = apply(context.value, witness)
    except ValueError:
        return ""
    return f"the target admits {result!r} of {witness!r}" if target.admits(result) else ""


def _refused_result(source: BindingSource, case: dict[str, Any], seed: str) -> tuple[str, int]:
    """A result that the target refuses although it is proved, and how many were judged."""
    namespace: dict[str, Any] = {"__name__": "generated.bindings.s.t"}
    exec(compile(compile_binding(source), "t.py", "exec"), namespace)  # noqa: S102 - the text under test
    run = namespace["BINDING"].results["200"]
    target, count = Authority(case["target"]), 0
    for body in _bodies(case, seed):
        count += 1
        received = decode(encode(body))
        reply = ReplyFacts(status=200, headers={}, body=received, elapsed_ms=1)
        try:
            result = run({}, _CALL, reply)
        except Unmappable as error:
            return f"{body!r} is refused: {error}", count
        except Exception as error:  # noqa: BLE001 - what is generated never raises anything else
            return f"{body!r} raises {type(error).__name__}: {error}", count
        if not target.admits(result):
            return f"{body!r} becomes {result!r}, which is refused", count
    return "", count


def _bodies(case: dict[str, Any], seed: str) -> Iterator[Any]:
    """Valid replies, by the authority: of valid members, some of them left out."""
    random = Random(seed)  # noqa: S311 - repeatable by design
    gate, body = Authority(case["body"]), case["body"]
    known = known_values(body, case["target"])
    definitions = body.get("$defs", {})
    pools = {
        name: _valid({"allOf": [schema], "$defs": definitions}, random, known)
        if definitions
        else _valid(schema, random, known)
        for name, schema in body.get("properties", {}).items()
    }
    for _ in range(_REPLIES):
        found = {
            name: random.choice(pool)
            for name, pool in pools.items()
            if pool and (name in body.get("required", ()) or random.random() < 0.6)
        }
        if gate.admits(found):
            yield found


def _valid(schema: Any, random: Random, known: tuple[Any, ...]) -> list[Any]:
    schema = schema if isinstance(schema, dict) else {"allOf": [schema]}
    items = schema.get("items")
    if schema.get("type") == "array" and isinstance(items, dict) and "properties" in items:
        members = items["properties"].items()
        pools = {name: _valid(each, random, known) for name, each in members}
        drawn = [
            [_drawn(pools, random) for _ in range(random.randint(0, 4))] for _ in range(_DRAWS)
        ]
    else:
        drawn = [value(random, 2, known) for _ in range(_DRAWS)]
    gate = Authority(schema)
    return [each for each in drawn if gate.admits(each)]


def _drawn(pools: dict[str, list[Any]], random: Random) -> dict[str, Any]:
    """An object of some of the members."""
    kept = {name: pool for name, pool in pools.items() if pool and random.random() < 0.8}
    return {name: random.choice(pool) for name, pool in kept.items()}
