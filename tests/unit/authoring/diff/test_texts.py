"""Parameters are compared by their texts: random pairs, against readers that share no code."""

import json
import re

import jsonschema
import pytest

from gateway.authoring.diff.changes import ChangeVerdict
from gateway.authoring.diff.compare import Comparer
from gateway.authoring.diff.sides import read_document
from gateway.authoring.diff.texts import whole_numbers
from gateway.contract.schemas.samples import seeded

TEXTS = [
    *("", "a", "b", "ab", "abc", "a1", "1a", "true", "false", "True", "x" * 6, "x" * 31),
    *("0", "1", "2", "5", "9", "10", "11", "12", "100", "-1", "-2", "1.5", "0.5", "01", "007"),
    *("2020-01-01", "123e4567-e89b-12d3-a456-426614174000"),
]
PATTERNS = ("^[a-z]+$", "^[0-9]+$", "^-?[0-9]+$", "^1")


def readings(text):
    """What a reader may take a text for, whatever its schema."""
    yield text
    if re.fullmatch(r"0|-?[1-9][0-9]{0,14}", text):
        yield int(text)
    elif re.fullmatch(r"-?(0|[1-9][0-9]{0,14})[.][0-9]*[1-9]", text):
        yield float(text)
    elif text in {"true", "false"}:
        yield text == "true"


def reads(schema, text):
    checker = jsonschema.FormatChecker()
    validator = jsonschema.Draft202012Validator(schema, format_checker=checker)
    return any(map(validator.is_valid, readings(text)))


def scalar(draw, depth=0):
    kinds = ["string", "string", "integer", "number", "boolean", "enum", "two types"]
    match draw.choice(kinds + ["anyOf"] * (depth < 2)):
        case "string":
            bounds = {
                "minLength": draw.choice([1, 2, 3]),
                "maxLength": draw.choice([0, 1, 2, 5]),
                "pattern": draw.choice(PATTERNS),
                "format": draw.choice(["date", "uuid"]),
            }
            kept = {name: value for name, value in bounds.items() if draw.random() < 0.15}
            return {"type": "string", **kept}
        case "integer" | "number" as kind:
            low, high = draw.choice([-1, 0, 1, 5]), draw.choice([0, 5, 9, 10, 100])
            bounds = {"minimum": low, "maximum": high, "exclusiveMinimum": low}
            kept = {name: value for name, value in bounds.items() if draw.random() < 0.2}
            return {"type": kind, **kept}
        case "enum":
            values = ["a", "b", "1", "2", "true", "", 1, 2, True, 0, 1.5, "1.5", "01"]
            return {"enum": draw.sample(values, draw.randint(1, 4))}
        case "two types":
            return {"type": draw.sample(["string", "integer", "number", "boolean"], 2)}
        case "anyOf":
            return {"anyOf": [scalar(draw, depth + 1) for _ in range(2)]}
        case kind:
            return {"type": kind}


def changes(tmp_path, old, new):
    sides = []
    for name, schema in (("old", old), ("new", new)):
        parameter = {"name": "v", "in": "query", "schema": schema}
        operation = {"parameters": [parameter], "responses": {"200": {"description": ""}}}
        document = {"openapi": "3.1.0", "info": {"title": "A", "version": "1"}}
        path = tmp_path / f"{name}.json"
        path.write_text(json.dumps({**document, "paths": {"/a": {"get": operation}}}), "utf-8")
        sides.append(read_document(path, name))
    return Comparer("api").changes(sides[0].subjects, sides[1].subjects)


@pytest.mark.parametrize("seed", range(120))
def test_a_verdict_is_true_of_the_texts(tmp_path, seed):
    draw = seeded(str(seed))
    old, new = scalar(draw), scalar(draw)
    found = changes(tmp_path, old, new)
    broken = [each for each in found if each.verdict is ChangeVerdict.BREAKING]
    for each in broken:
        value = each.witness["v"]
        text = value if isinstance(value, str) else json.dumps(value)
        assert reads(old, text)
        assert not reads(new, text)
    if not broken and all(each.verdict is not ChangeVerdict.UNDECIDED for each in found):
        lost = [text for text in TEXTS if reads(old, text) and not reads(new, text)]
        assert lost == []


@pytest.mark.parametrize("seed", range(20))
def test_the_pattern_ofwhole_numbers_has_those_between_its_bounds(seed):
    draw = seeded(str(seed))
    low, high = sorted(draw.sample(range(-1_200, 1_300), 2))
    pattern = re.compile("|".join(whole_numbers({"minimum": low, "maximum": high})))
    near = {0, *range(low - 2, low + 3), *range(high - 2, high + 3)}
    for number in near | set(draw.sample(range(-1_300, 1_400), 50)):
        assert bool(pattern.fullmatch(str(number))) is (low <= number <= high)
