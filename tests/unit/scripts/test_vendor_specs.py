"""The comparison of our upstream contracts with the vendors' descriptions finds what differs."""

import importlib
import json
import sys
from pathlib import Path

import pytest

from gateway.contract.upstream import TokenRule, Upstream, UpstreamOperation

FOLDER = Path(__file__).parents[3] / "scripts" / "conformance"


@pytest.fixture(scope="module")
def scripts():
    """The scripts' modules, found as they find each other."""
    sys.path.insert(0, str(FOLDER))
    try:
        names = ("vendor_documents", "vendor_differences", "accepted_differences", "vendor_specs")
        yield {name: importlib.import_module(name) for name in names}
    finally:
        sys.path.remove(str(FOLDER))


SWAGGER = {
    "swagger": "2.0",
    "basePath": "/v1",
    "paths": {
        "/widgets/{id}": {
            "parameters": [{"name": "id", "in": "path", "required": True, "type": "string"}],
            "get": {
                "parameters": [
                    {"name": "size", "in": "query", "type": "string", "enum": ["s", "m"]},
                    {"name": "date", "in": "query", "required": True, "type": "string"},
                ],
                "responses": {"200": {"schema": {"$ref": "#/definitions/Widget"}}},
            },
            "put": {
                "parameters": [
                    {"name": "body", "in": "body", "schema": {"$ref": "#/definitions/Change"}}
                ],
                "responses": {"204": {"description": "Done."}},
            },
        }
    },
    "definitions": {
        "Widget": {
            "allOf": [
                {"type": "object", "required": ["id"], "properties": {"id": {"type": "string"}}},
                {
                    "properties": {
                        "count": {"type": "number"},
                        "state": {"type": "string", "enum": ["new", "old"]},
                        "parts": {"type": "array", "items": {"$ref": "#/definitions/Widget"}},
                    }
                },
            ]
        },
        "Change": {
            "type": "object",
            "required": ["count"],
            "properties": {"count": {"type": "integer"}, "note": {"type": "string"}},
        },
    },
}
DISCOVERY = {
    "discoveryVersion": "v1",
    "servicePath": "",
    "parameters": {"alt": {"type": "string", "location": "query", "enum": ["json"]}},
    "schemas": {"Widget": {"type": "object", "properties": {"size": {"type": "integer"}}}},
    "resources": {
        "widgets": {
            "methods": {
                "get": {
                    "httpMethod": "GET",
                    "path": "v1/widgets/{+id}",
                    "parameters": {
                        "id": {"location": "path", "required": True, "type": "string"},
                        "tag": {"location": "query", "repeated": True, "type": "string"},
                    },
                    "response": {"$ref": "Widget"},
                }
            }
        }
    },
}


def query(name, *, required=False, **schema):
    return {"name": name, "in": "query", "required": required, "schema": schema}


def reading(reply=None, parameters=(), path="/v1/widgets/{widget}", **more):
    date = query("date", required=True, type="string")
    return UpstreamOperation(
        id="read",
        method="GET",
        path=path,
        parameters=(date, *parameters),
        replies={"200": {"type": "object", **(reply or {})}},
        **more,
    )


@pytest.fixture
def found(scripts):
    """What differs between an operation of ours and a description, as (where, what)."""

    def compare(operation, document=SWAGGER, **more):
        upstream = Upstream(
            name="shop", title="Shop", base_url="https://shop", operations=(operation,), **more
        )
        described = scripts["vendor_documents"].open_document(json.dumps(document))
        differences = scripts["vendor_differences"].differences(upstream, [described])
        return [(each.at, each.what) for each in differences]

    return compare


def test_a_part_of_theirs_is_no_difference(found):
    reply = {"required": ["id"], "properties": {"id": {"type": "string"}}}
    assert found(reading(reply, [query("size", type="string", enum=["s"])])) == []


def test_a_place_in_the_path_may_be_filled_in(found):
    assert found(reading(path="/v1/widgets/mine")) == []


@pytest.mark.parametrize("path", ["/v1/gadgets/{id}", "/widgets/{id}", "/v1/widgets/{a}/{b}"])
def test_an_operation_that_they_do_not_have_is_found(found, path):
    assert found(reading(path=path)) == [("operation", f"GET {path} is not described there")]


def test_tokens_are_not_compared(found):
    rule = TokenRule(grant="refresh_token", url="/token", operation="read")
    assert found(reading(path="/token"), tokens=(rule,)) == []


@pytest.mark.parametrize(
    ("parameter", "difference"),
    [
        (query("colour", type="string"), ("query colour", "is a parameter here, none there")),
        (
            query("size", required=True, type="string", enum=["s"]),
            ("query size", "is required here, optional there"),
        ),
        (query("size", type="string", enum=["s", "xl"]), ("query size", "may be xl here only")),
        (query("size", type="integer", enum=[1]), ("query size", "is integer here, string there")),
    ],
)
def test_a_parameter_that_they_would_not_take_is_found(found, parameter, difference):
    assert difference in found(reading(parameters=[parameter]))


def test_a_parameter_that_they_demand_and_we_leave_out_is_found(found):
    operation = UpstreamOperation(id="read", method="GET", path="/v1/widgets/{id}")
    assert found(operation) == [("query date", "is left out here, required there")]


@pytest.mark.parametrize(
    ("reply", "where", "what"),
    [
        ({"properties": {"colour": {}}}, "/colour", "is a member here, none there"),
        (
            {"required": ["count"], "properties": {"count": {"type": "number"}}},
            "/count",
            "is required here, optional there",
        ),
        ({"properties": {"count": {"type": "integer"}}}, "/count", "is integer here, number there"),
        (
            {"properties": {"state": {"type": "string", "enum": ["new"]}}},
            "/state",
            "may be old there only",
        ),
        (
            {"properties": {"id": {"type": "string", "enum": ["a"]}}},
            "/id",
            "is one of a here, any there",
        ),
        ({"properties": {"parts": {"type": "object"}}}, "/parts", "is object here, array there"),
        (
            {"properties": {"parts": {"type": "array", "items": {"properties": {"x": {}}}}}},
            "/parts/*/x",
            "is a member here, none there",
        ),
    ],
)
def test_a_reply_that_we_would_not_admit_is_found(found, reply, where, what):
    assert found(reading(reply)) == [(f"reply 200 {where}", what)]


def test_a_request_that_they_would_not_understand_is_found(found):
    schema = {
        "type": "object",
        "required": ["note"],
        "properties": {"note": {"type": ["string", "null"]}, "colour": {"type": "string"}},
    }
    operation = UpstreamOperation(
        id="write",
        method="PUT",
        path="/v1/widgets/{id}",
        request_schema=schema,
        replies={"204": None},
    )
    assert sorted(found(operation)) == [
        ("request /colour", "is a member here, none there"),
        ("request /count", "is optional here, required there"),
        ("request /note", "is null or string here, string there"),
        ("request /note", "is required here, optional there"),
    ]


def test_a_discovery_document_is_read(found):
    operation = UpstreamOperation(
        id="read",
        method="GET",
        path="/v1/widgets/{id}",
        parameters=(
            query("alt", type="string", enum=["json", "xml"]),
            query("tag", type="array", items={"type": "integer"}),
        ),
        replies={"200": {"properties": {"size": {"type": "string"}}}},
    )
    assert found(operation, DISCOVERY) == [
        ("query alt", "may be xml here only"),
        ("query tag /*", "is integer here, string there"),
        ("reply 200 /size", "is string here, integer there"),
    ]


def test_a_schema_that_leads_back_to_itself_is_followed_as_far_as_ours_goes(found):
    nested = {"properties": {"id": {"type": "integer"}}}
    for _ in range(40):
        nested = {"properties": {"parts": {"type": "array", "items": nested}}}
    assert found(reading(nested)) == [
        (f"reply 200 {'/parts/*' * 40}/id", "is integer here, string there")
    ]


@pytest.fixture
def accepted(scripts):
    module = scripts["accepted_differences"]
    return module, module.read_accepted(
        '[[difference]]\nupstream = "shop"\noperations = ["read"]\nat = ["query a", "query b"]\n'
        'what = "is new"\nreason = "It is."\n'
    )


def test_what_is_not_explained_is_a_problem(scripts, accepted):
    module, explained = accepted
    difference = scripts["vendor_differences"].Difference
    known = difference("shop", "read", "query a", "is new")
    others = [
        difference("shop", "read", "query c", "is new"),
        difference("shop", "write", "query a", "is new"),
        difference("shop", "read", "query a", "is old"),
        difference("bank", "read", "query a", "is new"),
    ]
    assert len(list(module.unexplained(explained, [known, *others]))) == len(others)


def test_what_is_explained_and_not_there_is_a_problem(scripts, accepted):
    module, explained = accepted
    found = [scripts["vendor_differences"].Difference("shop", "read", "query a", "is new")]
    assert list(module.vanished(explained, found, {"shop"})) == [
        "shop: accepted, but no longer found: query b is new"
    ]
    assert list(module.vanished(explained, [], {"bank"})) == []


def test_the_page_says_why(accepted):
    module, explained = accepted
    assert "| `read` | `query a`<br>`query b` | is new | It is. |" in module.page(explained)


def test_googles_descriptions_agree_with_ours(scripts, capsys):
    assert scripts["vendor_specs"].main(["--check", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["problems"] == []
    assert "sheets" in answer["compared"]
    assert len(answer["differences"]) > 0


def test_a_contract_that_strays_from_googles_is_refused(scripts, capsys, tmp_path):
    """The same run, with one word of the contract changed."""
    schemas = FOLDER.parents[1] / "schemas"
    for file in schemas.rglob("*.*"):
        copy = tmp_path / file.relative_to(schemas)
        copy.parent.mkdir(parents=True, exist_ok=True)
        text = file.read_text("utf-8")
        copy.write_text(text.replace("insertDataOption", "insertDateOption"), "utf-8")
    assert scripts["vendor_specs"].main(["--check", "--schemas", str(tmp_path)]) == 1
    said = capsys.readouterr().err
    assert "query insertDateOption is a parameter here, none there" in said
