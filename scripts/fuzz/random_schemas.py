"""Random JSON Schemas of all 2020-12 keywords, edits of them, and random values.

Shares no code with the gateway. The world is small (few names, texts and numbers), so that two
schemas often differ in a way that a random value shows.
"""

import copy
import itertools
from collections.abc import Callable
from random import Random
from typing import Any, Final

NAMES: Final = ("a", "b", "c", "ab")
TEXTS: Final = ("", "a", "b", "ab", "ba", "abc", "aa", "aab", "1", "A", "0123", "a-b")
FORMATS: Final = ("date", "date-time", "uuid", "ipv4", "ipv6")
FORMATTED: Final = (
    "2026-11-30",
    "2026-11-31",
    "2026-11-30T10:00:00Z",
    "123e4567-e89b-42d3-a456-426614174000",
    "123e4567-e89b-42d3-a456-42661417400",
    "192.0.2.1",
    "192.0.2.256",
    "2001:db8::1",
)
NUMBERS: Final = (-2, -1, 0, 1, 2, 3, 4, 5, 6, 10, 0.5, 1.5, 2.5, -0.5, 0.1, 1.0, 100, 2**53 + 1)
PATTERNS: Final = (
    *("^a", "b$", "^[a-c]*$", "a", "^a{1,3}$", "^(ab)+$", "^.{0,2}$", "[0-9]", "^[A-Za-z]+$"),
    *("^[^a]", "^a|b$", "(a|b)c?", "^[a-z0-9-]{1,4}$", "^$", "^a.c$", "b+", "^x-"),
)
TYPES: Final = ("null", "boolean", "integer", "number", "string", "array", "object")


class Maker:
    """Makes schemas."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.definitions = [f"d{number}" for number in range(random.choice((0, 0, 1, 2)))]

    def document(self) -> dict[str, Any]:
        """A schema with its definitions. They may refer to each other and to themselves."""
        schema = self.schema(3)
        found: dict[str, Any] = schema if isinstance(schema, dict) else {"allOf": [schema]}
        if self.definitions:
            found = {**found, "$defs": {name: self._guarded() for name in self.definitions}}
        return found

    def schema(self, depth: int) -> Any:
        """A schema without definitions of its own."""
        draw = self.random.random()
        if draw < 0.04:
            return self.random.random() < 0.6
        if draw < 0.12 and self.definitions:
            return {"$ref": f"#/$defs/{self.random.choice(self.definitions)}"}
        makers: list[Callable[[int], dict[str, Any]]] = [self._scalar, self._typed, self._values]
        if depth > 0:
            makers += [self._object, self._object, self._array, self._combined, self._combined]
            makers += [self._tagged]
        found = self.random.choice(makers)(depth)
        if depth > 0 and self.random.random() < 0.15:
            found = {**found, **self.random.choice(makers)(depth - 1)}
        return found

    def _guarded(self) -> Any:
        """A definition: what it refers to is inside a member or an item, so that no loop is empty.

        `$ref` beside members is fine; a loop of plain references is not a schema.
        """
        kept, self.definitions = self.definitions, []
        base = self.schema(1)
        self.definitions = kept
        found = base if isinstance(base, dict) else {}
        plain = {"$ref": f"#/$defs/{self.random.choice(kept)}"}
        forms: tuple[Any, ...] = (plain, {"anyOf": [plain, {"type": "null"}]}, {"not": plain})
        inner = self.random.choice(forms)
        place = self.random.choice(("properties", "items", "additionalProperties", "prefixItems"))
        match place:
            case "properties":
                return {**found, place: {self.random.choice(NAMES): inner}}
            case "prefixItems":
                return {**found, place: [inner]}
        return {**found, place: inner}

    def _typed(self, _: int) -> dict[str, Any]:
        if self.random.random() < 0.7:
            return {"type": self.random.choice(TYPES)}
        return {"type": self.random.sample(TYPES, self.random.randint(1, 3))}

    def _values(self, _: int) -> dict[str, Any]:
        if self.random.random() < 0.4:
            return {"const": value(self.random, 1)}
        found: list[Any] = []
        for _each in range(self.random.randint(1, 3)):
            one = value(self.random, 1)
            if one not in found:
                found.append(one)
        return {"enum": found}

    def _scalar(self, depth: int) -> dict[str, Any]:
        return self._number(depth) if self.random.random() < 0.45 else self._text(depth)

    def _number(self, _: int) -> dict[str, Any]:
        words = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf")
        found: dict[str, Any] = self._kind("integer", "number")
        for word in self.random.sample(words, self.random.randint(1, 2)):
            steps = (1, 2, 3, 4, 0.5, 0.1, 1.5)
            found[word] = self.random.choice(steps if word == "multipleOf" else NUMBERS)
        return found

    def _text(self, _: int) -> dict[str, Any]:
        found: dict[str, Any] = self._kind("string")
        for word in self.random.sample(("minLength", "maxLength", "pattern", "format"), 2):
            match word:
                case "pattern":
                    found[word] = self.random.choice(PATTERNS)
                case "format":
                    if self.random.random() < 0.3:
                        found[word] = self.random.choice(FORMATS)
                case _:
                    found[word] = self.random.randint(0, 4)
        return found

    def _kind(self, *names: str) -> dict[str, Any]:
        return {"type": self.random.choice(names)} if self.random.random() < 0.7 else {}

    def _array(self, depth: int) -> dict[str, Any]:
        found: dict[str, Any] = self._kind("array")
        words = ("items", "prefixItems", "contains", "minItems", "maxItems", "uniqueItems")
        for word in self.random.sample((*words, "unevaluatedItems"), self.random.randint(1, 3)):
            match word:
                case "prefixItems":
                    several = range(self.random.randint(1, 2))
                    found[word] = [self.schema(depth - 1) for _ in several]
                case "minItems" | "maxItems":
                    found[word] = self.random.randint(0, 3)
                case "uniqueItems":
                    found[word] = self.random.random() < 0.8
                case _:
                    found[word] = self.schema(depth - 1)
        if "contains" in found and self.random.random() < 0.5:
            found["minContains"] = self.random.randint(0, 2)
        if "contains" in found and self.random.random() < 0.4:
            found["maxContains"] = self.random.randint(0, 2)
        return found

    def _tagged(self, depth: int) -> dict[str, Any]:
        """A union of objects, most of which are named by a member."""
        texts = self.random.sample(TEXTS[1:6], self.random.randint(2, 4))
        branches: list[Any] = []
        for text in texts:
            name = "a" if self.random.random() < 0.9 else "b"
            tag = {"const": text} if self.random.random() < 0.8 else {"enum": [text, texts[0]]}
            other = {self.random.choice(NAMES): self.schema(depth - 1)}
            branch: dict[str, Any] = {"properties": {**other, name: tag}}
            branch |= {"required": [name]} if self.random.random() < 0.8 else {}
            branches.append(branch if self.random.random() < 0.8 else {"allOf": [branch]})
        return {self.random.choice(("oneOf", "oneOf", "anyOf")): branches}

    def _object(self, depth: int) -> dict[str, Any]:
        found: dict[str, Any] = self._kind("object")
        words = (
            *("properties", "properties", "required", "additionalProperties", "patternProperties"),
            *("minProperties", "maxProperties", "propertyNames", "dependentRequired"),
            *("dependentSchemas", "unevaluatedProperties"),
        )
        for word in self.random.sample(words, self.random.randint(1, 4)):
            found[word] = self._object_keyword(word, depth - 1)
        return found

    def _object_keyword(self, word: str, depth: int) -> Any:
        names = self.random.sample(NAMES, self.random.randint(1, 2))
        match word:
            case "properties" | "dependentSchemas":
                return {name: self.schema(depth) for name in names}
            case "patternProperties":
                patterns = self.random.sample(PATTERNS, self.random.choice((1, 1, 2)))
                return {pattern: self.schema(depth) for pattern in patterns}
            case "required" | "dependentRequired":
                needed = {name: self.random.sample(NAMES, 1) for name in names}
                return names if word == "required" else needed
            case "minProperties" | "maxProperties":
                return self.random.randint(0, 3)
        is_text = word == "propertyNames" and self.random.random() < 0.7
        found = self._text(0) if is_text else self.schema(depth)
        return found if self.random.random() < 0.5 else False

    def _combined(self, depth: int) -> dict[str, Any]:
        word = self.random.choice(("allOf", "anyOf", "oneOf", "not", "if"))
        match word:
            case "not":
                return {word: self.schema(depth - 1)}
            case "if":
                words = ("then", "else")
                chosen = words if self.random.random() < 0.4 else (self.random.choice(words),)
                return {each: self.schema(depth - 1) for each in (word, *chosen)}
        return {word: [self.schema(depth - 1) for _ in range(self.random.randint(1, 3))]}


def document(random: Random) -> dict[str, Any]:
    """A random schema with its definitions."""
    return Maker(random).document()


def edited(schema: dict[str, Any], random: Random) -> dict[str, Any]:
    """`schema` with one keyword changed, added or taken away, somewhere inside."""
    found = copy.deepcopy(schema)
    places = list(_schemas(found))
    node = random.choice(places)
    maker = Maker(random)
    maker.definitions = list(schema.get("$defs", {}))
    keywords = [each for each in node if each not in {"$defs", "$ref"}]
    draw = random.random()
    if draw < 0.3 and keywords:
        del node[random.choice(keywords)]
    elif draw < 0.75 and (numeric := [each for each in keywords if _is_number(node[each])]):
        keyword = random.choice(numeric)
        changed = node[keyword] + random.choice((-1, 1))
        least = 1 if keyword == "multipleOf" else 0
        node[keyword] = changed if keyword.endswith("imum") else max(least, changed)
    else:
        fresh = maker.schema(1)
        if isinstance(fresh, dict) and "$ref" not in fresh:
            node.update(fresh)
    return found


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


_MAPS: Final = ("properties", "patternProperties", "dependentSchemas", "$defs")
_LISTS: Final = ("allOf", "anyOf", "oneOf", "prefixItems")
_SINGLE: Final = (
    *("additionalProperties", "items", "contains", "not", "if", "then", "else", "propertyNames"),
    *("unevaluatedItems", "unevaluatedProperties"),
)


def _schemas(node: Any) -> list[dict[str, Any]]:
    """Every schema object in `node`, itself first."""
    if not isinstance(node, dict):
        return []
    inner = [each for word in _MAPS for each in node.get(word, {}).values()]
    inner += [each for word in _LISTS for each in node.get(word, ())]
    inner += [node[word] for word in _SINGLE if word in node]
    return [node, *(found for each in inner for found in _schemas(each))]


def value(random: Random, depth: int = 2, known: tuple[Any, ...] = ()) -> Any:
    """A random value. `known` are values that occur in the schemas: they and their neighbours."""
    draw = random.random()
    if known and draw < 0.3:
        return _near(random.choice(known), random)
    if depth > 0 and draw < 0.5:
        names = random.sample(NAMES, random.choice((0, 1, 1, 2, 2, 3)))
        names += ["x-y"] if random.random() < 0.1 else []
        return {name: value(random, depth - 1, known) for name in names}
    if depth > 0 and draw < 0.7:
        items = [value(random, depth - 1, known) for _ in range(random.choice((0, 1, 1, 2, 2, 3)))]
        return [*items, items[0]] if items and random.random() < 0.2 else items
    if draw < 0.85:
        return random.choice(NUMBERS)
    if draw < 0.95:
        return random.choice(TEXTS + FORMATTED if random.random() < 0.2 else TEXTS)
    return random.choice((None, True, False))


def near(given: Any, random: Random, known: tuple[Any, ...] = ()) -> Any:
    """A value like `given`, of which one part is another one, is left out, or is new."""
    if random.random() < 0.1:
        return value(random, 2, known)
    if isinstance(given, dict):
        return _near_object(given, random, known)
    if isinstance(given, list):
        return _near_list(given, random, known)
    if isinstance(given, str):
        at = random.randint(0, len(given))
        text = random.choice(("", random.choice(TEXTS), chr(random.randint(32, 0x17F))))
        return given[:at] + text + given[at + random.randint(0, 1) :]
    if _is_number(given):
        return random.choice((given, 0)) + random.randint(-1000, 1000) * random.choice((1, 0.5, 6))
    return value(random, 2, known)


def _near_object(given: dict[str, Any], random: Random, known: tuple[Any, ...]) -> dict[str, Any]:
    name = random.choice((*given, *NAMES, f"n{random.randint(0, 99)}"))
    rest = {each: member for each, member in given.items() if each != name}
    if name in given and random.random() < 0.2:
        return rest
    member = near(given[name], random, known) if name in given else value(random, 1, known)
    return {**rest, name: member}


def _near_list(given: list[Any], random: Random, known: tuple[Any, ...]) -> list[Any]:
    at = random.randint(0, len(given))
    if at == len(given):
        return [*given, value(random, 1, known)]
    inner = [] if random.random() < 0.2 else [near(given[at], random, known)]
    return [*given[:at], *inner, *given[at + 1 :]]


def _near(given: Any, random: Random) -> Any:
    if isinstance(given, bool) or given is None:
        return given
    if isinstance(given, int | float):
        return given + random.choice((0, 0, 1, -1, 0.5))
    if isinstance(given, str):
        return random.choice((given, given + "a", given[:-1]))
    return given


def known_values(*schemas: Any) -> tuple[Any, ...]:
    """The constants in the schemas."""
    found: list[Any] = []
    for node in (each for schema in schemas for each in _schemas(schema)):
        found += [node["const"]] if "const" in node else []
        found += node.get("enum", ())
        found += [each for each in node.values() if _is_number(each)]
    return tuple(found)


def world() -> tuple[Any, ...]:
    """All values of a small world: the scalars, and lists and objects of a few of them."""
    scalars = (None, True, 0, 1, 2.5, -1, "", "a", "ab", "b1")
    few: tuple[Any, ...] = (None, 1, "a", {}, [])
    lists = [list(each) for size in range(4) for each in itertools.product(few[:3], repeat=size)]
    members = itertools.product((*few, ...), repeat=len(NAMES))
    objects = [
        {name: each for name, each in zip(NAMES, chosen, strict=True) if each is not ...}
        for chosen in members
    ]
    return (*scalars, *lists, *objects)
