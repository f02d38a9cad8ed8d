"""Drafts lint and generate at once, and a name that cannot be used is refused before anything."""

import json
from pathlib import Path

import pytest
import yaml

from gateway.authoring.contracts.finding import ContractRefused
from gateway.authoring.contracts.sources.tree import read_tree
from gateway.authoring.lint import lint
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
from gateway.authoring.project.placing import place
from gateway.authoring.project.staging import OWN_PACKAGES, Project, with_generated
from gateway.errors import ConfigurationError

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
