"""Generated models are never stricter than their schema, and give back what they were given.

A trial draws schemas and renders one module with a model that has a member of each.
"""

import copy
import json
import sys
from random import Random
from types import ModuleType
from typing import Any, Final

from authority import Authority
from outcome import Outcome, Verdict
from random_schemas import FORMATTED, Maker, known_values, value

from gateway.authoring.codegen.render.datamodel import pydantic_source
from gateway.authoring.codegen.render.models import TypedFile
from gateway.contract.handler import dump
from gateway.contract.values.jsontext import decode, encode
from gateway.errors import ContractError

_SCHEMAS: Final = 12
_VALUES: Final = 40
_NUMBERS: Final = (1e22, 2**63, 2**70, -0.0, 10**22)


def trial(seed: str) -> list[Outcome]:
    """One verdict for each schema that a model can be made of."""
    random = Random(seed)  # noqa: S311 - repeatable by design
    maker = Maker(random)
    maker.definitions = []
    schemas = [_schema(maker) for _ in range(_SCHEMAS)]
    return [judged({"schema": each}, f"{seed}/{number}") for number, each in enumerate(schemas)]


def judged(case: dict[str, Any], seed: str) -> Outcome:
    """The model of one schema."""
    schema = case["schema"]
    try:
        model = _model(schema)
    except ContractError as error:
        return Outcome(Verdict.UNDECIDED, case, f"no model is made of it: {error}")
    except Exception as error:  # noqa: BLE001 - it raises nothing else: that is one of the claims
        return Outcome(Verdict.UNSOUND, case, f"raised {type(error).__name__}: {error}")
    gate, values = Authority(schema), [*_drawn(schema, seed), *case.get("values", ())]
    valid = [each for each in values if gate.admits(each)]
    for each in valid:
        wrong = _lost(model, each)
        if wrong:
            shown = {**case, "values": [each]}
            return Outcome(Verdict.UNSOUND, shown, wrong, len(valid))
    return Outcome(Verdict.CONTAINED, case, values=len(valid))


def schemas_of(case: dict[str, Any]) -> list[str]:
    """The schema may be made smaller."""
    return ["schema"] if case else []


def _schema(maker: Maker) -> dict[str, Any]:
    found = maker.schema(2)
    if not isinstance(found, dict):
        return {"type": "string"}
    if maker.random.random() < 0.3:  # The keywords that a type expresses are rare in the others.
        kind = maker.random.choice(("string", "integer", "number", "array", "object"))
        found = {**found, "type": maker.random.choice((kind, [kind, "null"]))}
    return found


def _model(schema: dict[str, Any]) -> Any:
    record = {
        "type": "object",
        "additionalProperties": False,
        "properties": {"value": copy.deepcopy(schema)},
        "required": ["value"],
    }
    typed = TypedFile("thing.json", ["BaseModel", "Thing"])
    typed.add("Thing", record)
    made = ModuleType("made_by_the_fuzzer")
    sys.modules[made.__name__] = made
    text = pydantic_source(typed.definitions, {}, "thing.json")
    exec(compile(text, "generated", "exec"), made.__dict__)  # noqa: S102 - the text under test
    return made.__dict__["Thing"]


def _lost(model: Any, given: Any) -> str:
    """What is wrong with the model for a valid value. Empty if it is given back as it was."""
    try:
        loaded = model.model_validate({"value": given})
    except ValueError as error:
        return f"refuses {given!r}: {str(error)[:200]}"
    back = dump(loaded).get("value", "(nothing)")
    return "" if _typed(back) == _typed(given) else f"{given!r} becomes {back!r}"


def _typed(given: Any) -> str:
    """A text that tells true from 1. `1.0` is the integer 1, as in JSON Schema."""
    if isinstance(given, dict):
        return "{" + ",".join(f"{name!r}:{_typed(given[name])}" for name in sorted(given)) + "}"
    if isinstance(given, list):
        return "[" + ",".join(map(_typed, given)) + "]"
    if isinstance(given, float) and given.is_integer():
        return str(int(given))
    return json.dumps(given)


def _drawn(schema: dict[str, Any], seed: str) -> list[Any]:
    random = Random(seed)  # noqa: S311 - repeatable by design
    known = (*known_values(schema), *_NUMBERS, *FORMATTED)
    # As they are decoded from a message, in which large whole numbers become integers.
    return [decode(encode(value(random, 2, known))) for _ in range(_VALUES)]
