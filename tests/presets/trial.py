"""A running gateway with a webhook of each vendor, to which vendors' messages are sent."""

import json
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlencode
from uuid import uuid4

import httpx

from gateway.authoring.contracts.tree import read_tree
from gateway.authoring.project.changes import place
from gateway.authoring.project.drafts.events import (
    WebhookWish,
    draft_message,
    preset_names,
    preset_of,
)
from gateway.authoring.project.staging import OWN_PACKAGES, Project
from tests.eventually import PATIENCE_SECONDS
from tests.gateway_process import RunningGateway, run_gateway, running_gateway, until
from tests.presets.senders import PAYPAL_WEBHOOK, SENDERS, Letter, Sender, json_of

VERIFY_TOKEN: Final = "a-verify-token-of-the-tests"
ENVIRONMENT: Final = {
    "GATEWAY_SCHEMAS": "",
    "GATEWAY_WEBHOOKS_PAYPAL_WEBHOOK_ID": PAYPAL_WEBHOOK,
    "GATEWAY_WEBHOOKS_META_SIGNED_CHALLENGE_SECRET": VERIFY_TOKEN,
    "GATEWAY_MAX_WEBHOOK_BYTES": str(20 * 2**20),
}
_UNDONE: Final = {"pending", "processing"}
Sent = tuple[bytes, dict[str, str]]
"""The body of a request and its header fields."""


class Wrong(Exception):
    """What a gateway does is not what the vendor needs."""


class PresetTrial:
    """A gateway that has a webhook of each vendor."""

    def __init__(self, gateway: RunningGateway) -> None:
        self._gateway = gateway
        self._client = httpx.Client(timeout=PATIENCE_SECONDS)

    def close(self) -> None:
        self._client.close()

    def secret_of(self, vendor: str) -> str:
        """That which the gateway has made."""
        return (self._gateway.data / "webhook-secrets" / f"{vendor}-signed").read_text().strip()

    def url_of(self, vendor: str) -> str:
        return f"{self._gateway.url}/webhooks/{vendor}"

    def ask(self, method: str, vendor: str, **given: Any) -> httpx.Response:
        """A request that is no message."""
        return self._client.request(method, self.url_of(vendor), **given)

    def send(
        self,
        vendor: str,
        messages: list[Any],
        fields: dict[str, str],
        *,
        secret: str | None = None,
        at: int | None = None,
        changed: Callable[[bytes, dict[str, str]], Sent] | None = None,
    ) -> httpx.Response:
        """Sign messages as the vendor does, and send them. `changed` alters what was signed."""
        sender, url = SENDERS[vendor], self.url_of(vendor)
        secret = self.secret_of(vendor) if secret is None else secret
        at = int(time.time()) if at is None else at
        if sender.filled is not None:
            for each in messages:
                sender.filled(each, secret, at)
        body = _body_of(sender, messages)
        url += sender.addressed(body)
        number = fields.get(sender.id or "", "")
        letter = Letter(secret=secret, body=body, at=at, url=url, id=number)
        headers = {"Content-Type": sender.content_type, **fields, **sender.signed(letter)}
        if changed is not None:
            body, headers = changed(body, headers)
        return self._client.post(url, content=body, headers=headers)

    def message(
        self, vendor: str, number: str | int = "", kind: str = "", **members: Any
    ) -> tuple[list[Any], dict[str, str]]:
        """A message of the vendor's documents, and the header fields that belong to it."""
        sender, preset = SENDERS[vendor], preset_of(vendor)
        found = json.loads(json.dumps(preset.message)) | {"trial": uuid4().hex} | members
        fields: dict[str, str] = {}
        for at, text in (
            (sender.id, number or new_id(vendor)),
            (sender.type, kind or preset.event),
        ):
            if at is not None and at.startswith("/"):
                _set(found, at, text)
            elif at is not None:
                fields[at] = str(text)
        return [found], fields

    def stored(self, webhook_id: str) -> dict[str, Any]:
        """What an operator sees of a message."""
        url = f"{self._gateway.url}/operator/webhooks/{webhook_id}"
        answer = self._client.get(url, headers=self._gateway.authorization)
        if answer.status_code != 200:
            raise Wrong(f"an operator who looks at it gets {answer.status_code} {answer.text}")
        found: dict[str, Any] = answer.json()
        return found

    def processed(self, answer: httpx.Response) -> dict[str, Any]:
        """What an operator sees of a message that is done."""
        webhook_id = expect(answer, 202, "stored")["id"]
        until(lambda: self.stored(webhook_id)["state"] not in _UNDONE)
        found = self.stored(webhook_id)
        if found["state"] != "completed":
            raise Wrong(f"it ends as {found['state']}")
        return found


def new_id(vendor: str) -> str | int:
    """An id that no message of the vendor had."""
    return uuid4().int % 2**31 if vendor == "hubspot" else uuid4().hex


def expect(answer: httpx.Response, status: int, outcome: str | None = None) -> dict[str, Any]:
    """The answer. Raises `Wrong` if it is another."""
    found: dict[str, Any] = answer.json() if answer.text else {}
    if answer.status_code != status or found.get("outcome") != outcome:
        wanted = f"{status} {outcome or ''}".strip()
        raise Wrong(f"the answer is {answer.status_code} {answer.text}, not {wanted}")
    return found


def _body_of(sender: Sender, messages: list[Any]) -> bytes:
    if sender.is_form:
        return urlencode(messages[0]).encode()
    return json_of(messages[0] if sender.listed is None else sender.listed(messages))


def _set(message: dict[str, Any], pointer: str, value: Any) -> None:
    *way, last = pointer.split("/")[1:]
    for step in way:
        message = message[step]
    message[last] = value


def project_of_vendors(folder: Path, *names: str) -> None:
    """Draft webhooks of vendors in the project at `folder`."""
    staged = Project(
        folder=folder,
        schemas=folder / "schemas",
        handler_packages=OWN_PACKAGES,
        version="0",
        package="generated",
    )
    for name in names:
        wish = WebhookWish(name=name)
        place(folder, draft_message(staged, read_tree(staged.schemas), wish))


@contextmanager
def open_preset_trial(folder: Path) -> Iterator[PresetTrial]:
    """A project from nothing in `folder`, served on mocks."""
    run_gateway(folder, "init", "project", environment=ENVIRONMENT)
    project = folder / "project"
    project_of_vendors(project, *preset_names())
    run_gateway(project, "generate", environment=ENVIRONMENT)
    with (
        running_gateway(project, environment=ENVIRONMENT) as gateway,
        closing(PresetTrial(gateway)) as trial,
    ):
        yield trial
