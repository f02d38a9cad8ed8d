"""What operators see and do over REST: webhooks, the work they make, endpoints, the event log."""

import hashlib
import hmac
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from gateway.app import Gateway
from gateway.store.records import AuditRecord
from gateway.store.sql import events as stored_events
from tests.eventually import eventually
from tests.interaction.operated import operated
from tests.receivers import receiver

SECRET = "a secret of at least twenty-four bytes"
_READS = {"list", "show", "deliveries"}
PING = {"zen": "Keep it logically awesome.", "hook_id": 30}


class Desk:
    """An operator of a running gateway, and GitHub as its sender."""

    def __init__(self, gateway: Gateway, http: httpx.AsyncClient) -> None:
        self.gateway = gateway
        self.http = http

    async def send(self, payload: Any, event: str = "ping", message_id: str = "m-1") -> str:
        """The id of the webhook that `payload` became."""
        body = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
        signature = hmac.new(SECRET.encode(), body, hashlib.sha256).hexdigest()
        headers = {
            "x-hub-signature-256": f"sha256={signature}",
            "x-github-event": event,
            "x-github-delivery": message_id,
            "content-type": "application/json",
        }
        reply = await self.http.post("/webhooks/github", content=body, headers=headers)
        assert reply.status_code == 202, reply.text
        return str(reply.json()["id"])

    async def get(self, path: str, **query: Any) -> Any:
        reply = await self.http.get(f"/operator/{path}", params=query)
        assert reply.status_code == 200, reply.text
        return reply.json()

    async def post(self, path: str, body: Any = None) -> tuple[int, Any]:
        reply = await self.http.post(f"/operator/{path}", json=body)
        return reply.status_code, reply.json()

    async def ended(self, webhook_id: str) -> Any:
        async def look() -> Any:
            found = await self.get(f"webhooks/{webhook_id}")
            return found if found["state"] in {"completed", "dead_letter"} else None

        return await eventually(look)

    async def records(self) -> list[AuditRecord]:
        """What was recorded of operators' requests, the oldest first."""
        await self.gateway.parts.audit.flush()
        records = await self.gateway.parts.store.audit.latest(1000)
        of_start = "operator.keys.bootstrap"
        found = [each for each in records if each.transport == "operator"]
        return [each for each in found if each.operation != of_start][::-1]

    async def acts(self) -> list[tuple[str, str, int]]:
        """What was recorded of changes: operation, outcome and status, the oldest first."""
        found = [(each.operation, each.outcome, each.status) for each in await self.records()]
        return [each for each in found if each[0].rpartition(".")[2] not in _READS]


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Desk]:
    settings = {
        "GATEWAY_WEBHOOKS_GITHUB_SIGNED_SECRETS": SECRET,
        "GATEWAY_ENDPOINTS_ALLOW": "127.0.0.0/8",
    }
    async with operated(tmp_path, **settings) as (gateway, http), gateway.at_work():
        yield Desk(gateway, http)


async def test_an_idempotency_key_that_cannot_be_honoured_is_refused(desk):
    answer = await desk.http.post("/operator/endpoints", headers={"idempotency-key": "k1"}, json={})
    assert answer.status_code == 400
    assert "Idempotency-Key" in answer.json()["detail"]


async def test_a_webhook_is_listed_and_shown_with_its_payload_and_attempts(desk):
    webhook_id = await desk.send(PING)
    shown = await desk.ended(webhook_id)
    assert (shown["state"], shown["payload"], shown["event_type"]) == ("completed", PING, "ping")
    assert [each["outcome"] for each in shown["history"]] == ["completed"]
    [listed] = (await desk.get("webhooks", provider="github", state="completed"))["items"]
    assert listed["id"] == webhook_id
    assert "payload" not in listed
    assert (await desk.get("webhooks", provider="avinode"))["items"] == []


@pytest.mark.parametrize(
    ("body", "shown"),
    [(b'{"zen": 1, "zen": 2}', '{"zen": 1, "zen": 2}'), (b"zen=a+b\xff", "zen=a+b\ufffd")],
)
async def test_a_body_that_cannot_be_read_is_shown_as_text(desk, body, shown):
    webhook_id = await desk.send(body)
    found = await desk.get(f"webhooks/{webhook_id}")
    assert (found["state"], found["payload"]) == ("quarantined", shown)


async def test_pages_lead_to_each_other(desk):
    sent = [{**PING, "hook_id": number + 1} for number in range(5)]
    ids = [await desk.send(body, message_id=f"m-{body['hook_id']}") for body in sent]
    seen: list[str] = []
    page = await desk.get("webhooks", limit=2)
    while True:
        seen += [each["id"] for each in page["items"]]
        if page["next"] is None:
            break
        page = await desk.get("webhooks", limit=2, after=page["next"])
    assert seen == ids[::-1]


async def test_what_broke_its_contract_names_the_places_and_is_judged_again(desk):
    webhook_id = await desk.send({"hook_id": 0})
    [held] = (await desk.get("webhooks", state="quarantined"))["items"]
    assert [each["pointer"] for each in held["refusals"]] == ["/hook_id"]
    status, verdict = await desk.post(f"webhooks/{webhook_id}/revalidate")
    assert (status, verdict["accepted"]) == (200, False)
    assert verdict["refusals"] == held["refusals"]


async def test_only_what_is_quarantined_is_judged_again(desk):
    webhook_id = await desk.send(PING)
    await desk.ended(webhook_id)
    status, problem = await desk.post(f"webhooks/{webhook_id}/revalidate")
    assert (status, problem["code"]) == (409, "CONFLICT")


async def test_completed_work_is_repeated_by_force_alone_and_recorded_before(desk):
    webhook_id = await desk.send(PING)
    first = (await desk.ended(webhook_id))["job"]["id"]
    status, problem = await desk.post(f"webhooks/{webhook_id}/replay")
    assert (status, problem["code"]) == (409, "CONFLICT")
    status, made = await desk.post(f"webhooks/{webhook_id}/replay", {"force": True})
    assert status == 202
    assert (made["job"]["replay_of"], made["job"]["actor"]) == (first, "administrator")
    again = await desk.ended(webhook_id)
    assert again["job"]["id"] == made["job"]["id"]
    assert await desk.acts() == [
        ("operator.webhooks.replay", "CONFLICT", 409),
        ("operator.webhooks.replay", "ok", 200),
    ]


async def test_a_job_that_has_ended_is_not_cancelled(desk):
    job = (await desk.ended(await desk.send(PING)))["job"]
    status, problem = await desk.post(f"jobs/{job['id']}/cancel")
    assert (status, problem["code"]) == (409, "CONFLICT")
    assert "is completed" in problem["detail"]
    assert (await desk.get(f"jobs/{job['id']}"))["history"]


async def test_what_is_not_there_is_said_to_be_so(desk):
    for path in ("webhooks/no-such", "jobs/no-such", "endpoints/no-such"):
        reply = await desk.http.get(f"/operator/{path}")
        assert (reply.status_code, reply.json()["code"]) == (404, "PATH_NOT_FOUND"), path
        assert reply.json()["detail"].startswith("There is no ")


REFUSED: list[tuple[Any, str]] = [
    ({"limit": "0"}, "/limit"),
    ({"limit": "201"}, "/limit"),
    ({"limit": "many"}, "/limit"),
    ({"state": "done"}, "/state"),
    ({"colour": "red"}, ""),
    ([("limit", "1"), ("limit", "2")], "/limit"),
]


async def test_a_query_that_cannot_be_meant_is_refused_at_its_place(desk):
    for query, pointer in REFUSED:
        reply = await desk.http.get("/operator/webhooks", params=query)
        assert reply.status_code == 422, query
        assert [each["pointer"] for each in reply.json()["errors"]] == [pointer]


async def test_a_body_that_cannot_be_meant_changes_nothing(desk):
    webhook_id = await desk.send(PING)
    await desk.ended(webhook_id)
    expected = []
    for body in (b"{", b'{"force":1}', b"[]", b'{"force":true,"x":1}', b"\xff"):
        reply = await desk.http.post(f"/operator/webhooks/{webhook_id}/replay", content=body)
        assert reply.status_code in {400, 422}, body
        assert (await desk.get(f"webhooks/{webhook_id}"))["job"]["replay_of"] is None
        expected.append(("operator.webhooks.replay", "VALIDATION_ERROR", reply.status_code))
    assert await desk.acts() == expected


async def test_who_is_no_operator_finds_nothing_here(desk):
    key = await desk.gateway.parts.keys.create("flight_search", "")
    for method, path in (
        ("GET", "audit"),
        ("GET", "audit/some"),
        ("GET", "webhooks"),
        ("GET", "jobs"),
        ("GET", "endpoints"),
        ("GET", "events"),
        ("POST", "endpoints"),
        ("POST", "webhooks/some/replay"),
        ("DELETE", "endpoints/some"),
    ):
        mine = {"authorization": f"Bearer {key.key}"}
        reply = await desk.http.request(method, f"/operator/{path}", headers=mine)
        assert (reply.status_code, reply.json()["code"]) == (404, "PATH_NOT_FOUND"), path
        nobody = {"authorization": ""}
        reply = await desk.http.request(method, f"/operator/{path}", headers=nobody)
        assert reply.status_code == 401, path


async def test_an_endpoints_secret_is_shown_once(desk):
    asked = {"url": "http://127.0.0.1:9/hooks?token=canary-4b1d", "event_types": ["gateway.code.*"]}
    status, added = await desk.post("endpoints", asked)
    assert (status, added["state"]) == (201, "active")
    assert added["secret"].startswith("whsec_")
    [listed] = (await desk.get("endpoints"))["items"]
    assert {"secret", "previous_secret"}.isdisjoint(listed)
    status, rotated = await desk.post(f"endpoints/{added['id']}/rotate", {"grace_seconds": 60})
    assert (status, rotated["secret"] != added["secret"]) == (200, True)
    records = await desk.gateway.parts.store.audit.latest(100)
    assert "canary-4b1d" not in repr(records)
    assert added["secret"] not in repr(records)


async def test_an_endpoint_is_tested_disabled_enabled_and_removed(desk):
    _, added = await desk.post("endpoints", {"url": "http://127.0.0.1:9/hooks"})
    path = f"endpoints/{added['id']}"
    status, tested = await desk.post(f"{path}/test")
    assert (status, tested["is_success"]) == (200, False)
    assert (await desk.post(f"{path}/disable"))[1]["state"] == "disabled"
    assert (await desk.post(f"{path}/enable"))[1]["state"] == "active"
    assert (await desk.get(f"{path}/deliveries"))["items"] == []
    assert (await desk.http.delete(f"/operator/{path}")).status_code == 200
    assert (await desk.http.get(f"/operator/{path}")).status_code == 404
    verbs = [operation.rpartition(".")[2] for operation, _, _ in await desk.acts()]
    assert verbs == ["add", "test", "disable", "enable", "remove"]


async def test_an_endpoints_filter_is_checked_shown_changed_and_recorded(desk):
    only = {"properties": {"reason": {"const": "gone"}}, "required": ["reason"]}
    asked = {
        "url": "http://127.0.0.1:9/hooks",
        "event_types": ["gateway.endpoint.disabled.v1"],
        "filter": only,
    }
    status, added = await desk.post("endpoints", asked)
    assert (status, added["filter"]) == (201, only)
    status, problem = await desk.post("endpoints", {**asked, "filter": {"pattern": "x"}})
    assert (status, problem["errors"][0]["pointer"]) == (422, "/filter/pattern")
    path = f"/operator/endpoints/{added['id']}"
    for wrong in ({"properties": {"reason": {"const": "cold"}}, "required": ["reason"]}, {}, 7):
        reply = await desk.http.patch(path, json={"filter": wrong})
        assert (reply.status_code, reply.json()["errors"][0]["pointer"]) == (422, "/filter")
    reply = await desk.http.patch(path, json={"filter": None})
    assert (reply.status_code, reply.json()["filter"]) == (200, None)
    reply = await desk.http.patch("/operator/endpoints/none", json={"filter": None})
    assert reply.status_code == 404
    records = [each for each in await desk.records() if each.operation.endswith(("add", "change"))]
    assert records[0].arguments["filter"] == only
    changed = [each.outcome for each in records if each.operation.endswith("change")]
    assert changed == ["VALIDATION_ERROR"] * 3 + ["ok", "PATH_NOT_FOUND"]


async def test_no_answer_and_no_record_has_the_value_of_an_endpoints_header(desk, caplog):
    canary = "canary-7d20c1"
    own = {"Authorization": f"Bearer {canary}", "x-edge": canary}
    status, added = await desk.post(
        "endpoints", {"url": "http://127.0.0.1:9/hooks", "headers": own}
    )
    shown = {"authorization": "<redacted>", "x-edge": "<redacted>"}
    assert (status, added["headers"]) == (201, shown)
    [listed] = (await desk.get("endpoints"))["items"]
    path = f"/operator/endpoints/{added['id']}"
    said = [added, listed, await desk.get(f"endpoints/{added['id']}")]
    assert [each["headers"] for each in said] == [shown] * 3
    for wrong in ({"host": canary}, {"x-edge": f"{canary}\n"}, {"x-edge": [canary]}, [canary]):
        reply = await desk.http.patch(path, json={"headers": wrong})
        assert reply.status_code == 422
        said.append(reply.json())
    reply = await desk.http.patch(path, json={"headers": {"x-other": canary}})
    assert reply.json()["headers"] == {"x-other": "<redacted>"}
    await desk.post(f"endpoints/{added['id']}/test")
    records = await desk.records()
    [made] = [each for each in records if each.operation.endswith("endpoints.add")]
    assert made.arguments["headers"] == ["Authorization", "x-edge"]
    assert canary not in repr([*said, reply.text, records, caplog.text])


async def test_a_replay_goes_through_pages_and_is_recorded_as_one(desk, monkeypatch):
    monkeypatch.setattr(stored_events, "REPLAYED_AT_ONCE", 1)
    async with receiver() as (port, got):
        _, added = await desk.post("endpoints", {"url": f"http://127.0.0.1:{port}/"})
        for number in range(2):
            await desk.ended(
                await desk.send(PING | {"hook_id": number + 1}, message_id=f"{number}")
            )
        path, body = f"endpoints/{added['id']}/replay", {"since": "2020-01-01T00:00:00Z"}
        status, first = await desk.post(path, body)
        assert (status, first["started"] + first["skipped"]) == (202, 1)
        pages = [first]
        while pages[-1]["next"] is not None:
            pages.append((await desk.post(path, body | {"after": pages[-1]["next"]}))[1])
        assert {each["replay"] for each in pages} == {first["replay"]}
        [contract] = (await desk.get("events", after=0, types="gateway.contract.*"))["items"]

        async def look() -> Any:
            return [each for each in got if each.headers["webhook-id"] == contract["id"]]

        assert await eventually(look)
    records = [each for each in await desk.records() if each.operation.endswith("replay")]
    assert len(records) == len(pages)
    assert records[0].arguments == {
        "endpoint_id": added["id"],
        "since": "2020-01-01T00:00:00Z",
        "until": None,
        "replay": first["replay"],
        "started": first["started"],
        "skipped": first["skipped"],
    }


@pytest.mark.parametrize(
    ("body", "place"),
    [
        ({}, ""),
        ({"since": "yesterday"}, "/since"),
        ({"since": "2026-01-01T00:00:00"}, "/since"),
        ({"since": "2026-01-02T00:00:00Z", "until": "2026-01-01T00:00:00Z"}, "/until"),
        ({"since": "2026-01-01T00:00:00Z", "after": "x"}, "/after"),
    ],
)
async def test_a_replay_of_no_time_names_the_place(desk, body, place):
    _, added = await desk.post("endpoints", {"url": "http://127.0.0.1:9/"})
    status, problem = await desk.post(f"endpoints/{added['id']}/replay", body)
    assert (status, [each["pointer"] for each in problem["errors"]]) == (422, [place])
    [recorded] = [each for each in await desk.records() if each.operation.endswith("replay")]
    assert recorded.outcome == "VALIDATION_ERROR"


async def test_a_replay_needs_an_endpoint_that_is_active(desk):
    _, added = await desk.post("endpoints", {"url": "http://127.0.0.1:9/"})
    since = {"since": "2020-01-01T00:00:00Z"}
    status, problem = await desk.post("endpoints/none/replay", since)
    assert (status, problem["detail"]) == (404, "There is no endpoint with this id.")
    await desk.post(f"endpoints/{added['id']}/disable")
    status, problem = await desk.post(f"endpoints/{added['id']}/replay", since)
    assert status == 409
    assert "enable it" in problem["detail"]


async def test_an_endpoint_that_may_not_be_reached_is_refused_and_recorded_so(desk):
    status, problem = await desk.post("endpoints", {"url": "https://169.254.169.254/latest"})
    assert (status, problem["code"]) == (422, "VALIDATION_ERROR")
    assert problem["errors"][0]["pointer"] == "/url"
    assert await desk.acts() == [("operator.endpoints.add", "VALIDATION_ERROR", 422)]
    assert (await desk.get("endpoints"))["items"] == []


async def test_the_log_goes_on_from_a_position(desk):
    await desk.ended(await desk.send(PING))

    async def look() -> Any:
        return (await desk.get("events", after=0))["items"] or None

    [first, *_] = await eventually(look)
    assert first["type"] == "gateway.contract.changed.v1"
    newest = (await desk.get("events"))["next"]
    assert await desk.get("events", after=newest) == {"items": [], "next": newest}
    assert (await desk.get("events", after=0, types="gateway.quote.*"))["items"] == []


async def test_who_reads_the_payload_of_a_webhook_is_recorded_and_the_payload_is_not(desk):
    webhook_id = await desk.send(PING)
    await desk.get(f"webhooks/{webhook_id}")
    await desk.http.get("/operator/webhooks/%1b[31m" + "x" * 500)
    shown = [each for each in await desk.records() if each.operation == "operator.webhooks.show"]
    read, missed = shown[-2:]
    assert (read.outcome, read.agent, read.arguments) == (
        "ok",
        "administrator",
        {"webhook_id": webhook_id},
    )
    assert (missed.outcome, missed.status) == ("PATH_NOT_FOUND", 404)
    assert len(missed.arguments["webhook_id"]) <= 200
    assert missed.arguments["webhook_id"].startswith("\\x1b")
    assert "logically" not in repr(shown)


async def test_lists_that_programs_poll_are_recorded_once_a_minute_and_refusals_always(desk):
    for _ in range(5):
        await desk.get("events")
        refused = await desk.http.get("/operator/events", params={"limit": "0"})
        assert refused.status_code == 422
    outcomes = [each.outcome for each in await desk.records()]
    assert sorted(outcomes) == ["VALIDATION_ERROR"] * 5 + ["ok"]


async def test_a_poll_that_is_refused_does_not_stand_for_those_that_succeed(desk):
    for limit in ("0", "1", "1"):
        await desk.http.get("/operator/events", params={"limit": limit})
    assert [each.outcome for each in await desk.records()] == ["VALIDATION_ERROR", "ok"]


async def test_the_audit_is_read_in_pages_by_who_what_and_outcome(desk):
    _, refused = await desk.post("endpoints", {"url": 1})
    for _ in range(3):
        await desk.gateway.call("example.greet", {"name": "Ada"})
    await desk.gateway.parts.audit.flush()
    first = await desk.get("audit", operation="example.*", limit=2)
    second = await desk.get("audit", operation="example.*", limit=2, after=first["next"])
    found = [*first["items"], *second["items"]]
    assert [each["arguments"] for each in found] == [{"name": "Ada"}] * 3
    assert second["next"] is None
    [failed] = (await desk.get("audit", outcome="error", agent="administrator"))["items"]
    assert failed["request_id"] == refused["request_id"]
    assert await desk.get(f"audit/{failed['id']}") == failed
    assert (await desk.get("audit", until="2020-01-01T00:00:00Z"))["items"] == []
    reply = await desk.http.get("/operator/audit", params={"since": "yesterday"})
    assert [each["pointer"] for each in reply.json()["errors"]] == ["/since"]
