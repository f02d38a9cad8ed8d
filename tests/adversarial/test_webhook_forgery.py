"""Webhooks that their provider did not send, or did not send now."""

import json
import time
from collections.abc import AsyncIterator

import pytest

from tests.interaction.webhook_site import PAYLOAD, WebhookSite, serving_webhooks
from tests.webhook_sources import ACME, HUB, RETIRED_SECRET, STANDARD, credentials_of

BODY = json.dumps(PAYLOAD).encode()
PATHS = {"/webhooks/acme": ACME, "/webhooks/plain": STANDARD, "/webhooks/hub": HUB}
DAY = 86_400


@pytest.fixture
async def site() -> AsyncIterator[WebhookSite]:
    """Three providers, one for each scheme of signatures."""
    async with serving_webhooks() as running:
        yield running


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.attack(
    "a message without a signature, with that of another body, of another provider or of a retired "
    "secret, with one that is changed by a character, cut, empty, doubled or not ASCII",
    required="401 without a reason that would help, nothing is stored; the authentic message is "
    "taken afterwards",
)
async def test_forged_signatures(site: WebhookSite, path: str) -> None:
    source, now = PATHS[path], time.time()
    good = credentials_of(source, BODY, now)
    field = next(name for name in good if "signature" in name)
    value = good[field]
    # A digit: hexadecimal letters mean the same in both cases.
    last = "0" if value[-2] != "0" else "1"
    forged = [
        {name: text for name, text in good.items() if name != field},
        credentials_of(source, BODY + b" ", now),
        credentials_of(source, BODY, now, secret=RETIRED_SECRET),
        *(
            good | {field: changed}
            for changed in (
                value[:-2] + last + value[-1],
                value[:-1],
                value[: len(value) // 2],
                "",
                " ",
                value.swapcase() if source is STANDARD else value[::-1],
                f"{value}\u00e9",
                "0" * 1000,
            )
        ),
    ]
    for fields in forged:
        answer = await site.post(BODY, fields, path=path)
        assert answer.status in {400, 401}, fields
    doubled = [*good.items(), (field, value)]
    assert (await site.post(BODY, doubled, path=path)).status in {400, 401}
    assert site.inbox.stored == []
    assert (await site.post(BODY, good, path=path)).status == 202
    assert len(site.inbox.stored) == 1


@pytest.mark.parametrize("path", ["/webhooks/acme", "/webhooks/plain"])
@pytest.mark.attack(
    "an authentic message of long ago, or one dated ahead, with its valid signature",
    required="outside of the window around the present it is refused and nothing is stored",
)
async def test_messages_outside_of_their_window(site: WebhookSite, path: str) -> None:
    source, now = PATHS[path], time.time()
    for moment in (now - DAY, now - 3600, now + 3600, now + DAY, 0):
        answer = await site.post(BODY, credentials_of(source, BODY, moment), path=path)
        assert answer.status in {400, 401}, moment
    assert site.inbox.stored == []


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.attack(
    "the body of an authentic message is exchanged or extended on its way",
    required="401, and nothing is stored",
)
async def test_bodies_that_are_exchanged(site: WebhookSite, path: str) -> None:
    good = credentials_of(PATHS[path], BODY, time.time())
    for body in (b"{}", BODY + b" ", BODY.replace(b":", b": ", 1), b" " + BODY):
        assert (await site.post(body, good, path=path)).status == 401, body
    assert site.inbox.stored == []
