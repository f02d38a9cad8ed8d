"""From a stored message to rows, events and calls, through the whole gateway and on each engine."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from gateway.app import Gateway
from gateway.contract.fields.fieldmap import entity_id
from gateway.contract.values import jsontext
from gateway.settings import read_settings
from gateway.store.records import Mismatch, NewWebhook, Page, StoredEvent
from gateway.store.tables import EVENTS
from tests.eventually import PATIENCE_SECONDS
from tests.gateway_process import EXAMPLES_BEGIN, REPOSITORY
from tests.work import job_counts

ENDED = {"completed", "dead_letter", "cancelled", "quarantined"}


EACH_ENGINE = pytest.mark.parametrize(
    "url", ["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)], indirect=True
)
"""Without it, a test works on SQLite."""


@pytest.fixture
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if getattr(request, "param", "sqlite") == "sqlite":
        return f"sqlite:///{tmp_path}/gateway.db"
    return str(request.getfixturevalue("postgres_url"))


@asynccontextmanager
async def gateway_at(url: str, data: Path, **environ: str) -> AsyncIterator[Gateway]:
    own = {"GATEWAY_DATA": str(data), "GATEWAY_MOCK_TIME": EXAMPLES_BEGIN}
    given = {"GATEWAY_DATABASE_URL": url} | own | environ
    async with Gateway.open(read_settings(given, None, {})) as gateway, gateway.at_work():
        yield gateway


@pytest.fixture
async def gateway(url: str, tmp_path: Path) -> AsyncIterator[Gateway]:
    async with gateway_at(url, tmp_path) as opened:
        yield opened


def payload(event: str, **changes: Any) -> dict[str, Any]:
    """The example of the contract, with some members otherwise."""
    path = REPOSITORY / "schemas" / "webhooks" / "avinode" / f"{event}.payload.json"
    example: dict[str, Any] = json.loads(path.read_bytes())["examples"][0]
    return example | changes


def arrival(event: str, profile: str = "signed", **changes: Any) -> NewWebhook:
    body = payload(event, **changes)
    return NewWebhook(
        provider="avinode",
        profile=profile,
        message_id=str(body.get("event_id", body.get("id"))),
        event_type=event,
        body=jsontext.encode(body),
        headers={},
        contract="",
    )


async def receive(gateway: Gateway, *group_commit: NewWebhook) -> list[str]:
    return [each.webhook_id for each in await gateway.parts.store.inbox.receive(group_commit)]


async def settled(gateway: Gateway) -> None:
    """Return when there is nothing left to do."""
    gateway.parts.work.wake()
    async with asyncio.timeout(PATIENCE_SECONDS):
        while not await _is_idle(gateway):  # noqa: ASYNC110 - the worker's own pace
            await asyncio.sleep(0.02)


async def _is_idle(gateway: Gateway) -> bool:
    depths = await job_counts(gateway.parts.store)
    return all(state in ENDED for (_, state), number in depths.items() if number)


async def rows(gateway: Gateway, kind: str) -> list[dict[str, Any]]:
    found, _ = await gateway.parts.store.entities.page(kind, {}, 200, None)
    return found


async def events(gateway: Gateway, kind: str) -> list[StoredEvent]:
    log = gateway.parts.store.events
    async with asyncio.timeout(PATIENCE_SECONDS):
        # The worker numbers events too. While it does, this call numbers none.
        while await _has_unplaced_events(gateway):
            await log.sequence(500)
    return await log.after(0, 500, [f"gateway.{kind}.*"])


async def _has_unplaced_events(gateway: Gateway) -> bool:
    unplaced = select(EVENTS.c.seq).where(EVENTS.c.position.is_(None)).limit(1)
    database = gateway.parts.store.database
    found = await database.read(lambda connection: connection.execute(unplaced))
    return found.first() is not None


async def records(gateway: Gateway) -> list[str]:
    latest = await gateway.parts.store.audit.latest(500)
    return sorted(each.operation for each in latest if each.transport == "webhook")


@EACH_ENGINE
async def test_a_quote_becomes_a_chat_of_three(gateway: Gateway) -> None:
    (webhook_id,) = await receive(gateway, arrival("quote_received"))
    await settled(gateway)

    quote_id = entity_id("quotes", {"avinode_quote_id": "aquote-10000001"})
    (quote,) = await rows(gateway, "quotes")
    (conversation,) = await rows(gateway, "conversations")
    (message,) = await rows(gateway, "messages")
    (operator,) = await rows(gateway, "operator_profiles")
    assert (quote["id"], quote["price"], quote["webhook_id"]) == (quote_id, 48200, webhook_id)
    assert quote["operator_profile_id"] == operator["id"]
    assert conversation["quote_id"] == message["quote_id"] == quote_id
    assert message["conversation_id"] == conversation["id"]
    (event,) = await events(gateway, "quote")
    assert (event.subject, event.data["row_id"]) == ("aquote-10000001", quote_id)
    assert await records(gateway) == ["avinode.quote_received"]


@EACH_ENGINE
async def test_repeating_it_by_force_repeats_no_effect(gateway: Gateway) -> None:
    (webhook_id,) = await receive(gateway, arrival("quote_received"))
    await settled(gateway)
    kinds = ("quotes", "messages", "conversations", "operator_profiles", "requests")
    before = {kind: await rows(gateway, kind) for kind in kinds}
    queue, inbox = gateway.parts.store.queue, gateway.parts.store.inbox
    for _ in range(2):
        found = await inbox.find(webhook_id)
        assert found is not None
        assert await queue.redrive(found.job.id, "ada") is None, "only by force"
        assert await queue.redrive(found.job.id, "ada", force=True) is not None
        await settled(gateway)
    after = {kind: await rows(gateway, kind) for kind in kinds}
    for kind in kinds:
        without = [{**row, "updated_at": None} for row in after[kind]]
        assert without == [{**row, "updated_at": None} for row in before[kind]]
    assert len(await events(gateway, "quote")) == 1
    assert len(await records(gateway)) == 3, "each attempt set leaves its own record"


STORY = (
    arrival("quote_received", timestamp="2026-11-20T14:00:00Z"),
    arrival("quote_updated", timestamp="2026-11-20T15:00:00Z"),
    arrival("quote_accepted", timestamp="2026-11-20T16:00:00Z"),
)


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 2, 0), (2, 0, 1, 2, 0)])
async def test_events_that_arrive_late_and_twice_end_in_the_same_row(
    tmp_path: Path, order: tuple[int, ...]
) -> None:
    async with gateway_at("memory:", tmp_path) as gateway:
        for number in order:
            await receive(gateway, STORY[number])
            await settled(gateway)
        (quote,) = await rows(gateway, "quotes")
        quote_events = await events(gateway, "quote")
    assert quote["status"] == "accepted"
    assert quote["valid_until"] == "2026-11-26T14:42:00Z", "what the update said"
    assert quote["occurred_at"] == "2026-11-20T16:00:00Z"
    assert len(quote_events) == len(STORY)


async def test_a_notification_is_mailed_once(url: str, tmp_path: Path) -> None:
    desk = {"GATEWAY_WEBHOOKS_AVINODE_NOTIFICATION_EMAIL": "desk@example.org"}
    async with gateway_at(url, tmp_path, **desk) as gateway:
        await receive(gateway, arrival("quote_accepted"))
        await settled(gateway)
        (event,) = await events(gateway, "job")
        assert event.type == "gateway.job.completed.v1", event.data
        assert event.data["operation"] == "gmail.send_template_email"
        await gateway.parts.audit.flush()
        calls = await gateway.parts.store.audit.latest(500)
    assert [each.outcome for each in calls if each.operation.startswith("gmail.")] == ["ok"]


async def test_what_cannot_be_worked_off_is_a_dead_letter_that_is_announced(
    gateway: Gateway,
) -> None:
    late = arrival("quote_received", timestamp="0001-01-01T00:00:00Z")
    (webhook_id,) = await receive(gateway, late)
    await settled(gateway)
    found = await gateway.parts.store.inbox.find(webhook_id)
    assert found is not None
    assert (found.job.state, found.job.error) == ("dead_letter", "unmappable")
    (event,) = await events(gateway, "webhook")
    assert event.type == "gateway.webhook.dead_lettered.v1"
    assert (event.subject, event.data["error"]) == (webhook_id, "unmappable")
    assert await rows(gateway, "quotes") == []


async def test_a_quarantined_message_is_worked_off_when_it_is_admitted(gateway: Gateway) -> None:
    body = arrival("quote_received")
    quarantined = NewWebhook(
        **{name: getattr(body, name) for name in body.__struct_fields__ if name != "refusals"},
        refusals=(Mismatch(pointer="/price", detail="is required"),),
    )
    (webhook_id,) = await receive(gateway, quarantined)
    await settled(gateway)
    assert await rows(gateway, "quotes") == []
    verdict = await gateway.parts.work.quarantine.reconsider(webhook_id)
    assert verdict is not None
    assert verdict.is_admitted
    await settled(gateway)
    assert len(await rows(gateway, "quotes")) == 1


async def test_a_pointer_is_followed_to_the_mock_and_its_quotes_arrive(
    url: str, tmp_path: Path
) -> None:
    async with gateway_at(url, tmp_path, GATEWAY_MOCK_SPEED="100000") as gateway:
        rfq = await _request_with_quotes(gateway)
        await receive(gateway, arrival("rfqs", "pointer", id=rfq, event_id="pointer-1"))
        await settled(gateway)
        await receive(gateway, arrival("rfqs", "pointer", id=rfq, event_id="pointer-2"))
        await settled(gateway)
        quotes = await rows(gateway, "quotes")
        assert quotes
        assert len(await events(gateway, "quote")) == len(quotes)
        inbox = gateway.parts.store.inbox
        derived = [each for each in await inbox.list(Page(200)) if each.derived_from is not None]
        assert len(derived) == len(quotes), "what was found twice is stored once"
        assert {each.job.state for each in derived} == {"completed"}


async def _request_with_quotes(gateway: Gateway) -> str:
    document = json.loads((REPOSITORY / "generated" / "openapi.json").read_bytes())
    body = document["paths"]["/v1/avinode/create_rfp"]["post"]["requestBody"]["content"]
    example = next(iter(body["application/json"]["examples"].values()))["value"]
    created = await gateway.call("avinode.create_rfp", example)
    asked = {"rfp_id": str(created["rfp_id"])}
    async with asyncio.timeout(PATIENCE_SECONDS):
        while (await gateway.call("avinode.get_quote_status", asked))["pending"]:  # noqa: ASYNC110 - time of the mock
            await asyncio.sleep(0.02)
    return asked["rfp_id"]
