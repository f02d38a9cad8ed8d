"""The arguments of a tool: one flat object of parameters and members of the body."""

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, Literal

from msgspec import Struct

from gateway.authoring.openapi.reading.schemas import Schema, SchemaLowering

# Media types: how a body or a reply with one is handled (RFC 9110 §8.3.1, RFC 6839).

MediaKind = Literal["json", "form", "multipart", "text", "xml", "binary", "events", "range", "any"]
"""`any`: the range `*/*`, or one of application types. `range`: any other range."""

FORM: Final = "application/x-www-form-urlencoded"
LINES: Final = frozenset(
    {
        "application/x-ndjson",
        "application/ndjson",
        "application/jsonl",
        "application/x-jsonl",
        "application/jsonlines",
        "application/x-jsonlines",
        "application/stream+json",
    }
)
"""Each line is a JSON value."""
_EVENTS: Final = LINES | {"text/event-stream", "application/json-seq"}
_JSON: Final = frozenset({"application/json", "text/json", "application/x-json"})
_TEXT: Final = frozenset(
    {
        "application/javascript",
        "application/graphql",
        "application/sdp",
        "application/sql",
        "application/toml",
        "application/yaml",
        "application/x-yaml",
    }
)
_ANY: Final = frozenset({"*/*", "application/*", "*"})
_EXACT: Final[dict[str, MediaKind]] = {
    **dict.fromkeys(_EVENTS, "events"),
    **dict.fromkeys(_JSON, "json"),
    **dict.fromkeys(_TEXT, "text"),
    **dict.fromkeys(_ANY, "any"),
    FORM: "form",
    "multipart/form-data": "multipart",
    "application/xml": "xml",
    "text/xml": "xml",
    "text/*": "text",
}


def essence(media_type: str) -> str:
    """`media_type` in lower case, without parameters."""
    return media_type.partition(";")[0].strip().lower()


def kind_of(media_type: str) -> MediaKind:
    """How content of `media_type` is handled."""
    name = essence(media_type)
    if name in _EXACT:
        return _EXACT[name]
    if name.endswith("+json"):
        return "json"
    if name.endswith(("+xml", "+yaml")):
        return "xml" if name.endswith("+xml") else "text"
    if "*" in name:
        return "range"
    return "text" if name.startswith("text/") else "binary"


# Values that no request can say as null: they are absent instead.

_NULL: Final = {"type": "null"}


def without_null(schema: Schema) -> Schema:
    """The lowered `schema` without null, if it admits other values too.

    A text has no null (OpenAPI 3.2, Appendix B), so a caller who gave one would be refused.
    """
    if isinstance(schema, bool):
        return schema
    found = {**schema, **_other_types(schema), **_other_values(schema)}
    if found.get("default", True) is None:
        del found["default"]
    return _other_branches(found)


def _other_types(schema: dict[str, Any]) -> dict[str, Any]:
    listed = schema.get("type")
    types = [each for each in listed if each != "null"] if isinstance(listed, list) else []
    if not types:
        return {}
    return {"type": types[0] if len(types) == 1 else types}


def _other_values(schema: dict[str, Any]) -> dict[str, Any]:
    values = [each for each in schema.get("enum", ()) if each is not None]
    return {"enum": values} if values else {}


def _other_branches(schema: dict[str, Any]) -> Schema:
    """`schema` without the alternative null. A single alternative that is left is the schema."""
    for keyword in ("anyOf", "oneOf"):
        branches = [each for each in schema.get(keyword, ()) if each != _NULL]
        if not branches or len(branches) == len(schema[keyword]):
            continue
        rest = {name: value for name, value in schema.items() if name != keyword}
        (first, *others) = branches
        if others or isinstance(first, bool) or first.keys() & rest.keys():
            return {**rest, keyword: branches}
        return {**first, **rest}
    return schema


# The arguments of a tool: one flat object of parameters and members of the body.

MAX_MEMBER: Final = 64
_ILLEGAL: Final = re.compile(r"[^A-Za-z0-9_.-]+")
"""Characters that clients refuse in names of arguments."""
_MAX_DESCRIPTION: Final = 2000


class Argument(Struct, frozen=True, kw_only=True):
    """One value that the caller gives."""

    name: str
    """The name on the wire. For the whole body, `body`."""
    location: str
    """A location of parameters, or `body`."""
    schema: Schema
    is_required: bool


def described(schema: Schema, holder: Mapping[str, Any]) -> Schema:
    """`schema` with the description of its `holder`, a Parameter or Request Body Object."""
    description = holder.get("description")
    if not isinstance(description, str) or not description.strip():
        return schema
    text = shortened(description)
    return {"description": text} if isinstance(schema, bool) else {**schema, "description": text}


def shortened(text: str, limit: int = _MAX_DESCRIPTION) -> str:
    """`text` without surrounding white space, and at most `limit` characters long."""
    text = text.strip()
    return text if len(text) <= limit else f"{text[: limit - 2].rstrip()} …"


def member_names(arguments: Sequence[Argument]) -> list[str]:
    """The member of each argument: its name, with its location as suffix if names collide."""
    plain = [cleaned(each.name) for each in arguments]
    counts = Counter(plain)
    wanted = [
        name if counts[name] == 1 else f"{name}_{each.location}"
        for name, each in zip(plain, arguments, strict=True)
    ]
    taken = {name for name in plain if counts[name] == 1}
    numbers: Counter[str] = Counter()
    names: list[str] = []
    for name, before in zip(wanted, plain, strict=True):
        names.append(name if counts[before] == 1 else _free(name, taken, numbers))
    return names


def _free(name: str, taken: set[str], numbers: Counter[str]) -> str:
    """`name`, with a number if it is in `taken`. It is then in `taken`."""
    found = name
    while found in taken:
        # The numbers go on, so that many equal names take no longer than others.
        numbers[name] += 1
        found = f"{name}_{numbers[name] + 1}"
    taken.add(found)
    return found


def collisions(parameters: Iterable[Argument], members: Iterable[str]) -> int:
    """The number of `members` of a body that collide with parameters or with one another."""
    taken = Counter(cleaned(each.name) for each in parameters)
    names = [cleaned(each) for each in members]
    taken.update(names)
    return sum(taken[name] > 1 for name in names)


def cleaned(name: str) -> str:
    """`name` with the characters that clients accept, and at most `MAX_MEMBER` of them."""
    found = _ILLEGAL.sub("_", name)
    if found != name:
        found = found.strip("_") or "value"
    if len(found) <= MAX_MEMBER - 12:
        return found
    digest = hashlib.sha256(name.encode()).hexdigest()[:6]
    return f"{found[: MAX_MEMBER - 19]}_{digest}"


def _labelled(name: str, argument: Argument) -> Schema:
    """The schema of `argument`, which says the name on the wire if the caller's is another one."""
    if name == argument.name or not argument.name.isprintable():
        return argument.schema
    known = {} if isinstance(argument.schema, bool) else argument.schema
    if argument.schema is False:
        return False
    own = known.get("description", "")
    label = f"Sent as `{shortened(argument.name, MAX_MEMBER)}`."
    text = f"{shortened(own, _MAX_DESCRIPTION - len(label))} {label}" if own else label
    return {**known, "description": text}


def input_schema(
    arguments: Sequence[Argument], names: Sequence[str], needed: Mapping[str, Sequence[str]]
) -> dict[str, Any]:
    """The closed object schema of `arguments`. `needed` becomes `dependentRequired`."""
    pairs = list(zip(names, arguments, strict=True))
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {name: _labelled(name, each) for name, each in pairs},
    }
    if required := [name for name, each in pairs if each.is_required]:
        schema["required"] = required
    if needed:
        schema["dependentRequired"] = {name: list(others) for name, others in needed.items()}
    return schema | {"additionalProperties": False}


# Whether the members of a body can stand beside the parameters in one flat object.

_TITLES: Final = frozenset(
    {"$comment", "default", "deprecated", "description", "examples", "title", "type"}
)
_SHAPE: Final = frozenset({"$ref", "additionalProperties", "allOf", "properties", "required"})
_MAX_DEPTH: Final = 20


class FlatMembers(Struct, frozen=True, kw_only=True):
    """The members of an object schema that has no other rules."""

    properties: Mapping[str, Schema]
    required: tuple[str, ...]


def flat_members(schemas: SchemaLowering, schema: Schema) -> FlatMembers | None:
    """The members of the lowered `schema`.

    None if it is not an object with named members alone: a union, a dictionary, or an object with
    rules for all members together, which would also apply to the parameters.
    """
    properties: dict[str, Schema] = {}
    required: list[str] = []
    schema = schemas.target(schema)
    if isinstance(schema, dict) and schema.get("unevaluatedProperties") is False:
        # The flat object is closed too.
        schema = {name: each for name, each in schema.items() if name != "unevaluatedProperties"}
    parts = list(_parts(schemas, schema, {}, _MAX_DEPTH))
    for part in parts:
        if part is None or not _is_plain(part, is_alone=len(parts) == 1):
            return None
        for name, member in part.get("properties", {}).items():
            known = properties.get(name, member)
            properties[name] = member if known == member else {"allOf": [known, member]}
        required += part.get("required", ())
    if not properties or not set(required) <= properties.keys():
        return None
    return FlatMembers(properties=properties, required=tuple(dict.fromkeys(required)))


def _parts(
    schemas: SchemaLowering, schema: Schema, joined: dict[str, bool], depth: int
) -> Iterator[Mapping[str, Any] | None]:
    """The objects that `schema` joins by `$ref` and allOf. None for a part that is no object.

    `joined`: the references so far, and whether all of each was joined. A second time adds nothing.
    """
    if isinstance(schema, bool) or depth == 0:
        yield None
        return
    reference = schema.get("$ref")
    if reference is not None and not joined.get(reference):
        if reference in joined:
            yield None  # it refers to itself
            return
        joined[reference] = False
        yield from _parts(schemas, schemas.target({"$ref": reference}), joined, depth - 1)
        joined[reference] = True
    for each in schema.get("allOf", ()):
        yield from _parts(schemas, each, joined, depth - 1)
    rest = {name: value for name, value in schema.items() if name not in {"$ref", "allOf"}}
    if rest.keys() - _TITLES or not ("$ref" in schema or "allOf" in schema):
        yield rest


def _is_plain(part: Mapping[str, Any], *, is_alone: bool) -> bool:
    if part.keys() - _TITLES - _SHAPE or part.get("type", "object") != "object":
        return False
    if "additionalProperties" not in part:
        return True
    # A closed part of allOf also refuses the members of the other parts.
    return is_alone and part["additionalProperties"] is False
