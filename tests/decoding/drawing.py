"""Arguments drawn from a JSON Schema with a seed: quick, and good enough for imported documents."""

import math
import random
from collections.abc import Mapping
from functools import partial
from typing import Any, Final

from tests.decoding.patterns import is_match, matching
from tests.decoding.schemas import Schemas

TEXT: Final = "abcdefgh XYZ0123456789,.;:=&+%|/?#[]{}@!$'()*\"~-_éß日😀"
PLAIN: Final = "abcdefghXYZ0123456789"
FORMATS: Final[Mapping[str, tuple[str, ...]]] = {
    "date": ("2026-11-23", "1999-01-01"),
    "date-time": ("2026-11-23T01:02:03Z", "2026-11-23T01:02:03.5+01:00"),
    "time": ("01:02:03Z",),
    "duration": ("P1DT2H",),
    "email": ("a.b+c@example.com",),
    "hostname": ("a.example",),
    "ipv4": ("192.0.2.1",),
    "ipv6": ("2001:db8::1",),
    "uri": ("https://example.com/a?b=c&d=e#f", "urn:a:b"),
    "uri-reference": ("/a/b?c",),
    "uuid": ("f81d4fae-7dec-11d0-a765-00a0c91e6bf6",),
    "json-pointer": ("/a/b~1c",),
    "regex": ("a.*",),
}
DEEPEST: Final = 7


class Drawing:
    """Draws values of the schemas of one document."""

    def __init__(self, schemas: Schemas, source: random.Random, *, is_plain: bool = False) -> None:
        """`is_plain`: texts are letters and digits, and null is drawn only if nothing else is."""
        self._schemas = schemas
        self._source = source
        self._is_plain = is_plain

    def value(self, schema: Any, depth: int = 0) -> Any:
        """A value that the schema probably admits."""
        if isinstance(schema, bool):
            return self._source.choice(["text", 7, True])
        whole = self._merged(schema, 0)
        if "const" in whole:
            return whole["const"]
        if whole.get("enum"):
            return self._source.choice(whole["enum"])
        kinds = self._schemas.kinds(whole)
        if depth > DEEPEST:
            kinds = kinds - {"array", "object"} or kinds
        if self._is_plain:
            kinds = kinds - {"null"} or kinds
        kind = self._kind(kinds, whole)
        if kind in {"array", "object"}:
            draw = self._list if kind == "array" else partial(self._object, schema=schema)
            return draw(whole, depth)
        if kind in {"integer", "number"}:
            return self._number(whole, kind)
        return {"string": lambda: self._text(whole), "boolean": self._boolean}.get(
            kind, lambda: None
        )()

    def _kind(self, kinds: frozenset[str], whole: Mapping[str, Any]) -> str:
        if "type" not in whole:
            if "properties" in whole and "object" in kinds:
                return "object"
            kinds = kinds & {"string", "integer", "boolean"} or kinds
        return self._source.choice(sorted(kinds)) if kinds else "null"

    def _boolean(self) -> bool:
        return self._source.random() < 0.5

    def _merged(self, schema: Any, depth: int) -> dict[str, Any]:
        """One schema of all that `schema` combines, with one alternative of each choice."""
        if not isinstance(schema, dict) or depth > 30:
            return {}
        found = {
            name: value
            for name, value in schema.items()
            if name not in {"$ref", "allOf", "anyOf", "oneOf"}
        }
        parts = [self._schemas.target(schema["$ref"])] if "$ref" in schema else []
        parts += schema.get("allOf", [])
        parts += [
            self._source.choice(schema[name]) for name in ("anyOf", "oneOf") if schema.get(name)
        ]
        for part in parts:
            _add(found, self._merged(part, depth + 1))
        return found

    def _text(self, whole: Mapping[str, Any]) -> str:
        least = whole.get("minLength", 0)
        most = min(whole.get("maxLength", least + 12), least + 12)
        if whole.get("contentEncoding") == "base64" or whole.get("format") in {"byte", "binary"}:
            return self._source.choice(["QQ==", "SGk=", "AAEC/w=="])
        formatted = FORMATS.get(whole.get("format", ""), ())
        if "pattern" in whole:
            formatted = tuple(each for each in formatted if is_match(whole["pattern"], each))
            text = None if formatted else matching(whole["pattern"], self._source)
            if text is not None:
                return text + "a" * (least - len(text))
        if formatted:
            return self._source.choice(formatted)
        length = self._source.randint(min(max(least, 1), most), most)
        return "".join(self._source.choices(PLAIN if self._is_plain else TEXT, k=length))

    def _number(self, whole: Mapping[str, Any], kind: str) -> int | float:
        least = whole.get("minimum", whole.get("exclusiveMinimum", -1000))
        most = whole.get("maximum", whole.get("exclusiveMaximum", max(least, 0) + 1000))
        step = whole.get("multipleOf")
        if step:
            return self._source.randint(math.ceil(least / step), math.floor(most / step)) * step
        if kind == "integer":
            low = math.ceil(least) + ("exclusiveMinimum" in whole)
            return self._source.randint(low, max(low, math.floor(most)))
        return self._source.choice([float(least) + 0.5, self._source.uniform(least, most)])

    def _list(self, whole: Mapping[str, Any], depth: int) -> list[Any]:
        least = whole.get("minItems", 0)
        most = whole.get("maxItems", least + 3)
        count = self._source.randint(max(least, min(1, most)), max(least, min(most, least + 3)))
        if depth > DEEPEST:
            count = least
        fixed = whole.get("prefixItems", [])
        items = [
            self.value(fixed[index] if index < len(fixed) else whole.get("items", True), depth + 1)
            for index in range(count)
        ]
        if whole.get("uniqueItems"):
            items = [item for index, item in enumerate(items) if item not in items[:index]]
        return items

    def _object(self, whole: Mapping[str, Any], depth: int, schema: Any) -> dict[str, Any]:
        """An object of `whole`, one merged alternative of `schema`."""
        properties = whole.get("properties", {})
        required = whole.get("required", [])
        share = 0.6 / (1 + depth) if depth <= DEEPEST else 0.0
        names = [name for name in properties if name in required or self._source.random() < share]
        if not names and properties and share and self._source.random() < 0.9:
            names = [self._source.choice(list(properties))]
        needed = self._needed([*names, *required], whole.get("dependentRequired", {}))
        found = {
            # Another alternative may say what a required member is.
            name: self.value(properties.get(name, self._schemas.member(schema, name)), depth + 1)
            for name in needed
        }
        others = whole.get("additionalProperties", True)
        if share and (isinstance(others, dict) or (others is True and not properties)):
            for name in self._source.sample(["one", "two", "x-3", "vier"], k=2):
                found[name] = self.value(others, depth + 1)
        least = whole.get("minProperties", 0)
        for name in [each for each in properties if each not in found][
            : max(0, least - len(found))
        ]:
            found[name] = self.value(properties[name], depth + 1)
        return found

    @staticmethod
    def _needed(names: list[str], beside: Mapping[str, list[str]]) -> dict[str, None]:
        """`names`, and what each of them needs beside it."""
        found = dict.fromkeys(names)
        waiting = [*found]
        while waiting:
            more = [each for each in beside.get(waiting.pop(), ()) if each not in found]
            found |= dict.fromkeys(more)
            waiting += more
        return found


def _add(found: dict[str, Any], more: Mapping[str, Any]) -> None:
    """Add the keywords of `more` to `found`, so that both hold where that is simple."""
    for name, value in more.items():
        if name not in found:
            found[name] = dict(value) if name == "properties" else value
        elif name == "properties":
            for key, schema in value.items():
                own = found[name].get(key)
                both = {"allOf": [own, schema]}
                found[name] = found[name] | {key: schema if own is None else both}
        elif name == "required":
            found[name] = [*found[name], *(each for each in value if each not in found[name])]
        elif name == "enum":
            found[name] = [each for each in found[name] if each in value]
        elif name == "additionalProperties" and value is False:
            found[name] = False
