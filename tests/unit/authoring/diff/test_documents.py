"""Two OpenAPI documents: each direction twice, noise, and what cannot be read."""

import copy
import json

import pytest
import yaml

from gateway.authoring.diff import descent, proving
from gateway.authoring.diff.changes import ChangeVerdict, Direction
from gateway.authoring.diff.compare import Comparer
from gateway.authoring.diff.sides import read_document, read_sides
from gateway.authoring.openapi.reading import source
from gateway.authoring.openapi.reading.normalise import normalise
from gateway.authoring.openapi.reading.source import lines_of, read_source
from gateway.contract.schemas.containment import containment
from gateway.contract.values.schema import Validator
from gateway.errors import ContractError

THING = {
    "type": "object",
    "required": ["id", "name"],
    "properties": {
        "id": {"type": "integer", "format": "int32", "readOnly": True},
        "name": {"type": "string", "maxLength": 20},
        "tags": {"type": "array", "items": {"type": "string"}},
    },
}
REFERENCE = {"$ref": "#/components/schemas/Thing"}
BODY = {"required": True, "content": {"application/json": {"schema": REFERENCE}}}
REPLY = {"description": "", "content": {"application/json": {"schema": REFERENCE}}}
DOCUMENT = {
    "openapi": "3.1.0",
    "info": {"title": "Things", "version": "1"},
    "paths": {
        "/things/{id}": {
            "put": {
                "parameters": [
                    {"name": "id", "in": "path", "required": True, "schema": {"type": "integer"}},
                    {
                        "name": "limit",
                        "in": "query",
                        "schema": {"type": "integer", "minimum": 1, "maximum": 9},
                    },
                ],
                "requestBody": BODY,
                "responses": {"200": REPLY, "404": {"description": ""}},
                "security": [{"key": []}],
                "callbacks": {
                    "done": {"{$request.body#/url}": {"post": {"requestBody": BODY}}},
                },
            }
        }
    },
    "webhooks": {
        "made": {"post": {"requestBody": BODY, "responses": {"200": REPLY}}},
    },
    "components": {
        "schemas": {"Thing": THING},
        "securitySchemes": {"key": {"type": "apiKey", "in": "header", "name": "X-Key"}},
    },
}
PUT = "PUT /things/{}"
OPERATION = ("paths", "/things/{id}", "put")


def changed(path, change):
    """The document with `change` applied to what is at `path`."""
    # Not a deep copy: that shares what the document shares.
    document = json.loads(json.dumps(DOCUMENT))
    at = document
    for step in path:
        at = at[step]
    change(at)
    return document


def diff(tmp_path, old, new, level="api"):
    sides = []
    for name, document in (("old", old), ("new", new)):
        path = tmp_path / f"{name}.json"
        path.write_text(json.dumps(document), "utf-8")
        sides.append(read_document(path, name))
    return Comparer(level).changes(sides[0].subjects, sides[1].subjects)


def of(changes, subject):
    return {(each.rule, each.verdict.value) for each in changes if each.subject == subject}


NAME = ("components", "schemas", "Thing", "properties", "name")
TIGHTER = changed(NAME, lambda at: at.update(maxLength=10))


def test_the_same_schema_breaks_where_it_is_read_and_is_safe_where_it_is_sent(tmp_path):
    changes = diff(tmp_path, DOCUMENT, TIGHTER)
    assert of(changes, PUT) == {("input-narrowed", "breaking"), ("output-narrowed", "safe")}
    # A definition is reported where it is first used in each direction.
    assert {each.verdict for each in changes} == {ChangeVerdict.BREAKING, ChangeVerdict.SAFE}


def test_the_opposite_change_breaks_whoever_reads_replies(tmp_path):
    changes = diff(tmp_path, TIGHTER, DOCUMENT)
    assert of(changes, PUT) == {("input-widened", "safe"), ("output-widened", "breaking")}


@pytest.mark.parametrize(("old", "new"), [(DOCUMENT, TIGHTER), (TIGHTER, DOCUMENT)])
def test_each_witness_is_accepted_by_one_side_and_refused_by_the_other(tmp_path, old, new):
    broken = [each for each in diff(tmp_path, old, new) if each.verdict is ChangeVerdict.BREAKING]
    assert broken
    for each in broken:
        accepts = old if each.accepted_by == "old" else new
        refuses = new if each.accepted_by == "old" else old
        value = {"id": 1, **each.witness}
        assert _thing(accepts).admits(value)
        assert not _thing(refuses).admits(value)


def _thing(document):
    """The validator of the component, made here, without what is under test."""
    thing = json.loads(json.dumps(document["components"]["schemas"]["Thing"]))
    del thing["properties"]["id"]["format"]
    return Validator(thing)


def only(document, section):
    """The document with one section of what it offers, so that nothing else uses the schemas."""
    kept = {"paths": {}, "webhooks": {}, section: document[section]}
    return {**document, **kept}


def test_webhooks_are_sent_so_that_their_bodies_may_only_shrink(tmp_path):
    subject = "webhook made POST"
    old, new = only(DOCUMENT, "webhooks"), only(TIGHTER, "webhooks")
    assert of(diff(tmp_path, old, new), subject) >= {("output-narrowed", "safe")}
    assert of(diff(tmp_path, new, old), subject) >= {("output-widened", "breaking")}


def test_replies_of_subscribers_are_read_so_that_they_may_only_grow(tmp_path):
    def without_body(document):
        document = copy.deepcopy(only(document, "webhooks"))
        del document["webhooks"]["made"]["post"]["requestBody"]
        return document

    subject = "webhook made POST"
    old, new = without_body(DOCUMENT), without_body(TIGHTER)
    assert of(diff(tmp_path, old, new), subject) == {("input-narrowed", "breaking")}
    assert of(diff(tmp_path, new, old), subject) == {("input-widened", "safe")}


def test_callbacks_have_the_polarity_of_webhooks(tmp_path):
    def callback(document):
        document = copy.deepcopy(only(document, "paths"))
        for name in ("requestBody", "responses"):
            del document["paths"]["/things/{id}"]["put"][name]
        return document

    subject = f"{PUT} callback done {{$request.body#/url}} POST"
    old, new = callback(DOCUMENT), callback(TIGHTER)
    assert of(diff(tmp_path, old, new), subject) == {("output-narrowed", "safe")}
    assert of(diff(tmp_path, new, old), subject) == {("output-widened", "breaking")}


@pytest.mark.parametrize(
    ("path", "change", "rule", "verdict"),
    [
        ((*OPERATION, "parameters", 1, "schema"), {"maximum": 8}, "input-narrowed", "breaking"),
        ((*OPERATION, "parameters", 1, "schema"), {"maximum": 10}, "input-widened", "safe"),
        ((*OPERATION, "parameters", 1), {"required": True}, "input-required-added", "breaking"),
        ((*OPERATION, "parameters", 1), {"name": "size"}, "parameter-removed", "breaking"),
        ((*OPERATION, "parameters", 1), {"in": "header"}, "parameter-removed", "breaking"),
        ((*OPERATION, "requestBody"), {"required": False}, None, None),
        (OPERATION, {"security": [{"key": []}, {}]}, "security-widened", "safe"),
        ((*OPERATION, "responses"), {"202": {"description": ""}}, "success-added", "policy"),
        (("paths",), {"/more": {"get": {"responses": {}}}}, "operation-added", "safe"),
    ],
)
def test_an_edit_has_its_rule(tmp_path, path, change, rule, verdict):
    changes = diff(tmp_path, DOCUMENT, changed(path, lambda at: at.update(change)))
    found = {(each.rule, each.verdict.value) for each in changes}
    assert found >= ({(rule, verdict)} if rule else set())
    assert ("breaking" in {each for _, each in found}) is (verdict == "breaking")


@pytest.mark.parametrize(
    ("path", "name", "rule"),
    [
        (("paths",), "/things/{id}", "operation-removed"),
        ((*OPERATION, "responses"), "200", "success-removed"),
        (OPERATION, "requestBody", "body-removed"),
        (("webhooks",), "made", "webhook-removed"),
        ((*OPERATION, "callbacks"), "done", "callback-removed"),
    ],
)
def test_what_is_gone_breaks(tmp_path, path, name, rule):
    changes = diff(tmp_path, DOCUMENT, changed(path, lambda at: at.pop(name)))
    assert rule in {each.rule for each in changes if each.verdict is ChangeVerdict.BREAKING}


def test_credentials_that_are_needed_now_break(tmp_path):
    open_to_all = changed(OPERATION, lambda at: at.update(security=[]))
    changes = diff(tmp_path, open_to_all, DOCUMENT)
    assert {each.rule for each in changes} == {"security-narrowed"}


def test_a_lost_member_of_a_reply_breaks_and_one_that_only_replies_may_have_does_not(tmp_path):
    lost = changed(
        ("components", "schemas", "Thing"),
        lambda at: (at["properties"].pop("id"), at["required"].remove("id")),
    )
    rules = of(diff(tmp_path, DOCUMENT, lost), PUT)
    assert ("output-required-lost", "breaking") in rules
    assert not {rule for rule, _ in rules if rule.startswith("input")}


RENAMED = json.loads(
    json.dumps(DOCUMENT).replace("schemas/Thing", "schemas/Other").replace('"Thing"', '"Other"')
)
NOISE = {
    "a renamed component": RENAMED,
    "another path parameter's name": json.loads(
        json.dumps(DOCUMENT).replace("{id}", "{number}").replace('"name": "id"', '"name": "number"')
    ),
    "reordered keys": json.loads(json.dumps(DOCUMENT, sort_keys=True)),
    "texts": changed(NAME, lambda at: at.update(title="x", description="y", examples=["z"])),
    "an extension": changed(OPERATION, lambda at: at.update({"x-internal": {"a": 1}})),
    "an allOf around": changed(
        ("components", "schemas"), lambda at: at.update(Thing={"allOf": [copy.deepcopy(THING)]})
    ),
    "a split into allOf": changed(
        ("components", "schemas"),
        lambda at: at.update(
            Thing={
                "allOf": [
                    {"type": "object", "required": ["id", "name"]},
                    {"properties": THING["properties"]},
                ]
            }
        ),
    ),
    "a reference written out": json.loads(
        json.dumps(DOCUMENT).replace(json.dumps(REFERENCE), json.dumps(THING))
    ),
    "a security scheme's name": json.loads(json.dumps(DOCUMENT).replace('"key"', '"other"')),
}


@pytest.mark.parametrize("name", NOISE)
def test_another_spelling_is_an_empty_diff(tmp_path, name):
    assert diff(tmp_path, DOCUMENT, NOISE[name]) == ()
    assert diff(tmp_path, NOISE[name], DOCUMENT) == ()


def test_nullable_of_3_0_is_the_type_array_of_3_1(tmp_path):
    def named(version, schema):
        document = changed(NAME, lambda at: (at.clear(), at.update(schema)))
        del document["webhooks"]
        return {**document, "openapi": version}

    old = named("3.0.3", {"type": "string", "nullable": True})
    new = named("3.1.0", {"type": ["string", "null"]})
    assert diff(tmp_path, old, new) == ()


def test_lines_of_notes_that_nobody_reads_are_not_looked_for(tmp_path, monkeypatch):
    """The line of a part costs another reading of the YAML."""
    noted = {**REFERENCE, "maxProperties": 9}
    old = changed(("components", "schemas"), lambda at: at.update(Other=noted))
    sides, read = [], []
    monkeypatch.setattr(source, "lines_of", lambda *text: read.append(text) or lines_of(*text))
    for name, document in (("old", {**old, "openapi": "3.0.3"}), ("new", DOCUMENT)):
        path = tmp_path / f"{name}.yaml"
        path.write_text(yaml.safe_dump(document), "utf-8")
        sides.append(read_document(path, name))
    assert Comparer("api").changes(*(each.subjects for each in sides)) == ()
    assert read == []
    (note,) = normalise(read_source(tmp_path / "old.yaml")).notes
    assert (note.rule, note.finding.line > 1, len(read)) == ("schema/beside-ref", True, 1)


def test_a_pattern_that_no_validator_runs_is_undecided_when_it_changes(tmp_path):
    old = changed(NAME, lambda at: at.update(pattern="^(?!a)"))
    assert diff(tmp_path, old, old) == ()
    changes = diff(tmp_path, old, changed(NAME, lambda at: at.update(pattern="^(?!b)")))
    assert {each.verdict for each in changes} >= {ChangeVerdict.UNDECIDED}


def test_exclusive_branches_are_compared_as_wholes_where_no_branch_breaks(tmp_path):
    """A narrower branch lets through what two branches admitted, so that it was refused."""

    def either(most):
        branches = [{"type": "string", "maxLength": most}, {"type": "string", "minLength": 5}]
        return changed(NAME, lambda at: (at.clear(), at.update(oneOf=branches)))

    rules = of(diff(tmp_path, either(10), either(8)), PUT)
    assert ("output-widened", "breaking") in rules
    assert ("input-narrowed", "breaking") not in rules


def test_a_branch_that_breaks_is_named_and_not_the_whole(tmp_path):
    branches = [{"$ref": "#/components/schemas/Leaf"}, {"type": "integer"}]
    old = changed(NAME, lambda at: (at.clear(), at.update(oneOf=branches)))
    old["components"]["schemas"]["Leaf"] = {"type": "string", "maxLength": 9}
    new = json.loads(json.dumps(old))
    new["components"]["schemas"]["Leaf"]["maxLength"] = 8
    broken = [each for each in diff(tmp_path, old, new) if each.verdict is ChangeVerdict.BREAKING]
    assert {each.new.pointer for each in broken} == {"/components/schemas/Leaf/maxLength"}


def test_a_schema_that_contains_itself_is_compared(tmp_path):
    tree = {"type": "object", "properties": {"below": {"$ref": "#/components/schemas/Thing"}}}
    old = changed(("components", "schemas"), lambda at: at.update(Thing=tree))
    grown = {**tree, "properties": {**tree["properties"], "size": {"type": "integer"}}}
    new = changed(("components", "schemas"), lambda at: at.update(Thing=grown))
    rules = {(each.rule, each.verdict.value) for each in diff(tmp_path, new, old)}
    assert ("output-member-lost", "breaking") in rules


def test_a_new_member_of_an_open_body_breaks_only_senders_of_what_was_not_declared(tmp_path):
    grown = changed(
        ("components", "schemas", "Thing", "properties"),
        lambda at: at.update(size={"type": "integer"}),
    )
    severities = {
        level: {each.severity for each in diff(tmp_path, DOCUMENT, grown, level)}
        for level in ("wire", "api", "files")
    }
    assert "error" not in severities["wire"] | severities["api"]
    assert "error" in severities["files"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "is empty"),
        ("<html>", "HTML"),
        ('{"openapi": "4.0"}', "version"),
        ('{"openapi": "3.1.0", "paths": {"/a": {"get": {"$ref": "#/nowhere"}}}}', "nowhere"),
        (
            json.dumps(changed(NAME, lambda at: at.update({"$ref": "http://a.example/b"}))),
            "URL",
        ),
        (json.dumps(changed(NAME, lambda at: at.update({"$ref": "../b.json"}))), "out of"),
    ],
)
def test_a_document_that_cannot_be_read_is_refused_with_its_place(tmp_path, text, said):
    path = tmp_path / "api.json"
    path.write_text(text, "utf-8")
    with pytest.raises(ContractError, match=said) as refused:
        read_document(path, "api.json")
    assert "api.json" in str(refused.value)


REPLY_MEDIA = (*OPERATION, "responses", "200", "content")


def test_a_media_type_that_is_no_object_is_undecided_and_the_rest_is_compared(tmp_path):
    # As PHP writes an object that is empty.
    broken = changed(REPLY_MEDIA, lambda at: at.update({"application/json": []}))
    assert diff(tmp_path, broken, broken) == ()
    for old, new in ((broken, TIGHTER), (TIGHTER, broken)):
        said = {(each.verdict, each.direction) for each in diff(tmp_path, old, new)}
        assert (ChangeVerdict.UNDECIDED, Direction.RESPONSE) in said
        assert (ChangeVerdict.UNDECIDED, Direction.REQUEST) not in said
    narrower = copy.deepcopy(broken)
    narrower["components"]["schemas"]["Thing"]["properties"]["name"]["maxLength"] = 10
    assert ("input-narrowed", "breaking") in of(diff(tmp_path, broken, narrower), PUT)


def test_a_media_type_that_is_no_object_and_refers_to_others_is_refused(tmp_path):
    broken = [{"$ref": "#/components/schemas/Thing"}]
    document = changed(REPLY_MEDIA, lambda at: at.update({"application/json": broken}))
    with pytest.raises(ContractError, match=r"media/shape .*a MediaType must be an object"):
        diff(tmp_path, document, document)


CLOSED = {"allOf": [{"properties": {"a": {}}}], "unevaluatedProperties": False}
OPENED = {**CLOSED, "allOf": [{"properties": {"a": {}}, "additionalProperties": True}]}
TUPLE = {"prefixItems": [{"type": "string"}], "unevaluatedItems": False}


@pytest.mark.parametrize(
    ("narrow", "wide"),
    [
        # What is evaluated by `true` is not left for `unevaluatedProperties`.
        (CLOSED, OPENED),
        (TUPLE, {**TUPLE, "items": True}),
        # Keywords of older dialects, which mean what the new ones mean.
        ({"dependencies": {"a": ["b"]}}, {}),
        ({"dependentRequired": {"a": ["b", "c"]}}, {"dependencies": {"a": {"required": ["b"]}}}),
    ],
)
def test_a_wider_schema_of_a_request_is_safe_and_a_narrower_one_breaks(tmp_path, narrow, wide):
    around = ("components", "schemas", "Thing", "properties")
    one = changed(around, lambda at: at.update(name=narrow))
    other = changed(around, lambda at: at.update(name=wide))
    for old, new, rule in ((one, other, "input-widened"), (other, one, "input-narrowed")):
        assert rule in {rule for rule, _ in of(diff(tmp_path, old, new), PUT)}


def branches(*bounds):
    return [
        {
            "type": "object",
            "properties": {"kind": {"const": f"k{at}"}, "size": {"maximum": bound}},
            "required": ["kind", "size"],
        }
        for at, bound in enumerate(bounds)
    ]


def test_a_union_of_many_branches_in_another_order_is_no_change(tmp_path):
    around = ("components", "schemas", "Thing", "properties")
    one = changed(around, lambda at: at.update(name={"oneOf": branches(*[5] * 100)}))
    turned = changed(around, lambda at: at.update(name={"oneOf": branches(*[5] * 100)[::-1]}))
    assert diff(tmp_path, one, turned) == ()
    lower = changed(around, lambda at: at.update(name={"oneOf": branches(*[5] * 99, 4)[::-1]}))
    rules = {rule for rule, _ in of(diff(tmp_path, one, lower), PUT)}
    assert rules == {"input-narrowed", "output-narrowed"}


DRAFT_7 = "http://json-schema.org/draft-07/schema#"


def test_a_schema_of_another_dialect_is_undecided_and_of_the_same_is_compared(tmp_path):
    around = ("components", "schemas", "Thing", "properties", "name")
    one = changed(around, lambda at: at.update({"$schema": DRAFT_7}))
    assert of(diff(tmp_path, DOCUMENT, one), PUT) == {("schema-rewritten", "undecided")}
    wider = changed(around, lambda at: at.update({"$schema": DRAFT_7, "maxLength": 30}))
    assert of(diff(tmp_path, DOCUMENT, wider), PUT) == {
        ("schema-rewritten", "undecided"),
        ("output-widened", "breaking"),
    }
    assert of(diff(tmp_path, one, wider), PUT) == {
        ("input-widened", "safe"),
        ("output-widened", "breaking"),
    }


def test_documents_of_two_dialects_are_not_compared(tmp_path):
    paths = []
    for name, dialect in (
        ("old", DRAFT_7),
        ("new", "https://json-schema.org/draft/2020-12/schema"),
    ):
        paths.append(str(tmp_path / f"{name}.json"))
        document = {**DOCUMENT, "jsonSchemaDialect": dialect}
        (tmp_path / f"{name}.json").write_text(json.dumps(document), "utf-8")
    with pytest.raises(ContractError, match="of draft-07, those of the other one of 2020-12"):
        read_sides(*paths, tmp_path, (), lambda _: None)


@pytest.mark.parametrize("path", [(), ("components", "schemas", "Thing")])
def test_a_dialect_that_is_not_known_is_refused_where_it_is_named(tmp_path, path):
    word = "$schema" if path else "jsonSchemaDialect"
    document = changed(path, lambda at: at.update({word: "https://example.com/own"}))
    with pytest.raises(ContractError, match=r"schema/dialect .*own is not known"):
        diff(tmp_path, document, document)


def test_another_address_is_told_and_does_not_fail(tmp_path):
    def at(url):
        return {**DOCUMENT, "servers": [{"url": url}]}

    changes = diff(tmp_path, at("https://a.example/v1"), at("https://a.example/v2"), "files")
    assert {(each.rule, each.severity) for each in changes} == {
        ("server-removed", "warning"),
        ("server-added", "info"),
    }
    (old, new) = (
        {"swagger": "2.0", "info": DOCUMENT["info"], "basePath": path, "paths": {}}
        for path in ("/v1", "/v2")
    )
    assert {each.subject for each in diff(tmp_path, old, new)} == {"url /v1", "url /v2"}


@pytest.mark.parametrize("member", ["authorizationUrl", "tokenUrl"])
def test_another_address_for_credentials_is_told(tmp_path, member):
    flow = {"authorizationUrl": "https://a.example/a", "tokenUrl": "https://a.example/t"}

    def with_flow(flow):
        scheme = {"type": "oauth2", "flows": {"authorizationCode": {**flow, "scopes": {}}}}
        return changed(("components", "securitySchemes"), lambda at: at.update(own=scheme))

    new = with_flow({**flow, member: "https://b.example/"})
    changes = diff(tmp_path, with_flow(flow), new)
    assert {(each.rule, each.subject) for each in changes} == {
        ("server-removed", f"{member} {flow[member]}"),
        ("server-added", f"{member} https://b.example/"),
    }


def test_a_null_for_credentials_is_none(tmp_path):
    assert diff(tmp_path, *({**DOCUMENT, "security": None} for _ in range(2))) == ()


@pytest.mark.parametrize("written", [5, "key", [1], ["key"], [{"key": 1}], {"key": []}])
def test_credentials_of_another_form_are_refused(tmp_path, written):
    path = tmp_path / "api.json"
    broken = changed(OPERATION, lambda at: at.update(security=written))
    path.write_text(json.dumps(broken), "utf-8")
    with pytest.raises(ContractError, match="/put/security"):
        read_document(path, "api.json")


@pytest.mark.parametrize("keyword", ["type", "format", "enum", "contentEncoding", "pattern"])
@pytest.mark.parametrize("value", [5, None, True, [], [5], [{}], {}, "x"])
def test_a_keyword_of_another_form_is_no_traceback(tmp_path, keyword, value):
    """Of a parameter, whose style asks for its types, and of a body."""
    schemas = [(*OPERATION, "parameters", 1, "schema"), NAME]
    for where in schemas:
        other = changed(where, lambda at: at.update({keyword: value}))
        diff(tmp_path, DOCUMENT, other)
        diff(tmp_path, other, DOCUMENT)


def test_any_text_is_said_only_of_what_is_written_as_text(tmp_path):
    def kinds(where, *types):
        return changed(where, lambda at: (at.clear(), at.update(type=[*types])))

    texts = []
    for where in (NAME, (*OPERATION, "parameters", 1, "schema")):
        sides = (kinds(where, "string", "number", "boolean"), kinds(where, "number", "boolean"))
        texts += [each.text for each in diff(tmp_path, *sides) if "type" in each.text]
    assert "body application/json: name: type" in texts[0]
    assert "any text" not in texts[0]
    assert 'query parameters: limit: type any text → ["boolean","number"]' in texts


def test_a_pattern_that_no_validator_runs_may_go_and_not_come(tmp_path):
    limit = (*OPERATION, "parameters", 1, "schema")
    sides = [
        changed(limit, lambda at, schema=schema: (at.clear(), at.update(schema)))
        for schema in ({"type": "string", "pattern": "^(?!a)"}, {"type": "string"})
    ]
    assert of(diff(tmp_path, *sides), PUT) == {("input-widened", "safe")}
    assert of(diff(tmp_path, *reversed(sides)), PUT) == {("schema-rewritten", "undecided")}


def things(schema):
    """The document whose body and reply are of `schema`."""
    return changed(("components", "schemas"), lambda at: at.update(Thing=schema))


def kind(name, **members):
    return {
        "type": "object",
        "required": ["kind"],
        "properties": {"kind": {"enum": [name]}, **members},
    }


LINKS = {f"link_{each}": {"type": "string", "format": "uri"} for each in range(20)}


def person(**members):
    # As large as those of real documents, which are too large to be compared as wholes.
    members = {"id": {"type": "integer"}, "login": {"type": "string"}, **LINKS, **members}
    return {
        "type": ["object", "null"],
        "required": ["id", "login"],
        "properties": members,
    }


TEAM = {
    "type": "object",
    "required": ["id", "name", *(f"url_{each}" for each in range(6))],
    "properties": {
        "id": {"type": "integer"},
        "name": {"type": "string"},
        **{f"url_{each}": {"type": "string", "format": "uri"} for each in range(12)},
    },
}
KINDS = [kind(str(each), size={"type": "integer"}) for each in range(20)]
SIZES = ("integer", "number")
WIDER = {("input-widened", "safe"), ("output-widened", "breaking")}


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ({"oneOf": KINDS}, {"oneOf": [*KINDS, kind("more")]}, WIDER),
        ({"oneOf": KINDS}, {"oneOf": KINDS[::-1]}, set()),
        (
            {"oneOf": [person(), TEAM]},
            {"oneOf": [person(view={"type": "string"}), TEAM]},
            {
                ("input-member-declared", "breaking"),
                ("output-narrowed", "safe"),
                ("input-widened", "safe"),
                # A person whose view is a number was a team too, and is only a team now.
                ("output-widened", "breaking"),
            },
        ),
        ({"oneOf": KINDS}, {"anyOf": KINDS}, set()),
        ({"oneOf": [person(), TEAM]}, {"anyOf": [person(), TEAM]}, WIDER),
    ],
)
def test_branches_that_exclude_each_other(tmp_path, old, new, said):
    assert of(diff(tmp_path, things(old), things(new)), PUT) == said


def asked(monkeypatch):
    """Questions that are answered by search, which takes most of the time."""
    found = []

    def counted(outer, inner):
        found.append((outer, inner))
        return containment(outer, inner)

    monkeypatch.setattr(descent, "containment", counted)
    descent.ask.cache_clear()
    return found


def test_branches_that_a_member_tells_apart_are_not_asked_about_in_pairs(tmp_path, monkeypatch):
    questions = asked(monkeypatch)
    numbers = range(80)
    old, new = ([kind(str(each), size={"type": name}) for each in numbers] for name in SIZES)
    changes = diff(tmp_path, things({"oneOf": old}), things({"oneOf": new}))
    assert of(changes, PUT) == WIDER
    assert len(questions) < 10 * len(numbers)


def test_branches_that_no_look_tells_apart_are_asked_about_up_to_a_bound(tmp_path, monkeypatch):
    monkeypatch.setattr(descent, "_MOST_PAIRS", 20)
    # So that the union is too large to be asked about as a whole.
    monkeypatch.setattr(proving, "_MOST_BYTES", 1_000)
    questions = asked(monkeypatch)
    numbers = range(8)
    # Names that are numbers, of which a look sees nothing.
    old, new = ([kind(each, size={"type": name}) for each in numbers] for name in SIZES)
    changes = diff(tmp_path, things({"oneOf": old}), things({"oneOf": new}))
    unknown = [each for each in changes if each.verdict is ChangeVerdict.UNDECIDED]
    assert [each.subject for each in unknown] == [PUT]
    assert "56 pairs of branches may overlap, of which 20 were compared" in unknown[0].text
    assert len(questions) < 100


def test_a_change_far_below_is_found(tmp_path):
    def nested(most):
        schema = {"type": "string", "maxLength": most}
        for _ in range(70):
            schema = {"type": "object", "required": ["a"], "properties": {"a": schema}}
        return things(schema)

    changes = diff(tmp_path, nested(20), nested(10))
    assert of(changes, PUT) == {("input-narrowed", "breaking"), ("output-narrowed", "safe")}


def test_a_change_of_a_shared_part_is_said_once_with_what_it_reaches(tmp_path):
    def document(most):
        limit = {"name": "limit", "in": "query", "schema": {"type": "integer", "maximum": most}}
        thing = {"type": "object", "properties": {"name": {"type": "string", "maxLength": most}}}
        operation = {
            "parameters": [{"$ref": "#/components/parameters/limit"}],
            "requestBody": BODY,
            "responses": {"204": {"description": ""}},
        }
        return {
            "openapi": "3.1.0",
            "info": {"title": "Things", "version": "1"},
            "paths": {f"/{each}": {"post": operation} for each in "dcba"},
            "components": {"parameters": {"limit": limit}, "schemas": {"Thing": thing}},
        }

    changes = diff(tmp_path, document(20), document(10))
    assert {each.text for each in changes} == {
        "query parameters: limit: maximum 20 → 10",
        "body application/json: name: maxLength 20 → 10",
    }
    assert [each.subject for each in changes] == ["POST /a", "POST /a"]
    assert {each.reached for each in changes} == {("POST /b", "POST /c", "POST /d")}
    assert changes[0].sentence.endswith("it reaches 3 more: POST /b, POST /c, POST /d)")
