"""Every example of every provider, sent as that provider authenticates, through one gateway.

The senders are made from the contracts alone, and nothing here or in the engine knows a provider.
"""

import json
import time
from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import httpx
import pytest

from gateway.catalogue import Catalogue, open_catalogue
from gateway.contract.connector import HANDLER_PACKAGES
from gateway.contract.context import CallFacts
from gateway.contract.webhook import Profile, WebhookEvent, WebhookSource
from gateway.signatures.received import Received
from gateway.webhooks.message import read_messages
from tests.eventually import PATIENCE_SECONDS
from tests.gateway_process import REPOSITORY, RunningGateway, running_gateway

WEBHOOKS = "webhooks/*/webhook.yaml"
PROVIDERS = sorted(path.parent.name for path in (REPOSITORY / "schemas").glob(WEBHOOKS))


@pytest.fixture(scope="module")
def catalogue() -> Catalogue:
    return open_catalogue("generated", HANDLER_PACKAGES)


class Sender:
    """A provider, as far as its contract says."""

    def __init__(self, gateway: RunningGateway, plain: httpx.Client, http: httpx.Client) -> None:
        self._made = gateway.data / "webhook-secrets"
        self._plain = plain
        self.http = http
        """An operator's, with a key; the provider has none."""

    def send(
        self, source: WebhookSource, profile: Profile, event: WebhookEvent, body: bytes
    ) -> httpx.Response:
        secret = (self._made / f"{source.provider}-{profile.name}").read_text("utf-8").strip()
        key, message_id = profile.authentication.key_of(secret), uuid4().hex
        headers = profile.authentication.signed_fields([key], message_id, int(time.time()), body)
        headers["content-type"] = "application/json"
        if profile.event_type.header is not None:
            headers[profile.event_type.header] = event.type
        if profile.message_id is not None and profile.message_id.header is not None:
            headers[profile.message_id.header] = message_id
        path = f"/webhooks/{source.provider}"
        return self._plain.post(path, content=body, headers=headers)

    def state(self, webhook_id: str) -> str:
        return str(self.http.get(f"/operator/webhooks/{webhook_id}").json()["state"])

    def is_published(self, event_type: str, data: Any) -> bool:
        """Whether an event of this type carries the data. It waits for one that does."""
        query = {"types": event_type, "from": "earliest"}
        with self.http.stream("GET", "/events", params=query) as reply:
            lines = (line for line in reply.iter_lines() if line.startswith("data: "))
            return any(json.loads(line.removeprefix("data: "))["data"] == data for line in lines)


@pytest.fixture(scope="module")
def sender(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sender]:
    data = tmp_path_factory.mktemp("gateway")
    with (
        running_gateway(data) as gateway,
        httpx.Client(base_url=gateway.url, timeout=PATIENCE_SECONDS) as plain,
        httpx.Client(
            base_url=gateway.url, headers=gateway.authorization, timeout=PATIENCE_SECONDS
        ) as http,
    ):
        yield Sender(gateway, plain, http)


def examples(source: WebhookSource, event: WebhookEvent) -> list[dict[str, Any]]:
    folder = REPOSITORY / "schemas" / "webhooks" / source.provider
    schema = json.loads((folder / f"{event.type}.payload.json").read_bytes())
    return list(schema["examples"])


@pytest.mark.parametrize("provider", PROVIDERS)
def test_the_examples_are_taken_and_worked_off(
    sender: Sender, catalogue: Catalogue, provider: str
) -> None:
    source = catalogue.webhooks[provider].source
    sent = [
        (stored(sender, source, profile, event, payload), event, payload)
        for profile in source.profiles
        for event in source.events
        if profile.name in event.profiles and event.fetch is None
        for payload in examples(source, event)
    ]
    assert sent
    for webhook_id, event, payload in sent:
        while (state := sender.state(webhook_id)) in {"pending", "processing"}:
            time.sleep(0.05)
        assert state == "completed", (event.type, payload)
        if event.emission is not None:
            defaults = {each.name: each.default for each in source.settings if each.default}
            facts = CallFacts(id=webhook_id, now="2026-11-20T14:42:01Z", settings=defaults)
            expected = event.emission.data(payload, facts)
            assert sender.is_published(event.emission.event, expected)


def stored(
    sender: Sender, source: WebhookSource, profile: Profile, event: WebhookEvent, payload: Any
) -> str:
    """The id of the message, which the gateway takes."""
    reply = sender.send(source, profile, event, json.dumps(payload).encode())
    assert (reply.status_code, reply.json()["outcome"]) == (202, "stored"), reply.text
    return str(reply.json()["id"])


@pytest.mark.parametrize("provider", PROVIDERS)
def test_the_contract_says_what_becomes_of_a_message_without_an_id(
    catalogue: Catalogue, provider: str
) -> None:
    """It is kept, and answered 202."""
    document = json.loads(catalogue.openapi)
    answers = document["paths"][f"/webhooks/{provider}"]["post"]["responses"]
    for profile in catalogue.webhooks[provider].source.profiles:
        if profile.message_id is None:
            continue
        (message,) = read_messages(profile, Received(fields=[], body=b"{}"))
        assert message.refusals
        assert "without an id is kept and answered 202" in answers["400"]["description"]
