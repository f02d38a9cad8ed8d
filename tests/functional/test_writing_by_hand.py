"""Contracts that `gateway new` drafts, in a project of one's own: generated, called and refused."""

import json
import time
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest

from gateway.signatures.registry import DELIVERIES
from tests.eventually import PATIENCE_SECONDS
from tests.gateway_process import run_gateway, running_gateway
from tests.vendors import shop

ITS_OWN = {"GATEWAY_SCHEMAS": ""}
"""The project is the folder in which the command runs."""


@pytest.fixture(scope="module")
def project(new_initial: Callable[[Path], Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    return new_initial(tmp_path_factory.mktemp("by-hand"))


def run(folder: Path, *arguments: str) -> str:
    return run_gateway(folder, *arguments, environment=ITS_OWN)


def contents(folder: Path) -> dict[str, bytes]:
    files = (path for path in folder.rglob("*") if path.is_file() and "data" not in path.parts)
    return {str(path): path.read_bytes() for path in files if ".gateway-cache" not in path.parts}


def test_a_drafted_tool_answers_from_the_mock_and_from_python(project: Path) -> None:
    run(project, "new", "connector", "tides", "--url", "https://api.tides.example/v2")
    printed = run(project, "new", "tool", "tides.get_tides", "--path", "/at/{place}", "--json")
    assert json.loads(printed)["is_written"] is True
    assert "schemas/tools/tides/get_tides.yaml" in json.loads(printed)["files"]
    result = run(project, "call", "tides.get_tides", "--json", '{"place": "oslo"}')
    assert json.loads(result) == {"id": "one", "name": "One"}
    run(project, "new", "tool", "notes.take", "--python", "--effect", "write")
    assert json.loads(run(project, "call", "notes.take", "--json", '{"text": "a"}')) == {
        "text": "a"
    }
    run(project, "generate", "--check")


def test_a_dry_run_and_a_refused_draft_write_nothing(project: Path) -> None:
    before = contents(project)
    assert "would be written" in run(project, "new", "event", "order.shipped", "--dry-run")
    with pytest.raises(AssertionError, match=r"taken by tools/store/find_products\.yaml"):
        run(project, "new", "tool", "store.find_products")
    assert contents(project) == before


ORDER = {
    "type": "object",
    "required": ["type", "order"],
    "additionalProperties": False,
    "properties": {
        "type": {"type": "string", "const": "order.placed"},
        "order": {"$ref": "#/components/schemas/Order"},
    },
}
SECRET = "whsec_" + "A" * 40


def posted(schema: object) -> dict[str, object]:
    body = {"content": {"application/json": {"schema": schema}}}
    return {"post": {"description": "An order was placed.", "requestBody": body}}


def test_a_webhook_of_a_document_becomes_an_event(
    new_initial: Callable[[Path], Path], tmp_path: Path
) -> None:
    project = new_initial(tmp_path / "own")
    document = shop(a="list") | {"webhooks": {"orderPlaced": posted(ORDER)}}
    order = {"type": "object", "properties": {"id": {"type": "string"}}}
    document["components"] = {"schemas": {"Order": order}}
    (tmp_path / "shop.json").write_text(json.dumps(document), "utf-8")
    printed = run(project, "import", str(tmp_path / "shop.json"), "--webhook", "*")
    assert "drafted: schemas/webhooks/shop/webhook.yaml" in printed
    assert "0 errors" in run(project, "lint")
    run(project, "generate")

    environment = {
        "GATEWAY_SCHEMAS": str(project / "schemas"),
        "GATEWAY_WEBHOOKS_SHOP_SIGNED_SECRETS": SECRET,
    }
    message = {"type": "order.placed", "order": {"id": "one"}, "added": 1}
    body = json.dumps(message).encode()
    signed = DELIVERIES.signed_fields([DELIVERIES.key_of(SECRET)], "m1", int(time.time()), body)
    with (
        running_gateway(tmp_path / "data", environment=environment) as gateway,
        httpx.Client(base_url=gateway.url, timeout=PATIENCE_SECONDS) as http,
    ):
        plain = {"content-type": "application/json"}
        assert http.post("/webhooks/shop", content=body, headers=plain).status_code == 401
        sent = http.post("/webhooks/shop", content=body, headers={**plain, **signed})
        assert sent.status_code == 202, sent.text
        query = {"types": "gateway.shop.received.v1", "from": "earliest"}
        with http.stream("GET", "/events", params=query, headers=gateway.authorization) as reply:
            lines = (line for line in reply.iter_lines() if line.startswith("data: "))
            event = json.loads(next(lines).removeprefix("data: "))
    assert event["subject"] == "order.placed"
    assert event["data"] == {"kind": "order.placed", "message": message}
