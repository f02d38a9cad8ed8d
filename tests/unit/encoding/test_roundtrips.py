"""Whatever is sent is decoded to the same arguments, for every style, place and shape."""

import base64
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from gateway.contract.imported import BodyField, ImportedBody
from gateway.encoding.encoder import Encoder
from gateway.errors import InvalidArguments, MalformedRequest
from tests.decoding.received import is_same, received
from tests.decoding.schemas import Undecodable
from tests.unit.encoding.operations import cookie, header, in_path, operation, query
from tests.unit.tables import each_of

STRING: dict[str, Any] = {"type": "string"}
TYPES: dict[str, tuple[dict[str, Any], st.SearchStrategy[Any]]] = {
    "string": (
        STRING,
        st.text(st.sampled_from("aB0 ,.;=&+%|/?#[]{}:@!$'()*\"\\~-_\t\né日😀")) | st.text(),
    ),
    "integer": ({"type": "integer"}, st.integers()),
    "number": ({"type": "number"}, st.floats(allow_nan=False, allow_infinity=False)),
    "boolean": ({"type": "boolean"}, st.booleans()),
}
PLAIN = st.text("abcXYZ019_", min_size=1, max_size=8)
STYLES = [
    *(("path", style, explode) for style in ("simple", "label", "matrix") for explode in (0, 1)),
    *(
        ("query", style, explode)
        for style in ("form", "spaceDelimited", "pipeDelimited", "deepObject")
        for explode in (0, 1)
    ),
    *(("header", "simple", explode) for explode in (0, 1)),
    *(("cookie", style, explode) for style in ("form", "cookie") for explode in (0, 1)),
]
NAMES = ("a", "bc", "d-e", "f.g", "h i", "é", "j,k", "l=m", "n[o]")


def described(place: tuple[str, str, int], schema: Any) -> Any:
    location, style, explode = place
    make = {"path": in_path, "query": query, "cookie": cookie}
    if location == "header":
        return operation(header("v", explode=bool(explode)), v=schema)
    path = "/x/{v}/y" if location == "path" else "/x"
    return operation(make[location]("v", style, explode=bool(explode)), path=path, v=schema)


def shaped(kind: str, shape: str, names: tuple[str, ...]) -> tuple[Any, st.SearchStrategy[Any]]:
    schema, values = TYPES[kind]
    if shape == "list":
        return {"type": "array", "items": schema}, st.lists(values, max_size=4)
    if shape == "object":
        properties = {"type": "object", "properties": dict.fromkeys(names, schema)}
        return properties, st.dictionaries(st.sampled_from(names), values, max_size=4)
    return schema, values


@each_of("shape", ["primitive", "list", "object"])
def test_any_value_is_decoded_to_itself_or_refused(shape: str) -> None:
    made = {(place, kind): shaped(kind, shape, NAMES) for place in STYLES for kind in TYPES}
    owns = {case: described(case[0], schema) for case, (schema, _) in made.items()}
    encoders = {case: Encoder(own) for case, own in owns.items()}
    of_kinds = {kind: shaped(kind, shape, NAMES)[1] for kind in TYPES}

    @given(st.fixed_dictionaries(of_kinds))
    def run(values: dict[str, Any]) -> None:
        for (place, kind), own in owns.items():
            try:
                request = encoders[place, kind].encode({"v": values[kind]})
            except (InvalidArguments, MalformedRequest):
                continue
            assert request.target.isascii()
            assert is_same(received(own, request, {}), {"v": values[kind]}), (place, kind)

    run()


@each_of("shape", ["primitive", "list", "object"])
def test_plain_values_are_never_refused(shape: str) -> None:
    names = ("a", "bc", "d")
    values = {
        "primitive": PLAIN,
        "list": st.lists(PLAIN, min_size=1, max_size=4),
        "object": st.dictionaries(st.sampled_from(names), PLAIN, min_size=1),
    }[shape]
    schema = shaped("string", shape, names)[0]
    owns = {place: described(place, schema) for place in STYLES}

    @given(values)
    def run(value: Any) -> None:
        for place, own in owns.items():
            assert received(own, Encoder(own).encode({"v": value}), {}) == {"v": value}, place

    run()


DEEP = {
    "type": "object",
    "properties": {
        "text": STRING,
        "numbers": {"type": "array", "items": {"type": "number"}},
        "rows": {"type": "array", "items": {"$ref": "#/$defs/row"}},
        "next": {"$ref": "#/$defs/deep"},
    },
}
ROW = {"type": "object", "properties": {"a": STRING, "b": {"type": "boolean"}}}
DEFINITIONS = {"deep": DEEP, "row": ROW}
ROWS = st.fixed_dictionaries({}, optional={"a": st.text(), "b": st.booleans()})
DEEP_VALUES = st.recursive(
    st.fixed_dictionaries(
        {},
        optional={
            "text": st.text(),
            "numbers": st.lists(st.floats(allow_nan=False, allow_infinity=False), max_size=3),
            "rows": st.lists(ROWS, max_size=3),
        },
    ),
    lambda inner: st.fixed_dictionaries({"next": inner}, optional={"text": st.text()}),
    max_leaves=3,
)


@given(DEEP_VALUES)
def test_a_nested_deep_object_is_decoded_to_itself_or_refused(value) -> None:
    in_query = operation(query("v", "deepObject"), v=DEEP)
    in_form = operation(
        sends=ImportedBody(
            kind="form",
            media_type="application/x-www-form-urlencoded",
            members={"v": "v"},
            fields=(BodyField(name="v", style="deepObject"),),
        ),
        v=DEEP,
    )
    for own in (in_query, in_form):
        try:
            request = Encoder(own, DEFINITIONS).encode({"v": value})
        except InvalidArguments:
            assert _has_empty(value)
        else:
            assert is_same(received(own, request, DEFINITIONS), {"v": value})


def _has_empty(value: Any) -> bool:
    if isinstance(value, list | dict):
        inner = value.values() if isinstance(value, dict) else value
        return not value or any(map(_has_empty, inner))
    return False


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(JSON)
def test_any_json_is_decoded_to_itself(value) -> None:
    sends = ImportedBody(kind="json", media_type="application/json", member="body")
    parameters = (
        query("q", media_type="application/json"),
        in_path("p", media_type="application/json"),
        cookie("c", media_type="application/json"),
    )
    own = operation(*parameters, path="/{p}", sends=sends)
    try:
        request = Encoder(own).encode({"q": value, "p": value, "c": value, "body": value})
    except MalformedRequest:
        assert "\x7f" in json.dumps(value, ensure_ascii=False)
        return
    decoded = received(own, request, {})
    assert is_same(decoded, {"q": value, "p": value, "c": value, "body": value})


MEMBERS: dict[str, tuple[Any, st.SearchStrategy[Any]]] = {
    "text": (STRING, st.text()),
    "count": ({"type": "integer"}, st.integers()),
    "tags": ({"type": "array", "items": STRING}, st.lists(st.text(), min_size=1, max_size=3)),
    "where": ({"type": "object"}, st.dictionaries(st.text(), JSON, max_size=3)),
    "rows": ({"type": "array", "items": ROW}, st.lists(ROWS, min_size=1, max_size=3)),
    "file": (STRING, st.binary(max_size=50).map(lambda data: base64.b64encode(data).decode())),
}
VALUES = st.fixed_dictionaries({}, optional={name: each[1] for name, each in MEMBERS.items()})


@pytest.mark.parametrize(
    ("kind", "media_type"),
    [("form", "application/x-www-form-urlencoded"), ("multipart", "multipart/form-data")],
)
@pytest.mark.parametrize("is_whole", [True, False])
def test_any_form_is_decoded_to_itself(kind, media_type, is_whole) -> None:
    schemas = {name: each[0] for name, each in MEMBERS.items()}
    sends = ImportedBody(
        kind=kind,
        media_type=media_type,
        member="body" if is_whole else None,
        members={} if is_whole else {name: name for name in MEMBERS},
        is_required=True,
        fields=(BodyField(name="file", is_binary=kind == "multipart"),),
    )
    whole = {"body": {"type": "object", "properties": schemas}}
    own = operation(sends=sends, **(whole if is_whole else schemas))

    @given(VALUES)
    def run(value: Any) -> None:
        arguments = {"body": value} if is_whole else value
        assert is_same(received(own, Encoder(own).encode(arguments), {}), arguments)

    run()


@given(st.binary(max_size=200))
def test_any_bytes_are_decoded_to_themselves(data) -> None:
    own = operation(
        sends=ImportedBody(kind="binary", media_type="application/zip", member="body"), body=STRING
    )
    arguments = {"body": base64.b64encode(data).decode()}
    request = Encoder(own).encode(arguments)
    assert request.body == data
    assert received(own, request, {}) == arguments


@given(st.lists(st.none() | st.text() | st.dictionaries(PLAIN, st.text(), max_size=3), max_size=5))
def test_lines_of_json_come_back(values: list[Any]) -> None:
    body = ImportedBody(kind="lines", media_type="application/x-ndjson", member="body")
    found = operation(sends=body, body=True)
    request = Encoder(found, {}).encode({"body": values})
    assert request.media_type == "application/x-ndjson"
    assert is_same(received(found, request, {}), {"body": values})


@given(st.binary())
def test_bytes_of_a_type_that_the_caller_names_come_back(data: bytes) -> None:
    body = ImportedBody(
        kind="binary", media_type="image/*", member="body", media_type_member="content_type"
    )
    found = operation(sends=body, body=True, content_type=True)
    sent = {"body": base64.b64encode(data).decode(), "content_type": "image/svg+xml"}
    request = Encoder(found, {}).encode(sent)
    assert received(found, request, {}) == sent


def test_the_fixed_query_of_a_path_is_no_argument() -> None:
    fixed = (("beta", "a b"), ("beta", "2"))
    found = replace(operation(query("v"), v=STRING), fixed_query=fixed)
    request = Encoder(found, {}).encode({"v": "beta=2"})
    assert received(found, request, {}) == {"v": "beta=2"}
    bare = Encoder(replace(found, fixed_query=()), {}).encode({"v": "beta=2"})
    with pytest.raises(Undecodable, match="beta of the path"):
        received(found, bare, {})
