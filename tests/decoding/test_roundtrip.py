"""The measurement itself: what it counts as exact, ambiguous and impossible."""

import random
from typing import Any

import pytest

from gateway.contract.imported import BodyField, ImportedBody, ImportedConnector
from gateway.encoding.encoder import Encoder
from tests.decoding.decode import Decoder
from tests.decoding.drawing import Drawing
from tests.decoding.roundtrip import roundtrip
from tests.decoding.schemas import Schemas, Undecodable
from tests.unit.encoding.operations import header, in_path, operation, query

STRING: dict[str, Any] = {"type": "string"}
TREE = {"$ref": "#/$defs/tree"}
STRINGS = {"type": "array", "items": STRING}


def connector(**operations: Any) -> ImportedConnector:
    return ImportedConnector(
        connector="vendor",
        title="Vendor",
        base_url=None,
        sha256="0" * 64,
        operations=tuple(_renamed(name, each) for name, each in operations.items()),
        definitions={"tags": STRINGS},
    )


def _renamed(name: str, own: Any) -> Any:
    return type(own)(**{key: getattr(own, key) for key in own.__struct_fields__} | {"id": name})


def test_each_operation_is_exact_or_has_a_reason() -> None:
    found = roundtrip(
        connector(
            exact=operation(
                in_path("id"), query("tags"), path="/{id}", id=STRING, tags={"$ref": "#/$defs/tags"}
            ),
            ambiguous=operation(query("q"), q={"anyOf": [STRING, STRINGS], "minLength": 1}),
            nested=operation(
                in_path("q"), path="/{q}", q={"type": "array", "items": STRINGS, "minItems": 1}
            ),
            none=operation(in_path("q"), path="/{q}", q={"type": "string", "not": {}}),
            template=operation(path="/{id}"),
        ),
        draws=20,
    )
    assert found.operations == 5
    assert found.exact == 1
    assert found.ambiguous == {"ambiguous"}
    reasons = {name: each.reason for name, each in found.inexact.items()}
    assert reasons["ambiguous"].startswith("other arguments: q: ['")
    assert reasons["nested"].startswith("refused: ")
    assert reasons["none"] == "no arguments that the schema admits were drawn"
    assert reasons["template"].startswith("no encoder: ")
    assert found.exact + len(found.inexact) == found.operations


def test_what_is_not_exact_is_shown_with_its_arguments_and_its_request() -> None:
    own = operation(query("q", is_required=True), path="/things", q={"enum": [["a"], "a"]})
    (found,) = roundtrip(connector(one=own), draws=20).inexact.values()
    assert found.is_ambiguous
    assert found.sample == '{"q": ["a"]} as POST /things?q=a'


def test_headers_that_admit_more_than_can_be_sent_are_exact() -> None:
    names = [f"h{number}" for number in range(12)]
    headers = [header(name, is_required=True) for name in names]
    own = operation(*headers, **{each: STRING | {"minLength": 9} for each in names})
    assert roundtrip(connector(one=own), draws=5).exact == 1


@pytest.mark.parametrize(
    "bounds",
    [
        {"minimum": 9, "maximum": 1, "type": "integer"},
        {"maximum": 1e308, "multipleOf": 1e-9, "type": "number"},
    ],
)
def test_bounds_that_no_number_satisfies_stop_no_measurement(bounds: Any) -> None:
    one = operation(query("n", is_required=True), n=bounds)
    assert roundtrip(connector(one=one, two=operation(query("q"), q=STRING)), draws=2).exact >= 1


def test_schemas_that_contain_themselves_are_drawn_to_an_end() -> None:
    tree = {"type": "object", "properties": {"sons": {"type": "array", "items": TREE}}}
    found = Drawing(Schemas({"tree": tree}), random.Random(1))  # noqa: S311 - nothing secret
    assert all(isinstance(found.value(TREE), dict) for _ in range(20))


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"type": "array", "items": {"type": "integer"}}, [1, 2]),
        ({"type": "array", "items": {"type": "integer"}}, [1]),
        ({}, "{not JSON"),
    ],
)
def test_content_of_a_query_is_one_text(schema: Any, value: Any) -> None:
    own = operation(query("q", None, media_type="application/json"), q=schema)
    request = Encoder(own).encode({"q": value})
    assert Decoder(own, Schemas({})).decode(request.target, (), None) == {"q": value}


def test_equal_seeds_draw_equal_arguments() -> None:
    own = connector(one=operation(query("q"), header("h"), q=STRINGS, h=STRING))
    assert roundtrip(own, 10) == roundtrip(own, 10)


@pytest.mark.parametrize(
    "described",
    [
        operation(query("q", "pipeDelimited", explode=False), q=STRINGS),
        operation(query("other"), other=STRINGS),
        operation(header("q"), q=STRINGS),
        operation(query("q"), path="/other", q=STRINGS),
    ],
)
def test_a_request_of_another_description_is_not_decoded_to_its_arguments(described) -> None:
    own = operation(query("q", "spaceDelimited", explode=False), q=STRINGS)
    request = Encoder(own).encode({"q": ["a", "b"]})
    try:
        decoded = Decoder(described, Schemas({})).decode(request.target, (), None)
    except Undecodable:
        return
    assert decoded != {"q": ["a", "b"]}


@pytest.mark.parametrize(
    "schema",
    [
        {
            "properties": {f"m{number}": STRING for number in range(40)},
            "dependentRequired": {f"m{number}": [f"m{(number + 1) % 40}"] for number in range(40)},
        },
        {
            "required": ["a", "b"],
            "unevaluatedProperties": False,
            "anyOf": [{"properties": {"a": {"const": 1}}}, {"properties": {"b": {"const": 2}}}],
        },
    ],
)
def test_members_that_others_need_are_drawn(schema: Any) -> None:
    schemas = Schemas({})
    drawing = Drawing(schemas, random.Random(1))  # noqa: S311 - nothing secret
    drawn = [drawing.value({"type": "object", **schema}) for _ in range(20)]
    assert any(schemas.is_valid(each, schema) for each in drawn if each)


def test_a_text_with_a_format_and_a_pattern_has_both() -> None:
    schema = {"type": "string", "format": "date-time", "pattern": r"^\d{4}-\d\d-\d\d(T.+)?$"}
    drawing = Drawing(Schemas({}), random.Random(1))  # noqa: S311 - nothing secret
    assert all("T" in drawing.value(schema) for _ in range(20))


FILE = {"type": "string", "format": "binary"}


@pytest.mark.parametrize(
    "member",
    [
        FILE,
        {"anyOf": [FILE, {"type": "null"}]},
        {"oneOf": [{"type": "array", "items": {"$ref": "#/components/schemas/File"}}]},
        {"allOf": [{"$ref": "#/components/schemas/File"}], "title": "A"},
        {"type": "string", "contentMediaType": "image/png"},
    ],
)
def test_a_file_that_is_sent_as_text_is_not_exact(member: Any) -> None:
    body = {"content": {"multipart/form-data": {"schema": {"properties": {"file": member}}}}}
    paths = {"/things": {"post": {"requestBody": body}}}
    document = {"paths": paths, "components": {"schemas": {"File": FILE}}}
    _is_exact_only_as_bytes(document)


@pytest.mark.parametrize("field", [{"type": "file"}, FILE, {"type": "array", "items": FILE}])
@pytest.mark.parametrize("is_of_path", [True, False])
def test_a_file_of_swagger_that_is_sent_as_text_is_not_exact(field: Any, is_of_path: bool) -> None:
    listed = {"parameters": [{"name": "file", "in": "formData", **field}]}
    item = {"post": {}, **listed} if is_of_path else {"post": listed}
    _is_exact_only_as_bytes({"swagger": "2.0", "paths": {"/things": item}})


def _is_exact_only_as_bytes(document: Any) -> None:
    for is_binary, exact in ((True, 1), (False, 0)):
        field = BodyField(name="file", is_binary=is_binary)
        sent = ImportedBody(
            kind="multipart",
            media_type="multipart/form-data",
            members={"file": "file"},
            fields=(field,),
        )
        own = operation(sends=sent, file={"type": "string", "const": "YQ=="})
        assert roundtrip(connector(one=own), draws=1, document=document).exact == exact
