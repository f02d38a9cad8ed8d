"""Drafts of providers from the webhooks and callbacks of a vendor's document."""

import json

import pytest

from gateway.authoring.contracts.sources.tree import read_tree
from gateway.authoring.openapi.folder import ImportFolder, inbound_messages
from gateway.authoring.openapi.importing import import_new
from gateway.authoring.openapi.lowering.records import OperationSelection
from gateway.authoring.project.inbound import InboundWish, draft_inbound
from gateway.authoring.project.placing import place
from gateway.errors import ConfigurationError
from tests.vendors import given, shop

TEXT = {"type": "string"}


def body(schema, **more):
    content = {"application/json": {"schema": schema}}
    return {"post": {"requestBody": {"content": content}, **more}}


def kind(value, **members):
    properties = {"type": {"const": value, **TEXT}, **members}
    return {"type": "object", "required": ["type"], "properties": properties}


def header(name, example):
    return {"name": name, "in": "header", "schema": TEXT, "example": example}


@pytest.fixture
def draft(project):
    """Drafts the webhooks of a document with these names."""

    def _draft(*names, member="webhooks", operation=None, **webhooks):
        document = shop(a="list") | {member: webhooks}
        document["paths"]["/a"]["get"].update(operation or {})
        document["components"] = {"schemas": {"Loop": LOOP}}
        vendor = given(document)
        folder = ImportFolder(schemas=project.schemas, connector="shop")
        run = import_new(folder, vendor, OperationSelection())
        messages = inbound_messages(folder, vendor.source, run.wishes)
        wish = InboundWish(provider="shop", names=names or ("*",))
        return draft_inbound(project, read_tree(project.schemas), wish, messages)

    return _draft


LOOP = {
    "type": "object",
    "additionalProperties": False,
    "properties": {"next": {"$ref": "#/components/schemas/Loop"}},
}


def text(found, name):
    (content,) = (each for path, each in found.files.items() if path.name == name)
    return content.decode()


def test_kinds_in_the_body_are_the_events(draft):
    found = draft(made=body(kind("order.made")), gone=body(kind("order.gone")))
    assert found.events == {"order.gone": ("gone",), "order.made": ("made",)}
    assert 'eventType: {pointer: "/type"}' in text(found, "webhook.yaml")
    assert "The document does not say" not in text(found, "webhook.yaml")
    assert found.refused == ()


def test_messages_with_the_same_kind_in_a_header_are_one_event(draft):
    headers = [header("X-Shop-Event", "order"), header("X-Shop-Signature", "sha256=0a")]
    first = {"type": "object", "required": ["action", "id"], "properties": {}}
    forms = [{**first, "properties": {"action": {"const": each}, "id": TEXT}} for each in "ab"]
    made, gone = (body(each, parameters=headers) for each in forms)
    found = draft(member="x-webhooks", made=made, gone=gone)
    assert found.events == {"order": ("made", "gone")}
    contract = text(found, "webhook.yaml")
    assert 'eventType: {header: "X-Shop-Event"}' in contract
    assert '{scheme: "hmac", header: "X-Shop-Signature", prefix: "sha256="}' in contract
    payload = json.loads(text(found, "order.payload.json"))
    assert payload["required"] == ["action", "id"]
    assert payload["properties"]["action"]["enum"] == ["a", "b"]
    assert payload["properties"]["id"]["type"] == "string"


def test_a_kind_that_the_document_does_not_say_is_a_question(draft):
    loop = {"type": "object", "properties": {"tree": {"$ref": "#/components/schemas/Loop"}}}
    found = draft(orderPlaced=body(loop))
    assert found.events == {"order_placed": ("orderPlaced",)}
    assert "The document does not say where a message names its kind" in text(found, "webhook.yaml")
    payload = text(found, "order_placed.payload.json")
    assert "$ref" not in payload
    assert "additionalProperties" not in payload, "senders add members"


def test_parts_of_which_no_model_can_be_made_are_left_open(draft):
    forms = [{"type": "object", "properties": {each: TEXT}} for each in "abcd"]
    found = draft(made=body(kind("made", thing={"anyOf": forms, "description": "A thing."})))
    assert found.refused == ()
    payload = json.loads(text(found, "made.payload.json"))
    assert payload["properties"]["thing"] == {"description": "A thing."}
    assert payload["properties"]["type"]["enum"] == ["made"]


def test_callbacks_are_drafted_too(draft):
    callback = {"{$request.query.url}": body(kind("done"))}
    found = draft(operation={"callbacks": {"onDone": callback}})
    assert found.events == {"done": ("onDone",)}


REFUSED = {
    "got": ({"get": {}}, "is sent with GET, and not with POST"),
    "empty": ({"post": {}}, "has no body"),
    "plain": (
        {"post": {"requestBody": {"content": {"text/plain": {}}}}},
        "is not application/json",
    ),
    "list": (body({"type": "array", "items": TEXT}), "is no object"),
    "odd": (body(kind("ORDER MADE")), "its kind 'ORDER MADE' is no type of an event"),
}


def test_what_cannot_be_received_is_refused_alone(draft):
    items = {name: item for name, (item, _) in REFUSED.items()}
    found = draft(made=body(kind("made")), **items)
    assert found.events == {"made": ("made",)}
    said = {each.pointer.split("/")[2]: each for each in found.refused}
    assert len(found.refused) == len(REFUSED)
    assert said.keys() == REFUSED.keys()
    for name, (_, why) in REFUSED.items():
        assert why in said[name].message
        assert f"the webhook '{name}'" in said[name].message
        assert said[name].path == "upstreams/shop/shop.json"


def test_only_the_named_messages_are_drafted(draft):
    webhooks = {"made": body(kind("order.made")), "gone": body(kind("order.gone")), "odd": {}}
    assert set(draft("m*", **webhooks).events) == {"order.made"}
    with pytest.raises(ConfigurationError, match=r"'mad' is no webhook and no callback.*made"):
        draft("mad", **webhooks)


def test_a_provider_that_exists_is_not_replaced(draft, project):
    found = draft(made=body(kind("order.made")))
    place(project.folder, found.files)
    with pytest.raises(ConfigurationError, match=r"gateway new webhook shop\.EVENT"):
        draft(made=body(kind("order.made")))
