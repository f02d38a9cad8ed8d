"""Names and texts of a query, cookie or form back to values (OpenAPI 3.2, Style Examples)."""

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import unquote, unquote_plus

from tests.decoding.schemas import SCALARS, Schemas, Undecodable

BRACKETS: Final = re.compile(r"(?:\[[^\[\]]+\])+")


@dataclass(frozen=True)
class Field:
    """A value that is sent as pairs. Without a style it is content of a media type."""

    name: str
    schema: Any
    style: str | None
    explode: bool = False
    media_type: str | None = None
    is_whole: bool = False
    """Whether a list is one text. In forms, each of its items has a text of its own."""


@dataclass(frozen=True)
class Syntax:
    """How texts are escaped, and what separates the items of one text."""

    decoded: Callable[[str], str]
    space: str = "%20"
    pipe: str = "%7C"

    def delimiter(self, style: str) -> str:
        return {"spaceDelimited": self.space, "pipeDelimited": self.pipe}.get(style, ",")


URL: Final = Syntax(unquote_plus)
"""RFC 3986, and `+` is a space (WHATWG URL §5.1)."""
COOKIE: Final = Syntax(unquote)
RAW: Final = Syntax(lambda text: text, space=" ", pipe="|")

Pair = tuple[str, str]
"""A decoded name, and a text that is still escaped."""


def split(text: str, separator: str, decoded: Callable[[str], str]) -> list[Pair]:
    """The pairs of a query, form or cookie."""
    if not text:
        return []
    pieces = [piece.partition("=") for piece in text.split(separator)]
    return [(decoded(name), value) for name, _, value in pieces]


def read(fields: Sequence[Field], pairs: Sequence[Pair], syntax: Syntax, schemas: Schemas) -> Any:
    """The value of each field that is there, by its name."""
    left = list(pairs)
    values: dict[str, Any] = {}
    for field in fields:
        own = [pair for pair in left if _is_of(pair[0], field)]
        left = [pair for pair in left if pair not in own]
        if own:
            values[field.name] = _value(field, own, syntax, schemas)
    for field in fields:
        own = _spread(field, left, fields, schemas)
        left = [pair for pair in left if pair not in own]
        if own:
            values[field.name] = {
                name: scalar(syntax.decoded(text), schemas.member(field.schema, name), schemas)
                for name, text in own
            }
    if left:
        raise Undecodable(f"no parameter is named {left[0][0]!r}")
    return values


def _is_of(name: str, field: Field) -> bool:
    if field.style == "deepObject" and name.startswith(field.name):
        rest = name.removeprefix(field.name)
        return not rest or BRACKETS.fullmatch(rest) is not None
    return name == field.name


def _spread(
    field: Field, left: Sequence[Pair], fields: Sequence[Field], schemas: Schemas
) -> list[Pair]:
    """The members of an exploded object: those it declares, and, if it is the first, all others."""
    if not _may_spread(field, schemas):
        return []
    others = [each for each in fields if each is not field and _may_spread(each, schemas)]
    of_others = {name for each in others for name in schemas.declared_names(each.schema)}
    declared = schemas.declared_names(field.schema)
    is_first = next(each for each in fields if _may_spread(each, schemas)) is field
    return [pair for pair in left if pair[0] in declared or (is_first and pair[0] not in of_others)]


def _may_spread(field: Field, schemas: Schemas) -> bool:
    is_exploded = field.explode and field.style not in {None, "deepObject"}
    return is_exploded and "object" in schemas.kinds(field.schema)


def _value(field: Field, own: list[Pair], syntax: Syntax, schemas: Schemas) -> Any:
    texts = [text for _, text in own]
    if field.is_whole and len(texts) == 1:
        return _content_item(syntax.decoded(texts[0]), field.media_type, field.schema, schemas)
    if field.style is None:
        return content(field, [syntax.decoded(text) for text in texts], schemas)
    if field.style == "deepObject":
        return _deep(field, own, syntax, schemas)
    if not field.explode:
        if len(texts) > 1:
            raise Undecodable(f"{field.name!r} occurs twice")
        delimiter = syntax.delimiter(field.style)
        return delimited(texts[0], field.schema, (delimiter, delimiter), syntax.decoded, schemas)
    return _repeated([syntax.decoded(text) for text in texts], field.schema, schemas)


def content(field: Field, texts: list[str], schemas: Schemas) -> Any:
    """The value of content with no style: lists are repeated, objects are JSON."""
    kinds = schemas.kinds(field.schema)
    candidates: list[Any] = []
    if len(texts) == 1 and kinds - {"array", "null"}:
        candidates.append(_content_item(texts[0], field.media_type, field.schema, schemas))
    if "array" in kinds:
        element = schemas.element(field.schema)
        candidates += readable(
            lambda: [_content_item(text, field.media_type, element, schemas) for text in texts]
        )
    return schemas.first(candidates, field.schema)


def _content_item(text: str, media_type: str | None, schema: Any, schemas: Schemas) -> Any:
    if media_type is not None and ("json" in media_type):
        return json.loads(text)
    kinds = schemas.kinds(schema)
    candidates = schemas.scalars(text, kinds)
    if media_type is None and kinds & {"array", "object"} and text[:1] in {"{", "["}:
        candidates[:0] = _json(text)
    return schemas.first(candidates, schema)


def _json(text: str) -> list[Any]:
    """The value of a text that is JSON."""
    try:
        return [json.loads(text)]
    except ValueError:
        return []


def readable(reading: Callable[[], Any]) -> list[Any]:
    """The value of one reading of a text, if the schema has such a value."""
    try:
        return [reading()]
    except Undecodable:
        return []


def scalar(text: str, schema: Any, schemas: Schemas) -> Any:
    """The primitive value of a text."""
    return schemas.first(schemas.scalars(text, schemas.kinds(schema)), schema)


def _repeated(texts: list[str], schema: Any, schemas: Schemas) -> Any:
    kinds = schemas.kinds(schema)
    element = schemas.element(schema)
    candidates: list[Any] = []
    if len(texts) == 1 and kinds & SCALARS:
        candidates += schemas.scalars(texts[0], kinds)
    if "array" in kinds:
        candidates += readable(lambda: [scalar(text, element, schemas) for text in texts])
    return schemas.first(candidates, schema)


def delimited(
    text: str, schema: Any, marks: tuple[str, str], decoded: Callable[[str], str], schemas: Schemas
) -> Any:
    """The value of one text. `marks` separate items, and names from values."""
    delimiter, between = marks
    kinds = schemas.kinds(schema)
    pieces = text.split(delimiter)
    containers: list[Any] = []
    if "array" in kinds:
        element = schemas.element(schema)
        containers += readable(
            lambda: [scalar(decoded(piece), element, schemas) for piece in pieces]
        )
    if "object" in kinds:
        containers += _object(pieces, schema, marks, decoded, schemas)
    scalars = schemas.scalars(decoded(text), kinds)
    is_divided = delimiter in text or (between != delimiter and between in text)
    return schemas.first(containers + scalars if is_divided else scalars + containers, schema)


def _object(
    pieces: list[str],
    schema: Any,
    marks: tuple[str, str],
    decoded: Callable[[str], str],
    schemas: Schemas,
) -> list[Any]:
    delimiter, between = marks
    if between == delimiter:
        pairs = list(zip(pieces[::2], pieces[1::2], strict=False))
        is_whole = len(pieces) % 2 == 0
    else:
        pairs = [(name, value) for name, _, value in (each.partition(between) for each in pieces)]
        is_whole = all(between in each for each in pieces)
    if not is_whole:
        return []
    members = [(decoded(name), decoded(value)) for name, value in pairs]
    return [{name: scalar(value, schemas.member(schema, name), schemas) for name, value in members}]


def _deep(field: Field, own: list[Pair], syntax: Syntax, schemas: Schemas) -> Any:
    tree: dict[str, Any] = {}
    for name, text in own:
        node = tree
        for step in re.findall(r"\[([^\[\]]+)\]", name.removeprefix(field.name)):
            node = node.setdefault(step, {})
        node.setdefault("", []).append(syntax.decoded(text))
    return _grown(tree, field.schema, schemas)


def _grown(tree: dict[str, Any], schema: Any, schemas: Schemas) -> Any:
    """The value of the texts below one name with brackets."""
    if "" in tree:
        if len(tree) > 1:
            raise Undecodable("a name has both a value and members")
        return _repeated(tree[""], schema, schemas)
    kinds = schemas.kinds(schema)
    candidates: list[Any] = []
    if "array" in kinds and list(tree) == [str(index) for index in range(len(tree))]:
        element = schemas.element(schema)
        candidates += readable(lambda: [_grown(each, element, schemas) for each in tree.values()])
    if "object" in kinds:
        candidates += readable(
            lambda: {
                name: _grown(each, schemas.member(schema, name), schemas)
                for name, each in tree.items()
            }
        )
    return schemas.first(candidates, schema)
