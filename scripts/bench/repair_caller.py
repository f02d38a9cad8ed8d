"""A caller that repairs a refused call from its schema and the problem, and knows nothing else."""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import deepcopy
from datetime import date, timedelta
from difflib import get_close_matches
from typing import Any, Final

Schema = Mapping[str, Any]

_NAMES: Final = ("field", "param", "parameter", "pointer", "loc", "path", "attribute", "source")
_TEXTS: Final = ("message", "msg", "detail", "description", "code", "title")
_DATE: Final = re.compile(r"(\d{1,2})/(\d{1,2})/(\d{4})")
_TYPES: Final = {"string": "text", "integer": 1, "number": 1, "boolean": True, "object": {}}
_FORMATS: Final = {
    "date": "2027-01-15",
    "date-time": "2027-01-15T12:00:00Z",
    "uuid": "5f0c3e1a-7b1e-4c5d-9a52-0c7d2b6f1e10",
    "email": "ada@example.com",
}


def _day_after(day: str, _: Any) -> str:
    return (date.fromisoformat(day) + timedelta(days=1)).isoformat()


_DEMANDS: Final[Sequence[tuple[str, Callable[[str, Any], Any]]]] = (
    (
        r"one of:? ([\w, -]+)",
        lambda list_, value: _closest(value, re.split(r",\s*(?:or )?|\s+or\s+", list_.strip())),
    ),
    (r"(?:e\.g\.|for example|such as) \"?([^\s,;\"]+)", lambda shown, _: shown.rstrip(".)")),
    (r"after (\d{4}-\d\d-\d\d)", _day_after),
    (r"(?:less|fewer) than (\d+) characters", lambda most, value: str(value)[: int(most) - 1]),
    (r"multiple of (\d+)", lambda step, value: -(-int(value) // int(step)) * int(step)),
    (r"(?:at least|greater than or equal to|minimum is) (\d+)", lambda least, _: int(least)),
    (r"(?:at most|less than or equal to|maximum is) (\d+)", lambda most, _: int(most)),
)
"""Words in which vendors demand something, and what obeys them."""


def repaired(schema: Schema, arguments: dict[str, Any], problem: Mapping[str, Any]) -> Any:
    """Other arguments, by the places that the problem names or by what the upstream said."""
    changed = deepcopy(arguments)
    for error in problem.get("errors", ()):
        _fix(schema, changed, error)
    if "errors" not in problem:
        body = problem.get("upstream", {}).get("body", problem["detail"])
        for name, text in _told(body, list(schema.get("properties", {}))):
            member = _at(schema, [name], schema)
            changed[name] = _obeying(text, changed.get(name), member)
    return changed


def _fix(schema: Schema, arguments: Any, error: Mapping[str, str]) -> None:
    steps = [each.replace("~1", "/").replace("~0", "~") for each in error["pointer"].split("/")[1:]]
    if not steps:
        return
    holder = arguments
    for step in steps[:-1]:
        holder = holder[int(step)] if isinstance(holder, list) else holder[step]
    last: Any = int(steps[-1]) if isinstance(holder, list) else steps[-1]
    member = _at(schema, steps, schema)
    match error["keyword"]:
        case "additionalProperties" | "unevaluatedProperties":
            value = holder.pop(last)
            known = error["detail"].partition("known are ")[2].split(", ")
            for name in get_close_matches(last, known, 1, 0.5):
                holder[name] = value
        case "required":
            holder.setdefault(last, _sample(member, schema))
        case "enum":
            choices = json.loads(f"[{error['detail'].partition('one of ')[2]}]")
            holder[last] = _closest(holder.get(last), choices)
        case _:
            holder[last] = _fitting(holder[last], member, schema)


def _fitting(value: Any, member: Schema, root: Schema) -> Any:
    """The nearest value to `value` that the schema allows."""
    kind = member.get("type")
    if kind == "string" and not isinstance(value, str):
        return str(value)
    if kind in {"integer", "number"}:
        number = float(value) if re.fullmatch(r"-?\d+(\.\d+)?", str(value)) else 1.0
        number = min(number, member.get("maximum", number))
        number = max(number, member.get("minimum", number))
        return int(number) if kind == "integer" else number
    if isinstance(value, str) and (found := _DATE.search(value)):
        month, day, year = map(int, found.groups())
        return date(year, month, day).isoformat()
    if isinstance(value, str) and "pattern" in member:
        forms = (value.upper(), value.upper()[:3], value.strip(), re.sub(r"\W", "", value))
        fit = (each for each in forms if re.search(member["pattern"], each))
        return next(fit, None) or _sample(member, root)
    return _sample(member, root)


def _told(body: Any, names: list[str]) -> Iterator[tuple[str, str]]:
    """The arguments that a body is about, with what it says of each."""
    if isinstance(body, str):
        yield from ((name, body) for name in names if re.search(rf"\b{name}\b", body))
    elif isinstance(body, list):
        for each in body:
            yield from _told(each, names)
    elif isinstance(body, dict):
        yield from _told_of_members(body, names)


def _told_of_members(body: Mapping[str, Any], names: list[str]) -> Iterator[tuple[str, str]]:
    own = json.dumps([body[each] for each in _NAMES if each in body])
    about = [name for name in names if re.search(rf'[/."\']{name}["\']', own)]
    text = " ".join(str(body[each]) for each in _TEXTS if isinstance(body.get(each), str | int))
    yield from ((name, text) for name in about)
    for name in names:
        if isinstance(body.get(name), str | list):
            yield name, " ".join([body[name]] if isinstance(body[name], str) else body[name])
    if not about:
        for each in body.values():
            yield from _told(each, names)


def _obeying(text: str, value: Any, member: Schema) -> Any:
    """`value` as a sentence for people demands it."""
    for pattern, obey in _DEMANDS:
        if found := re.search(pattern, text):
            return obey(found[1], value)
    return _sample(member, member)


def _closest(value: Any, choices: list[Any]) -> Any:
    texts = [str(each) for each in choices]
    found = get_close_matches(str(value), texts, 1, 0.4)
    return choices[texts.index(found[0])] if found else choices[0]


def _at(schema: Any, steps: list[str], root: Schema) -> Schema:
    """The schema of the value at these steps. Empty if it is not said."""
    own = _resolved(schema, root)
    if not steps:
        return own
    for each in (own, *own.get("anyOf", ()), *own.get("oneOf", ())):
        inner = _resolved(each, root)
        member = inner.get("properties", {}).get(steps[0])
        if member is None and steps[0].isdigit():
            member = inner.get("items")
        if isinstance(member, dict):
            return _at(member, steps[1:], root)
    return {}


def _sample(schema: Schema, root: Schema) -> Any:
    schema = _resolved(schema, root)
    for keyword in ("examples", "enum"):
        if schema.get(keyword):
            return schema[keyword][0]
    for keyword in ("const", "default"):
        if keyword in schema:
            return schema[keyword]
    if schema.get("format") in _FORMATS:
        return _FORMATS[schema["format"]]
    kind = schema.get("type", "string")
    if kind == "array":
        return [_sample(schema.get("items", {}), root)]
    if kind == "object":
        members = schema.get("properties", {})
        return {name: _sample(members.get(name, {}), root) for name in schema.get("required", ())}
    return max(1, schema.get("minimum", 1)) if kind == "integer" else _TYPES.get(kind, "text")


def _resolved(schema: Any, root: Schema) -> Schema:
    found: Any = schema
    while isinstance(found, dict) and "$ref" in found:
        found = root["$defs"][found["$ref"].removeprefix("#/$defs/")]
    return found if isinstance(found, dict) else {}
