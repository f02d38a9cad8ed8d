"""Parameters: locations, styles, the parameters of paths, and what is left out or refused."""

import pytest

from gateway.authoring.openapi.lowering.parameters import without_null
from gateway.encoding.encoder import Encoder
from tests.unit.tables import each_of


def parameter(name, location, **members):
    """A Parameter Object."""
    schema = {} if "content" in members else {"schema": {"type": "string"}}
    return {"name": name, "in": location, **schema, **members}


def shown(operation):
    """Location, style and explode of each parameter by its name on the wire."""
    return {each.name: (each.location, each.style, each.explode) for each in operation.parameters}


def test_defaults_of_style_and_explode_depend_on_the_location(one):
    operation = one(
        {
            "parameters": [
                parameter("p", "path", required=True),
                parameter("q", "query"),
                parameter("X-H", "header"),
                parameter("c", "cookie"),
                parameter("pipes", "query", style="pipeDelimited"),
                parameter("deep", "query", style="deepObject", explode=True),
                parameter("plain", "query", explode=False),
            ]
        },
        path="/things/{p}",
    )
    assert shown(operation) == {
        "p": ("path", "simple", False),
        "q": ("query", "form", True),
        "X-H": ("header", "simple", False),
        "c": ("cookie", "form", True),
        "pipes": ("query", "pipeDelimited", False),
        "deep": ("query", "deepObject", True),
        "plain": ("query", "form", False),
    }
    assert operation.input_schema["required"] == ["p"]
    assert operation.input_schema["additionalProperties"] is False


def test_parameters_of_the_path_are_replaced_by_those_of_the_operation(lowered):
    own = parameter("id", "path", required=True, style="label")
    outcome = lowered(
        {
            "paths": {
                "/a/{id}": {
                    "summary": "no operation",
                    "servers": [{"url": "https://shop.example"}],
                    "x-get": {},
                    "parameters": [parameter("id", "path", required=True), parameter("q", "query")],
                    "get": {"parameters": [own]},
                }
            }
        }
    )
    (operation,) = outcome.connector.operations
    assert shown(operation) == {"id": ("path", "label", False), "q": ("query", "form", True)}


def test_equal_names_get_their_location_as_suffix(one):
    operation = one(
        {
            "parameters": [
                parameter("id", "path", required=True),
                parameter("id", "query"),
                parameter("other", "query"),
            ],
            "requestBody": {
                "content": {
                    "application/json": {
                        "schema": {
                            "type": "object",
                            "properties": {"id": {}, "name": {}, "note": {}},
                        }
                    }
                }
            },
        },
        path="/things/{id}",
    )
    assert list(operation.input_schema["properties"]) == [
        "id_path",
        "id_query",
        "other",
        "id_body",
        "name",
        "note",
    ]
    assert operation.body.members == {"id_body": "id", "name": "name", "note": "note"}


def test_a_suffix_that_is_taken_gets_a_number(one):
    listed = [parameter(*each) for each in (("a", "query"), ("a", "cookie"), ("a_query", "query"))]
    operation = one({"parameters": listed})
    assert [each.member for each in operation.parameters] == ["a_query_2", "a_cookie", "a_query"]


def test_members_have_only_characters_that_clients_accept(one):
    names = ["filter[status]", "$top", "päge size", "a.b-c", "n" * 200, "[]"]
    operation = one({"parameters": [parameter(name, "query") for name in names]})
    members = [each.member for each in operation.parameters]
    assert members[:4] == ["filter_status", "top", "p_ge_size", "a.b-c"]
    assert len(members[4]) <= 64
    assert members[5] == "value"
    assert [each.name for each in operation.parameters] == names


def test_a_parameter_can_be_json_in_a_query(one):
    content = {"application/json": {"schema": {"type": "object"}}}
    operation = one({"parameters": [parameter("filter", "query", content=content)]})
    assert operation.parameters[0].media_type == "application/json"


def test_the_description_of_a_parameter_is_that_of_the_argument(one):
    operation = one({"parameters": [parameter("q", "query", description=" What to find. ")]})
    assert operation.input_schema["properties"]["q"]["description"] == "What to find."


@pytest.mark.parametrize("name", ["Accept", "content-type", "AUTHORIZATION"])
def test_headers_that_openapi_ignores_are_left_out_with_a_note(lowered, name):
    listed = [parameter(name, "header", required=True)]
    outcome = lowered({"paths": {"/a": {"get": {"parameters": listed}}}})
    assert outcome.connector.operations[0].parameters == ()
    assert "parameter/left-out" in {each.rule for each in outcome.report.notes}


def test_headers_that_the_http_client_sends_are_left_out(one):
    names = ["Host", "content-length", "Accept-Encoding", "Connection"]
    listed = [parameter(name, "header", required=True) for name in names]
    assert one({"parameters": [*listed, parameter("Upgrade", "header")]}).parameters == ()


def test_a_path_with_a_fixed_query_sends_it_and_asks_for_nothing(one):
    listed = [parameter("page", "query")]
    operation = one({"parameters": listed}, path="/things?beta=true&of=a&of=b%26#new")
    assert operation.path == "/things"
    assert operation.input_schema["properties"].keys() == {"page"}
    encoder = Encoder(operation)
    assert encoder.encode({}).target == "/things?beta=true&of=a&of=b%26"
    assert encoder.encode({"page": "x"}).target == "/things?beta=true&of=a&of=b%26&page=x"


@pytest.mark.parametrize("location", ["path", "query"])
def test_a_parameter_that_a_query_in_the_path_names_is_sent_in_the_query(one, location):
    listed = [parameter(name, location) for name in ("town", "country")]
    operation = one({"parameters": listed}, path="/daily?city={town}&country={country}&v=2")
    assert operation.path == "/daily"
    assert shown(operation) == dict.fromkeys(("city", "country"), ("query", "form", True))
    assert operation.fixed_query == (("v", "2"),)
    assert set(operation.input_schema["required"]) == {"city", "country"}


def test_a_fixed_part_of_a_query_in_the_path_replaces_the_parameter(one):
    listed = [parameter("view", "query", required=True)]
    operation = one({"parameters": listed}, path="/build?view=status")
    assert operation.parameters == ()
    assert operation.fixed_query == (("view", "status"),)


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        ({"type": ["string", "null"], "default": None}, {"type": "string"}),
        (
            {"type": ["string", "integer", "null"], "enum": ["a", 1, None]},
            {"type": ["string", "integer"], "enum": ["a", 1]},
        ),
        (
            {"anyOf": [{"type": "integer"}, {"type": "null"}], "title": "Page"},
            {"type": "integer", "title": "Page"},
        ),
        ({"oneOf": [{}, {"enum": [1]}, {"type": "null"}]}, {"oneOf": [{}, {"enum": [1]}]}),
        ({"type": "null"}, {"type": "null"}),
        (True, True),
    ],
)
def test_arguments_that_are_text_on_the_wire_are_not_null(schema, expected):
    assert without_null(schema) == expected


def test_a_parameter_that_is_json_may_be_null(one):
    schema = {"type": ["object", "null"]}
    content = {"application/json": {"schema": schema}}
    listed = [parameter("a", "query", content=content), parameter("b", "query", schema=schema)]
    members = one({"parameters": listed}).input_schema["properties"]
    assert (members["a"], members["b"]) == (schema, {"type": "object"})


@pytest.mark.parametrize(
    ("schema", "media_type"),
    [({"type": "string"}, "text/plain"), ({"type": "object"}, "application/json")],
)
def test_content_of_any_type_is_text_or_json_by_its_schema(one, schema, media_type):
    listed = [parameter("q", "query", content={"*/*": {"schema": schema}})]
    assert one({"parameters": listed}).parameters[0].media_type == media_type


@each_of(
    ("listed", "rule", "pointer"),
    [
        ([parameter("Upgrade", "header", required=True)], "parameter/header", "/0"),
        ([parameter("q", "query", style="matrix")], "parameter/style", "/0/style"),
        ([parameter("q", "body")], "parameter/location", "/0"),
        ([{"name": "q", "in": "query"}], "parameter/no-schema", "/0"),
        ([{"in": "query", "schema": {}}], "parameter/malformed", "/0"),
        (
            [parameter("q", "query"), parameter("q", "query", style="form")],
            "parameter/duplicate",
            "/1",
        ),
        ([parameter("q", "query", content={"image/png": {}})], "parameter/content", "/0/content"),
    ],
)
def test_what_cannot_be_sent_is_refused_by_name(refusal, listed, rule, pointer):
    found = refusal({"parameters": listed})
    assert found == (rule, f"/paths/~1things/post/parameters{pointer}")


def test_a_path_parameter_that_is_not_declared_is_refused(refusal):
    assert refusal({}, path="/things/{id}")[0] == "parameter/undeclared"
    assert refusal({}, path="/things?id={id}")[0] == "parameter/undeclared"


@pytest.mark.parametrize("name", ["rest+", "rest*", "+rest", "/rest*"])
def test_a_path_parameter_with_an_operator_is_refused_with_the_way_out(lowered, name):
    rest = {"name": "rest", "in": "path", "required": True, "schema": {"type": "string"}}
    paths = {f"/things/{{{name}}}": {"get": {"parameters": [rest]}}}
    outcome = lowered({"servers": [{"url": "https://shop.example"}], "paths": paths})
    [refused] = outcome.report.refused
    assert refused.finding.fix.startswith("write {rest} in the path")


@pytest.mark.parametrize("path", ["/{a}/{a}", "/{", "/{}", "/a?b=x{c}", "/a?{b}=c", "/{a}?a={a}"])
def test_a_path_that_is_no_template_is_refused(refusal, path):
    assert refusal({}, path=path)[0] == "path/malformed"


def test_one_refused_operation_does_not_refuse_the_others(lowered):
    broken = {"parameters": [parameter("q", "nowhere")]}
    outcome = lowered({"paths": {"/a": {"get": broken, "post": {}}, "/b": {"get": {}}}})
    assert [each.operation for each in outcome.report.refused] == ["GET /a"]
    assert outcome.report.served == 2
    assert outcome.report.causes == {"parameter/location": 1}


def test_many_equal_names_each_get_their_own_member(one):
    listed = [parameter("x" + "[" * count, "query") for count in range(2000)]
    members = [each.member for each in one({"parameters": listed}).parameters]
    assert members[:3] == ["x_query", "x_query_2", "x_query_3"]
    assert len(set(members)) == 2000


def whole_query(schema):
    content = {"application/x-www-form-urlencoded": {"schema": schema}}
    return {"parameters": [{"name": "q", "in": "querystring", "content": content}]}


@pytest.mark.parametrize("schema", [{"type": "string"}, {"type": ["array", "null"]}, False])
def test_a_query_that_is_a_form_must_be_an_object(refusal, schema):
    assert refusal(whole_query(schema))[0] == "parameter/querystring"


def test_a_query_that_may_be_an_object_is_one(one):
    operation = one(whole_query({"anyOf": [{"type": "object"}, {"type": "string"}]}))
    assert operation.input_schema["properties"]["q"]["type"] == "object"
    assert one(whole_query(True)).input_schema["properties"]["q"]["type"] == "object"
