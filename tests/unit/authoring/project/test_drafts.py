"""The drafts of connectors and of providers: they lint and generate at once."""

import json
from pathlib import Path

import pytest
import yaml

from gateway.authoring.contracts.finding import ContractRefused
from gateway.authoring.contracts.tree import read_tree
from gateway.authoring.lint import lint
from gateway.authoring.openapi.folder import ImportFolder, inbound_messages
from gateway.authoring.openapi.importing import import_new
from gateway.authoring.openapi.lowering.records import OperationSelection
from gateway.authoring.project.changes import place
from gateway.authoring.project.drafts.events import (
    EventWish,
    WebhookWish,
    draft_event,
    draft_webhook,
)
from gateway.authoring.project.drafts.tools import (
    ConnectorWish,
    ToolWish,
    draft_connector,
    draft_tool,
)
from gateway.authoring.project.inbound import InboundWish, draft_inbound
from gateway.authoring.project.staging import OWN_PACKAGES, Project, with_generated
from gateway.errors import ConfigurationError
from tests.vendors import given, shop

DRAFTS = {
    ConnectorWish: draft_connector,
    EventWish: draft_event,
    ToolWish: draft_tool,
    WebhookWish: draft_webhook,
}


def drafted(project: Project, wish):
    return DRAFTS[type(wish)](project, read_tree(project.schemas), wish)


def written(project: Project, *wishes) -> None:
    for wish in wishes:
        place(project.folder, drafted(project, wish))


def faults(project: Project):
    return [
        f"{each.path} {each.rule} {each.message}"
        for each in lint(read_tree(project.schemas), packages=OWN_PACKAGES)
    ]


def value(project: Project, path: str):
    return yaml.safe_load((project.schemas / path).read_text("utf-8"))


@pytest.mark.parametrize(
    ("auth", "effect"),
    [("none", "read"), ("bearer", "write"), ("header=X-Key", "destroy"), ("query=key", "read")],
)
def test_a_connector_and_a_tool_of_each_effect_lint_clean(project, auth, effect):
    written(
        project,
        ConnectorWish(name="tides", title="Tide tables", url="https://t.example/v2", auth=auth),
        ToolWish(name="tides.plain", effect=effect),
        ToolWish(name="tides.placed", effect=effect, path="/a/{station}/b/{day_of}"),
        ToolWish(name="tides.put", effect=effect, method="PUT", path="/a/{station}/b/{day_of}"),
    )
    assert faults(project) == []
    tool = value(project, "tools/tides/plain.yaml")["post"]
    assert tool["x-policy"]["effect"] == effect
    assert tool["x-mcp"]["annotations"]["destructiveHint"] is (effect == "destroy")
    upstream = value(project, "upstreams/tides/openapi.yaml")
    assert set(upstream["paths"]["/a/{station}/b/{day_of}"]) >= {"put"}


def test_a_draft_asks_its_author_and_keeps_the_lines_of_the_index(project):
    index = project.schemas / "openapi.yaml"
    index.write_text(index.read_text("utf-8").replace("paths:\n", "paths: # ours\n  # first\n"))
    before = index.read_text("utf-8").splitlines()
    written(project, ConnectorWish(name="tides"), ToolWish(name="tides.get_tides"))
    after = index.read_text("utf-8").splitlines()
    assert [line for line in before if line not in after] == []
    for path in ("tools/tides/get_tides.yaml", "upstreams/tides/openapi.yaml"):
        text = (project.schemas / path).read_text("utf-8")
        assert "?" in "".join(each for each in text.splitlines() if each.strip().startswith("#"))


def test_a_python_tool_brings_a_function_that_is_found(project):
    written(project, ToolWish(name="notes.take", effect="write", is_python=True))
    assert faults(project) == []
    code = (project.folder / "handlers/notes/take.py").read_text("utf-8")
    assert "from generated.models.notes.take import TakeInput, TakeOutput" in code
    assert (project.folder / "handlers/notes/__init__.py").is_file()
    with pytest.raises(ConfigurationError, match="--path describes an operation"):
        drafted(project, ToolWish(name="notes.give", path="/x", is_python=True))
    (project.folder / "handlers/notes/give.py").write_text("mine")
    with pytest.raises(ConfigurationError, match="would replace or hide it"):
        drafted(project, ToolWish(name="notes.give", is_python=True))


@pytest.mark.parametrize("scheme", ["standard", "hmac", "basic"])
def test_a_provider_grows_by_events(project, scheme):
    written(
        project,
        WebhookWish(name="shop.order_shipped", scheme=scheme),
        WebhookWish(name="shop.order-lost"),
        WebhookWish(name="shop.order.gone"),
    )
    assert faults(project) == []
    post = value(project, "webhooks/shop/webhook.yaml")["post"]
    assert list(post["x-webhook"]["events"]) == ["order_shipped", "order-lost", "order.gone"]
    text = (project.schemas / "webhooks/shop/webhook.yaml").read_text("utf-8")
    first, second = text.index("Which rows does it write?"), text.index('"order-lost":')
    assert first < second, "the questions stay with their event"


def test_an_event_is_published_by_a_webhook(project):
    written(project, EventWish(type="order.shipped"), WebhookWish(name="shop.order_shipped"))
    file = project.schemas / "webhooks/shop/webhook.yaml"
    emits = (
        "        emits: {event: gateway.order.shipped.v1, subject: $request.body#/id,"
        " data: {id: $request.body#/id}}\n"
    )
    text = file.read_text("utf-8")
    file.write_text(text.replace("        # Which rows", f"{emits}        # Which rows"), "utf-8")
    assert faults(project) == []
    written(project, EventWish(type="gateway.order.shipped.v2"))
    with pytest.raises(ConfigurationError, match=r"a new version: order\.shipped\.v3"):
        drafted(project, EventWish(type="order.shipped"))


@pytest.mark.parametrize(
    ("wish", "message"),
    [
        (ConnectorWish(name="gateway"), "grants such as gateway.operate begin with it"),
        (ConnectorWish(name="events"), "it is the tag"),
        (ConnectorWish(name="class"), "cannot be the name of a connector"),
        (ConnectorWish(name="../x"), "cannot be the name of a connector"),
        (ConnectorWish(name="store"), "taken by upstreams/store/openapi.yaml"),
        (ConnectorWish(name="x", auth="header="), "no way to authenticate"),
        (ToolWish(name="store"), "is not CONNECTOR.TOOL"),
        (ToolWish(name="store.Find"), "cannot be the name of a tool"),
        (ToolWish(name="store.find_products"), "taken by tools/store/find_products.yaml"),
        (ToolWish(name=f"store.{'x' * 60}"), "longer than 60"),
        (ToolWish(name="storage.find"), "there is no upstream storage"),
        (ToolWish(name="store.x", path="/products"), "has GET /products"),
        (ToolWish(name="store.x", path="/{a}/{a}"), "is not the path of an operation"),
        (ToolWish(name="store.x", path="/a?b"), "is not the path of an operation"),
        (WebhookWish(name="shop"), "is not PROVIDER.EVENT"),
        (WebhookWish(name="shop.a/b"), "is not PROVIDER.EVENT"),
        (WebhookWish(name="shop.a", header="X"), "has its own headers"),
        (EventWish(type="order"), "is not the type of an event"),
        (EventWish(type="job.failed"), "a new version: job.failed.v2"),
    ],
    ids=str,
)
def test_a_name_that_cannot_be_used_is_refused(project, wish, message):
    with pytest.raises(ConfigurationError, match=message.replace(".", r"\.")):
        drafted(project, wish)


def test_a_second_operation_of_a_path_is_added_below_it(project):
    written(project, ToolWish(name="store.add_product", effect="write", path="/products"))
    assert faults(project) == []
    products = value(project, "upstreams/store/openapi.yaml")["paths"]["/products"]
    assert list(products) == ["get", "post"]


def test_an_imported_connector_gets_no_tool_by_hand(project):
    (project.schemas / "upstreams/vendor").mkdir()
    (project.schemas / "upstreams/vendor/import.yaml").write_text("document: x\n")
    for wish in (ConnectorWish(name="vendor"), ToolWish(name="vendor.x")):
        with pytest.raises(ConfigurationError, match="is an imported document"):
            drafted(project, wish)


def test_what_is_generated_comes_with_the_draft_and_a_finding_refuses_it(project):
    wish = ToolWish(name="store.add_product", effect="write")
    change = with_generated(project, drafted(project, wish))
    paths = {str(path) for path in change.files}
    assert {
        "schemas/tools/store/add_product.yaml",
        "generated/bindings/store/add_product.py",
        "generated/tools.json",
    } <= paths
    assert change.removed == ()
    assert not (Path(project.folder) / "schemas/tools/store/add_product.yaml").exists()
    title = json.dumps("x" * 80)
    bad = ToolWish(name="store.add_product", title=title)
    with pytest.raises(ContractRefused):
        with_generated(project, drafted(project, bad))


@pytest.mark.parametrize(
    ("wish", "path"),
    [
        (ToolWish(name="store.list_lamps", effect="read"), "tools/store/list_lamps.input.json"),
        (ToolWish(name="store.list_lamps", effect="read"), "tools/store/list_lamps.output.json"),
        (EventWish(type="order.sent"), "events/order.sent.v1.json"),
        (EventWish(type="order.sent.v3"), "events/order.sent.v3.json"),
        (WebhookWish(name="desk.noted"), "webhooks/desk/noted.payload.json"),
    ],
)
def test_a_schema_that_is_there_without_its_contract_is_not_replaced(project, wish, path):
    (project.schemas / path).parent.mkdir(parents=True, exist_ok=True)
    (project.schemas / path).write_text("{}", "utf-8")
    with pytest.raises(ConfigurationError, match="exists"):
        drafted(project, wish)


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
