"""What clients are shown of a schema never refuses a value that the schema admits.

A trial draws one schema, and asks for each profile. Limits of clients are met on purpose: lists of
more than a thousand values, and objects of more than ten levels.
"""

import json
from random import Random
from typing import Any, Final

from authority import Authority
from outcome import Outcome, Verdict
from random_schemas import document, known_values, value

from gateway.profiles.clients import PROFILES
from gateway.profiles.refusals import published_input, published_output

_VALUES: Final = 80
_NEEDED: Final = ("a", "b", "c")


def trial(seed: str) -> list[Outcome]:
    """One verdict for each schema that clients are shown."""
    random = Random(seed)  # noqa: S311 - repeatable by design
    schema = _beyond_limits(random) if random.random() < 0.05 else _arguments(random)
    values = _admitted(schema, seed)
    shown = {
        json.dumps(made): {"schema": schema, "profile": name, "direction": direction}
        for name, profile in PROFILES.items()
        for direction, made in (
            ("input", published_input(schema, profile)),
            ("output", published_output(schema, profile)),
        )
        if made != schema
    }
    return [_outcome(case, json.loads(text), values) for text, case in shown.items()]


def judged(case: dict[str, Any], seed: str) -> Outcome:
    """One schema for one profile again."""
    publish = published_input if case["direction"] == "input" else published_output
    shown = publish(case["schema"], PROFILES[case["profile"]])
    values = [*_admitted(case["schema"], seed), *case.get("values", ())]
    gate = Authority(case["schema"])
    return _outcome(case, shown, [each for each in values if gate.admits(each)])


def schemas_of(case: dict[str, Any]) -> list[str]:
    """The contract's schema may be made smaller."""
    return ["schema"] if case else []


def _arguments(random: Random) -> dict[str, Any]:
    """A schema of objects."""
    found = document(random)
    return found if random.random() < 0.3 else {**found, "type": "object"}


def _beyond_limits(random: Random) -> dict[str, Any]:
    if random.random() < 0.5:
        inner: Any = {"enum": [*range(random.randint(900, 1100))]}
    else:
        inner = {"const": random.choice((1, "a"))}
        for _ in range(random.randint(8, 13)):
            inner = {"type": "object", "properties": {"a": inner}, "required": ["a"]}
    place = random.choice(
        (
            {"contains": inner, "maxContains": 1},
            {"items": {"not": inner}},
            {"items": {"oneOf": [inner, {"type": "integer"}]}},
            {"items": inner},
            {"items": {"if": inner, "then": {"type": "integer"}, "else": {"type": "object"}}},
        )
    )
    return {"type": "object", "properties": {"a": {"type": "array", **place}}}


def _admitted(schema: dict[str, Any], seed: str) -> list[Any]:
    random = Random(seed)  # noqa: S311 - repeatable by design
    known = known_values(schema)
    drawn: list[Any] = [{"a": [_deep(random) for _ in range(3)]} for _ in range(4)]
    for _ in range(_VALUES):
        names = random.sample(_NEEDED, random.randint(0, 3))
        drawn.append({name: value(random, 2, known) for name in names})
    gate = Authority(schema)
    return [each for each in drawn if gate.admits(each)]


def _deep(random: Random) -> Any:
    found: Any = random.choice((1, "a", "b", 5000))
    for _ in range(random.choice((0, *range(8, 14)))):
        found = {"a": found}
    return found


def _outcome(case: dict[str, Any], shown: dict[str, Any], values: list[Any]) -> Outcome:
    gate = Authority(shown)
    for each in values:
        if not gate.admits(each):
            reason = f"{case['profile']} refuses {each!r}"
            return Outcome(Verdict.UNSOUND, {**case, "values": [each]}, reason, len(values))
    return Outcome(Verdict.CONTAINED, case, values=len(values))
