"""What is kept of a connection's last head never changes what becomes of a request."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.errors import UnsupportedMediaType
from gateway.trace_context import current_trace
from gateway.transports.http.asgi import of_head, request_id_of, respond
from gateway.transports.http.connected import Client, name_client
from gateway.transports.http.content import accepts, require_json_body
from gateway.transports.http.edge import Edge
from gateway.transports.http.senders import shown_credentials
from tests.unit.transports.http.test_edge import RULES

FIRST = [
    (b"host", b"gateway.test"),
    (b"authorization", b"Bearer abcdefghijklmnopqrstuvwxyz"),
    (b"content-type", b"application/json"),
    (b"content-length", b"2"),
]


async def report(scope: Any, receive: Any, send: Any) -> None:
    """Answers with all that the inner layers read from the head."""
    try:
        require_json_body(scope)
        is_json = True
    except UnsupportedMediaType:
        is_json = False
    found = (
        shown_credentials(scope).bearer,
        is_json,
        accepts(scope, "application/json"),
        of_head(scope, names_in),
        current_trace.get(),
    )
    await respond(send, 200, repr(found).encode())


def names_in(headers: list[tuple[bytes, bytes]]) -> list[bytes]:
    """What another module may read."""
    return sorted(name for name, _ in headers)


async def outcome(edge: Edge, client: Client | None, head: dict[str, Any]) -> Any:
    """The status and the body of an answer, without what differs from request to request."""
    sent: list[Any] = []
    scope = {"type": "http", "http_version": "1.1", "path": "/v1/a", "raw_path": b"/v1/a", **head}
    scope["headers"] = list(scope["headers"])
    if client is not None:
        name_client(scope, client)

    async def receive() -> Any:
        return {"type": "http.request", "body": b"{}", "more_body": False}

    async def send(message: Any) -> None:
        sent.append(message)

    await edge(scope, receive, send)
    own_id = request_id_of(scope).encode()
    return sent[0]["status"], sent[1]["body"].replace(own_id, b"<id>")


def post(*headers: tuple[bytes, bytes], method: str = "POST", **more: Any) -> dict[str, Any]:
    return {"method": method, "headers": headers, **more}


FIELDS = st.sampled_from(
    [
        *FIRST,
        (b"content-length", b"3"),
        (b"content-length", b"0"),
        (b"content-length", b"x"),
        (b"content-length", b""),
        (b"content-length", b"10000"),
        (b"transfer-encoding", b"chunked"),
        (b"host", b"elsewhere.test"),
        (b"host", b"GATEWAY.test"),
        (b"host", b"127.0.0.1"),
        (b"origin", b"https://elsewhere.test"),
        (b"content-encoding", b"gzip"),
        (b"content-type", b"text/plain"),
        (b"content-type", b" application/json "),
        (b"accept", b"text/html"),
        (b"authorization", b"Bearer another-key-of-somebody-else"),
        (b"authorization", b"Bearer"),
        (b"x-request-id", b"mine"),
        (b"traceparent", b"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"),
        (b"x-filler", b"x" * 200),
    ]
)
LOCAL = [(b"host", b"127.0.0.1"), *FIRST[1:]]
"""Probes may have this host, and calls may not."""
HEADS = st.builds(post, *[st.sampled_from([field]) for field in FIRST]) | st.builds(
    lambda fields, method, path: post(*fields, method=method, path=path, raw_path=path.encode()),
    st.lists(FIELDS, max_size=7) | st.permutations(FIRST) | st.just(LOCAL),
    st.sampled_from(["POST", "GET", "HEAD", "OPTIONS"]),
    st.sampled_from(["/v1/a", "/readyz"]),
)


@given(heads=st.lists(HEADS, min_size=2, max_size=6))
async def test_a_request_is_judged_as_on_a_connection_of_its_own(heads: list[Any]) -> None:
    edge, client = Edge(report, RULES), Client()
    for head in heads:
        alone = await outcome(edge, None, head)
        assert await outcome(edge, client, head) == alone


async def test_the_head_of_a_probe_opens_no_other_path() -> None:
    edge, client = Edge(report, RULES), Client()
    probe = post(*LOCAL, path="/readyz", raw_path=b"/readyz")
    call = post(*LOCAL, path="/v1/a", raw_path=b"/v1/a")
    found = [(await outcome(edge, client, each))[0] for each in (probe, call, probe, call)]
    assert found == [200, 421, 200, 421]


async def test_a_head_is_read_once_for_requests_that_differ_in_their_length() -> None:
    read: list[Any] = []

    def count(headers: Any) -> int:
        read.append(headers)
        return len(headers)

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await respond(send, 200, str(of_head(scope, count)).encode())

    edge, client = Edge(app, RULES), Client()
    for length in (b"2", b"7", b"9"):
        fields = [*FIRST[:-1], (b"content-length", length)]
        assert await outcome(edge, client, post(*fields)) == (200, b"4")
    assert len(read) == 1
    await outcome(edge, client, post(*FIRST, (b"accept", b"*/*")))
    assert len(read) == 2


@pytest.mark.parametrize("length", [b"", b"x", b"-1"])
async def test_the_length_of_a_known_head_is_checked(length: bytes) -> None:
    edge, client = Edge(report, RULES), Client()
    assert (await outcome(edge, client, post(*FIRST)))[0] == 200
    status, _ = await outcome(edge, client, post(*FIRST[:-1], (b"content-length", length)))
    assert status == 400


@pytest.mark.parametrize("changed", [{"raw_path": b"/v1/%2e"}, {"path": "/v1//a"}])
async def test_the_path_of_a_known_head_is_checked(changed: dict[str, Any]) -> None:
    edge, client = Edge(report, RULES), Client()
    assert (await outcome(edge, client, post(*FIRST)))[0] == 200
    status, _ = await outcome(edge, client, post(*FIRST, **changed))
    assert status in {400, 404}


async def test_other_rules_do_not_know_the_head() -> None:
    """After a reload, a connection goes on with an edge that may have other hosts."""
    client = Client()
    await outcome(Edge(report, RULES), client, post(*FIRST))
    before = client.head
    assert before is not None
    await outcome(Edge(report, RULES), client, post(*FIRST))
    assert client.head is not before


async def test_a_large_head_is_not_kept() -> None:
    client = Client()
    many = (b"x-filler", b"x" * 5000)
    assert (await outcome(Edge(report, RULES), client, post(*FIRST, many)))[0] == 200
    assert client.head is None
