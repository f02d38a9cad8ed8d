"""Vendors' webhooks, from nothing to an event: drafted, linted, signed, sent over sockets."""

import gzip
import hmac
import json
import time
from base64 import b64encode
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from gateway.contracts.finding import Severity
from gateway.contracts.sources.tree import read_tree
from gateway.lint import lint
from gateway.project.drafts.presets import preset_names
from gateway.project.drafts.vendor import draft_message
from gateway.project.drafts.webhook import WebhookWish
from gateway.project.placing import place
from gateway.project.staging import Project
from gateway.project.starting import OWN_PACKAGES
from tests.eventually import eventually
from tests.gateway_process import RunningGateway, run_gateway, running_gateway

ITS_OWN = {
    "GATEWAY_SCHEMAS": "",
    "GATEWAY_WEBHOOKS_PAYPAL_WEBHOOK_ID": "1JE4291016473214C",
    "GATEWAY_WEBHOOKS_META_SIGNED_CHALLENGE_SECRET": "a-verify-token-of-the-tests",
    "GATEWAY_MAX_WEBHOOK_BYTES": str(20 * 2**20),
}
HERE = {**ITS_OWN, "GATEWAY_DATA": "."}
SHOP = {
    "storedHeaders": ["User-Agent"],
    "contentEncodings": ["gzip"],
    "maxBodyBytes": 16 * 2**20,
}


@pytest.fixture(scope="module")
def project(new_initial: Callable[[Path], Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with every vendor."""
    folder = new_initial(tmp_path_factory.mktemp("vendors"))
    staged = Project(
        folder=folder,
        schemas=folder / "schemas",
        handler_packages=OWN_PACKAGES,
        version="0",
        package="generated",
    )
    for name in preset_names():
        wish = WebhookWish(name=name)
        place(folder, draft_message(staged, read_tree(staged.schemas), wish))
    second = WebhookWish(name="stripe.charge.refunded")
    place(folder, draft_message(staged, read_tree(staged.schemas), second))
    shop = folder / "schemas/webhooks/shopify/webhook.yaml"
    added = "".join(f"    {name}: {json.dumps(value)}\n" for name, value in SHOP.items())
    shop.write_text(shop.read_text().replace("    events:\n", f"{added}    events:\n"))
    return folder


@pytest.fixture(scope="module")
def gateway(project: Path) -> Iterator[RunningGateway]:
    run_gateway(project, "generate", environment=ITS_OWN)
    with running_gateway(project, environment=ITS_OWN) as running:
        yield running


def secret_of(gateway: RunningGateway, provider: str) -> bytes:
    return (gateway.data / "webhook-secrets" / f"{provider}-signed").read_bytes().strip()


def stored(gateway: RunningGateway, provider: str) -> list[dict[str, Any]]:
    url = f"{gateway.url}/operator/webhooks?provider={provider}"
    found = httpx.get(url, headers={"Authorization": f"Bearer {gateway.key}"})
    items: list[dict[str, Any]] = found.json()["items"]
    return items


async def completed(gateway: RunningGateway, provider: str, webhook_id: str) -> None:
    async def is_completed() -> bool | None:
        rows = {row["id"]: row["state"] for row in stored(gateway, provider)}
        return rows[webhook_id] == "completed" or None

    await eventually(is_completed)


def test_every_draft_lints(project: Path) -> None:
    found = lint(read_tree(project / "schemas"), packages=OWN_PACKAGES)
    errors = [each for each in found if each.severity is Severity.ERROR]
    assert [f"{each.path} {each.rule} {each.message}" for each in errors] == []


@pytest.mark.parametrize("name", [*preset_names(), "stripe.charge.refunded"])
async def test_a_message_of_each_vendor_becomes_an_event(
    gateway: RunningGateway, project: Path, name: str
) -> None:
    sent = run_gateway(
        project, "webhooks", "send", name, "--to", gateway.url, "--json", environment=HERE
    )
    answer = json.loads(sent)
    assert (answer["status"], answer["answer"]["outcome"]) == (202, "stored")

    await completed(gateway, name.partition(".")[0], answer["answer"]["id"])
    events = run_gateway(project, "events", "list", "--json", environment=HERE)
    assert f'"gateway.{name.partition(".")[0]}.received.v1"' in events


def signed(gateway: RunningGateway, provider: str, body: dict[str, Any]) -> httpx.Response:
    """As Slack and Zoom sign."""
    prefix = {"slack": "X-Slack-Signature", "zoom": "x-zm-signature"}[provider]
    moment = {"slack": "X-Slack-Request-Timestamp", "zoom": "x-zm-request-timestamp"}[provider]
    text, now = json.dumps(body), str(int(time.time()))
    mac = hmac.new(secret_of(gateway, provider), f"v0:{now}:{text}".encode(), "sha256")
    headers = {prefix: f"v0={mac.hexdigest()}", moment: now, "Content-Type": "application/json"}
    return httpx.post(f"{gateway.url}/webhooks/{provider}", content=text, headers=headers)


def test_each_vendor_s_challenge_is_answered_and_not_stored(gateway: RunningGateway) -> None:
    base = f"{gateway.url}/webhooks"
    slack = signed(gateway, "slack", {"type": "url_verification", "challenge": "3eZb"})
    assert slack.json() == {"challenge": "3eZb"}
    plain = {"plainToken": "qgg8vlvZRS6UYooatFL8Aw"}
    zoom = signed(gateway, "zoom", {"event": "endpoint.url_validation", "payload": plain})
    known = hmac.new(secret_of(gateway, "zoom"), plain["plainToken"].encode(), "sha256")
    assert zoom.json() == {**plain, "encryptedToken": known.hexdigest()}
    graph = httpx.post(f"{base}/microsoft_graph", params={"validationToken": "Validation: 1"})
    assert (graph.status_code, graph.text) == (200, "Validation: 1")
    assert graph.headers["content-type"] == "text/plain; charset=utf-8"
    assert httpx.get(f"{base}/dropbox", params={"challenge": "abc"}).text == "abc"
    assert httpx.head(f"{base}/trello").status_code == 200
    origin = {"WebHook-Request-Origin": "emitter.example"}
    allowed = httpx.options(f"{base}/cloudevents", headers=origin)
    assert allowed.headers["webhook-allowed-origin"] == "emitter.example"
    asked = {"hub.mode": "subscribe", "hub.challenge": "11582", "hub.verify_token": "x"}
    assert httpx.get(f"{base}/meta", params=asked).status_code == 401
    asked["hub.verify_token"] = "a-verify-token-of-the-tests"
    assert httpx.get(f"{base}/meta", params=asked).text == "11582"


def test_a_challenge_that_nobody_signed_is_refused(gateway: RunningGateway) -> None:
    body = {"type": "url_verification", "challenge": "stolen"}
    answer = httpx.post(f"{gateway.url}/webhooks/slack", json=body)
    assert answer.status_code == 401
    assert "stolen" not in answer.text


@pytest.mark.parametrize("token", ["a\nb", "x" * 2_001, "\x1b[31m"])
def test_a_token_that_is_no_line_of_text_is_not_repeated(
    gateway: RunningGateway, token: str
) -> None:
    answer = httpx.get(f"{gateway.url}/webhooks/dropbox", params={"challenge": token})
    assert answer.status_code == 400
    assert token not in answer.text


def test_other_methods_say_which_there_are(gateway: RunningGateway) -> None:
    answer = httpx.put(f"{gateway.url}/webhooks/dropbox")
    assert (answer.status_code, answer.headers["allow"]) == (405, "POST, OPTIONS, GET")
    assert httpx.get(f"{gateway.url}/webhooks/dropbox").status_code == 405


def hubspot(gateway: RunningGateway, messages: Any) -> httpx.Response:
    url, now = f"{gateway.url}/webhooks/hubspot", str(int(time.time() * 1000))
    text = json.dumps(messages)
    key = secret_of(gateway, "hubspot")
    mac = hmac.new(key, f"POST{url}{text}{now}".encode(), "sha256").digest()
    headers = {
        "X-HubSpot-Signature-v3": b64encode(mac).decode(),
        "X-HubSpot-Request-Timestamp": now,
        "Content-Type": "application/json",
    }
    return httpx.post(url, content=text, headers=headers)


def test_a_batch_is_stored_as_its_messages_once(gateway: RunningGateway) -> None:
    messages = [{"eventId": 900 + n, "subscriptionType": "contact.creation"} for n in range(50)]
    first = hubspot(gateway, messages).json()
    assert (first["outcome"], first["messages"]) == ("stored", 50)
    again = hubspot(gateway, messages)
    assert (again.status_code, again.json()["outcome"]) == (200, "duplicate")
    more = hubspot(gateway, [*messages, {"eventId": 999, "subscriptionType": "deal.creation"}])
    assert more.json()["outcome"] == "quarantined"
    ids = [row["message_id"] for row in stored(gateway, "hubspot")]
    assert len(ids) == len(set(ids))


def shopify(gateway: RunningGateway, body: bytes, number: str, **headers: str) -> httpx.Response:
    mac = hmac.new(secret_of(gateway, "shopify"), body, "sha256").digest()
    fields = {
        "X-Shopify-Hmac-Sha256": b64encode(mac).decode(),
        "X-Shopify-Topic": "orders/create",
        "X-Shopify-Webhook-Id": number,
        "Content-Type": "application/json",
        **headers,
    }
    sent = gzip.compress(body) if "Content-Encoding" in headers else body
    return httpx.post(f"{gateway.url}/webhooks/shopify", content=sent, headers=fields)


def test_a_compressed_body_is_read_within_its_limit(gateway: RunningGateway) -> None:
    packed = {"Content-Encoding": "gzip"}
    assert shopify(gateway, b'{"packed": 1}', "p-1", **packed).json()["outcome"] == "stored"
    bomb = b'{"a": "' + b"a" * (17 * 2**20) + b'"}'
    assert shopify(gateway, bomb, "p-2", **packed).status_code == 413
    refused = shopify(gateway, b"{}", "p-3", **{"Content-Encoding": "br"})
    assert refused.status_code == 415
    assert "gzip" in refused.json()["detail"]


def test_the_contract_s_limit_holds_for_large_bodies(gateway: RunningGateway) -> None:
    large = b'{"a": "' + b"a" * (15 * 2**20) + b'"}'
    assert shopify(gateway, large, "large-1").json()["outcome"] == "stored"
    larger = b'{"a": "' + b"a" * (17 * 2**20) + b'"}'
    refused = shopify(gateway, larger, "large-2")
    assert refused.status_code == 413
    assert "maxBodyBytes" in refused.json()["detail"]


def ping(gateway: RunningGateway) -> httpx.Response:
    body = b'{"zen": "Keep it logically awesome."}'
    mac = hmac.new(secret_of(gateway, "github"), body, "sha256").hexdigest()
    headers = {
        "X-Hub-Signature-256": f"sha256={mac}",
        "X-GitHub-Event": "ping",
        "X-GitHub-Delivery": "ping-1",
        "Content-Type": "application/json",
    }
    return httpx.post(f"{gateway.url}/webhooks/github", content=body, headers=headers)


async def test_a_type_that_is_ignored_is_kept_and_alarms_nobody(gateway: RunningGateway) -> None:
    answer = ping(gateway)
    assert answer.json()["outcome"] == "stored"
    await completed(gateway, "github", answer.json()["id"])
