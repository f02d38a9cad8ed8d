"""No secret of any upstream reaches a log, an audit record or an answer, whatever it answers."""

import io
import json
from collections.abc import Iterator
from typing import Any

import httpx
import msgspec
import pytest

from tests.asgi_server import serving
from tests.contract.faulty import (
    CANARY,
    KEY,
    Fault,
    answering,
    first_example,
    open_live,
    service_account_key,
    upstream_of,
)
from tests.logged import everything_logged

FORBIDDEN = (
    CANARY,
    "mock_token_",
    "eyJ",
    json.loads(service_account_key())["private_key"][100:140],
)
"""The credentials, the access tokens, the start of a JWT, and a piece of the private key."""
ECHO = json.dumps({"error": CANARY, "message": CANARY, "cod": CANARY}).encode()
FAULTS: dict[str, Fault | None] = {
    "none": None,
    "401": answering(401, ECHO),
    "400": answering(400, ECHO),
    "501": answering(501, ECHO, "text/html"),
    "redirect": answering(302, ECHO, location=f"https://example.com/{CANARY}"),
    "no contract": answering(200, ECHO),
}


@pytest.fixture
def log() -> Iterator[io.StringIO]:
    with everything_logged() as stream:
        yield stream


def found(text: str) -> list[str]:
    return [secret for secret in FORBIDDEN if secret in text]


@pytest.mark.parametrize("fault", FAULTS)
async def test_no_secret_is_reported(fault: str, tmp_path: Any, log: io.StringIO) -> None:
    """The upstream repeats what it was sent, which only what travels to the caller may not."""
    async with open_live(tmp_path) as live, serving(live.gateway.http_app()) as url:
        live.upstreams.fault = FAULTS[fault]
        headers = {"authorization": f"Bearer {KEY}"}
        answers = []
        async with httpx.AsyncClient(base_url=url, headers=headers, timeout=30) as http:
            for entry in filter(upstream_of, live.catalogue.entries):
                arguments = first_example(live.catalogue, entry)
                reply = await http.post(entry.operation.route, json=arguments)
                answers.append(f"{reply.headers!r} {reply.text}")
            answers.append((await http.get("/readyz")).text)
        records = await live.gateway.parts.store.audit.latest(1000)
        written = msgspec.json.encode(records).decode()
    assert len(answers) > 10
    assert found("\n".join(answers)) == []
    assert found(written) == []
    assert found(log.getvalue()) == []
