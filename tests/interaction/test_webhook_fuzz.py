"""Whatever is sent to the webhook endpoint, signed or not, the answer is never an error of ours."""

import asyncio
import json
import time
from ipaddress import ip_network
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from litestar import Litestar

from gateway.bounds.addresses import Networks
from gateway.clock import SystemClock
from gateway.transports.http.edge import Edge, EdgeRules
from gateway.transports.http.heads import HostRules
from gateway.transports.http.senders import Peers
from gateway.transports.webhooks import WebhookEndpoint, webhook_route
from gateway.webhooks.ingest import GroupCommit, Ingest
from tests.webhook_sources import ACME, HUB, STANDARD, ListInbox, credentials_of, open_sources

SOURCES = {source.provider: source for source in (ACME, STANDARD, HUB)}
NAMES = [
    "x-acme-signature",
    "x-acme-timestamp",
    "webhook-id",
    "webhook-timestamp",
    "webhook-signature",
    "x-hub-event",
    "x-hub-delivery",
    "authorization",
    "x-forwarded-for",
    "content-type",
    "content-length",
    "content-encoding",
    "user-agent",
]
SCALARS = (
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(codec=None))
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(), inner, max_size=5),
    max_leaves=20,
)
MESSAGES = st.fixed_dictionaries(
    {},
    optional={
        "event_type": st.sampled_from(["thing_made", "thing_seen", "x"]) | VALUES,
        "event_id": st.text() | VALUES,
        "thing": st.text() | VALUES,
        "type": VALUES,
        "count": VALUES,
    },
)
BODIES = st.binary() | (MESSAGES | VALUES).map(lambda value: json.dumps(value).encode())
PEERS = Peers(Networks([ip_network("127.0.0.1")]))
FIELDS = st.lists(st.tuples(st.sampled_from(NAMES), st.binary(max_size=50)), max_size=4)


async def status_of(provider: str, method: str, body: bytes, fields: Any) -> tuple[int, bytes]:
    """The answer's status and body."""
    clock = SystemClock()
    group_commit = GroupCommit(ListInbox())
    endpoint = WebhookEndpoint(Ingest(open_sources(clock), group_commit, clock))
    litestar = Litestar([webhook_route(endpoint)], openapi_config=None, logging_config=None)
    edge = Edge(litestar, EdgeRules(hosts=HostRules(("gateway.test",), ()), peers=PEERS))
    sent: list[Any] = []

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(message: Any) -> None:
        sent.append(message)

    path = f"/webhooks/{provider}"
    scope = {
        "type": "http",
        "http_version": "1.1",
        "method": method,
        "scheme": "http",
        "path": path,
        "raw_path": path.encode(),
        "root_path": "",
        "query_string": b"",
        "client": ("127.0.0.1", 1),
        "server": ("127.0.0.1", 2),
        "headers": [(b"host", b"gateway.test"), (b"content-type", b"application/json"), *fields],
    }
    await edge(scope, receive, send)
    await group_commit.close()
    return sent[0]["status"], sent[-1]["body"]


@given(
    st.sampled_from([*SOURCES, "nobody"]),
    st.sampled_from(["POST", "GET", "PUT", "OPTIONS"]),
    BODIES,
    FIELDS,
)
def test_what_nobody_signed_is_refused(provider, method, body, fields) -> None:
    raw = [(name.encode(), value) for name, value in fields]
    status, answer = asyncio.run(status_of(provider, method, body, raw))
    if status == 204:
        assert method == "OPTIONS"
    else:
        assert 400 <= status < 500
        assert json.loads(answer)["status"] == status


@pytest.mark.parametrize("provider", SOURCES)
@given(BODIES, st.text(st.characters(codec="latin-1"), max_size=300))
def test_what_is_signed_is_taken_or_refused_as_the_senders_mistake(
    provider, body, message_id
) -> None:
    fields = credentials_of(SOURCES[provider], body, time.time())
    if provider == "hub":
        fields["x-hub-delivery"] = message_id
        fields["x-hub-event"] = message_id
    raw = [(name.encode(), value.encode("latin-1")) for name, value in fields.items()]
    status, answer = asyncio.run(status_of(provider, "POST", body, raw))
    assert status in {202, 400}, answer
