"""No secret of any upstream reaches a log, an audit record or an answer, whatever it answers."""

import io
import json
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

import msgspec
import pytest
import structlog

from gateway.catalogue import Catalogue, Entry
from gateway.observability.logs import configure_logs
from gateway.testing.asgi_server import serving
from gateway.testing.cases import (
    OperationDraw,
    callable_alone,
    first_example,
    sent_arguments,
    upstream_of,
)
from gateway.testing.fixtures import Loop, draw_of
from gateway.testing.live import (
    CANARY,
    KEY,
    Fault,
    FaultyUpstreams,
    answering,
    is_certified,
    open_live,
    service_account_key,
)
from gateway.testing.transports import client

# Everything that the gateway logs, for tests of what it must not.


@contextmanager
def everything_logged() -> Iterator[io.StringIO]:
    """What is logged at the least level; the guard of the log knows no secret."""
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    stream = io.StringIO()
    configure_logs(level="debug", form="json", stream=stream)
    try:
        yield stream
    finally:
        logging.captureWarnings(capture=False)
        root.handlers[:] = handlers
        root.setLevel(level)
        structlog.reset_defaults()


__all__ = ["test_no_secret_is_reported"]

FORBIDDEN: Final = (
    CANARY,
    "mock_token_",
    "eyJ",
    json.loads(service_account_key())["private_key"][100:140],
)
"""The credentials, the access tokens, the start of a JWT, and a piece of the private key."""
STATUSES: Final = {"none": None, "401": 401, "400": 400, "501": 501, "redirect": 302, "other": 200}


def echoing(upstreams: FaultyUpstreams, status: int) -> Fault:
    """A fault that repeats the target and the header of the request."""

    async def fault(receive: Any, send: Any) -> None:
        head = upstreams.seen[-1].head
        body = json.dumps({"error": {"code": head, "message": head}, "cod": head}).encode()
        location = f"https://example.com/{quote(head)}"
        await answering(status, body, location=location)(receive, send)

    return fault


def found(text: str) -> list[str]:
    return [secret for secret in FORBIDDEN if secret in text]


@pytest.mark.parametrize("fault", STATUSES)
def test_no_secret_is_reported(
    gateway_loop: Loop, tmp_path: Path, pytestconfig: pytest.Config, fault: str
) -> None:
    """The upstream repeats what it was sent, which only what travels to the caller may not."""
    # Documents may allow any member in a success, and have examples of tokens.
    draw = None if fault in {"none", "other"} else draw_of(pytestconfig)
    with everything_logged() as log:
        answers, written = gateway_loop.run_until_complete(
            reported(tmp_path, STATUSES[fault], draw)
        )
    assert found(answers) == []
    assert found(written) == []
    assert found(log.getvalue()) == []


def calls(
    catalogue: Catalogue, draw: OperationDraw | None
) -> Iterator[tuple[Entry, dict[str, Any]]]:
    """A call of each tool with an upstream, and of the imported operations of `draw`."""
    for entry in filter(upstream_of, callable_alone(catalogue)):
        yield entry, first_example(catalogue, entry)
    if draw is None:
        return
    for stored in draw.all_of(catalogue):
        entry = catalogue.find(stored.head.id)
        arguments = None if is_certified(stored) else sent_arguments(entry, draw.seed)
        if arguments is not None:
            yield entry, arguments


async def reported(
    folder: Path, status: int | None, draw: OperationDraw | None = None
) -> tuple[str, str]:
    """All that callers got and all audit records, after these `calls`.

    With a `status`, each upstream answers with it, and repeats the head of the request.
    """
    async with open_live(folder) as live, serving(live.gateway.http_app()) as url:
        live.upstreams.fault = None if status is None else echoing(live.upstreams, status)
        answers = []
        async with client(url, KEY) as http:
            for entry, arguments in calls(live.catalogue, draw):
                reply = await http.post(entry.operation.route, json=arguments)
                answers.append(f"{reply.headers!r} {reply.text}")
            answers += [(await http.get(path)).text for path in ("/readyz", "/operator/readiness")]
        records = await live.gateway.parts.store.audit.latest(1000)
        return "\n".join(answers), msgspec.json.encode(records).decode()
