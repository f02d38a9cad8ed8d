"""Every upstream of the catalogue behind one socket, each its mock until it is set to fail."""

import dataclasses
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from functools import cache
from pathlib import Path
from typing import Any
from uuid import uuid4

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from msgspec import Struct
from msgspec.structs import replace

from gateway.app import Gateway
from gateway.auth.principal import Credentials
from gateway.backends.mock.application import UpstreamApplication
from gateway.backends.mock.asgi import asgi_app
from gateway.calls.call import Call, Result
from gateway.calls.upstreams import SharedState
from gateway.catalogue import AgentPolicies, Catalogue, Entry, PublishedDocuments, open_catalogue
from gateway.clock import SystemClock
from gateway.contract.connector import HANDLER_PACKAGES
from gateway.contract.operation import HttpBinding
from gateway.contract.upstream import Upstream
from gateway.settings import read_settings
from gateway.testing.examples import examples_of
from tests.asgi_server import serving

KEY = "faults-administrator-0123456789"
CANARY = "canary-of-the-fault-tests"
"""Part of every secret: nothing that a caller sees may hold it."""

Fault = Callable[[Any, Any], Awaitable[None]]
"""Answers one request instead of the mock, given `receive` and `send` of ASGI."""


class Seen(Struct, frozen=True):
    """A request that reached an upstream."""

    upstream: str
    is_token: bool


class FaultyUpstreams:
    """An ASGI application: `/<upstream>/…` is the upstream's mock, or `fault` but for tokens."""

    def __init__(self, upstreams: Mapping[str, Upstream]) -> None:
        clock = SystemClock()
        self._mocks = {
            name: asgi_app(UpstreamApplication(each, clock)) for name, each in upstreams.items()
        }
        self._token_paths = {
            f"/{name}{operation.path}"
            for name, each in upstreams.items()
            for operation in each.operations
            if operation.id in {rule.operation for rule in each.tokens}
        }
        self.fault: Fault | None = None
        self.alter: Callable[[bytes], bytes] | None = None
        """Makes another body of each one that a mock answers."""
        self.seen: list[Seen] = []

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "lifespan":
            await self._mocks["avinode"](scope, receive, send)
            return
        path = scope["raw_path"].decode("latin-1")
        name = path.split("/")[1]
        is_token = path in self._token_paths
        self.seen.append(Seen(name, is_token))
        if self.fault is not None and not is_token:
            await self.fault(receive, send)
            return
        inner = dict(scope, raw_path=path.removeprefix(f"/{name}").encode("latin-1"))
        if self.alter is None or is_token:
            await self._mocks[name](inner, receive, send)
        else:
            await _altered(self._mocks[name], inner, receive, send, self.alter)


def answering(
    status: int, body: bytes = b"{}", content_type: str = "application/json", **headers: str
) -> Fault:
    """A fault that answers just this. Header names are written with `_` for `-`."""
    named = {"content-type": content_type} | {n.replace("_", "-"): v for n, v in headers.items()}
    lines = [(name.encode(), value.encode()) for name, value in named.items()]

    async def fault(receive: Any, send: Any) -> None:
        await _drain(receive)
        await send({"type": "http.response.start", "status": status, "headers": lines})
        await send({"type": "http.response.body", "body": body})

    return fault


async def silence(receive: Any, send: Any) -> None:
    """Never answers, until the caller has left."""
    await _drain(receive)
    while (await receive())["type"] != "http.disconnect":
        pass


async def cut(receive: Any, send: Any) -> None:
    """Ends the connection in the middle of the body."""
    await _drain(receive)
    headers = [(b"content-type", b"application/json"), (b"content-length", b"1000")]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": b'{"data":[', "more_body": False})


async def flood(receive: Any, send: Any) -> None:
    """200 MB of JSON."""
    await _drain(receive)
    headers = [(b"content-type", b"application/json")]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    for _ in range(200):
        await send({"type": "http.response.body", "body": b'"' + b"x" * 10**6, "more_body": True})
    await send({"type": "http.response.body", "body": b""})


async def _altered(
    mock: Any, scope: Any, receive: Any, send: Any, alter: Callable[[bytes], bytes]
) -> None:
    messages: list[Any] = []

    async def keep(message: Any) -> None:
        messages.append(message)

    await mock(scope, receive, keep)
    start, *parts = messages
    lines = [line for line in start["headers"] if line[0].lower() != b"content-length"]
    await send({**start, "headers": lines})
    whole = b"".join(part.get("body", b"") for part in parts)
    await send({"type": "http.response.body", "body": alter(whole)})


async def _drain(receive: Any) -> None:
    while (await receive()).get("more_body"):
        pass


class LiveGateway:
    """A gateway whose upstreams are all live, at the faulty ones."""

    def __init__(self, gateway: Gateway, upstreams: FaultyUpstreams) -> None:
        self.gateway = gateway
        self.upstreams = upstreams
        self.catalogue: Catalogue = gateway.parts.catalogue

    def forget(self) -> None:
        """Keep no reply of an upstream for the next call."""
        dispatcher = self.gateway.local_pipeline("administrator").dispatcher
        dispatcher._shared = SharedState(SystemClock())

    async def call(
        self, entry: Entry, arguments: Mapping[str, Any], *, timeout_seconds: float = 20.0
    ) -> Result:
        """The result of one call whose waits between attempts take no time."""
        quick = replace(entry.operation.attempts, backoff_seconds=(0.0,))
        operation = replace(
            entry.operation, attempts=quick, timeout_seconds=timeout_seconds, cache_seconds=0.0
        )
        others = (each for each in self.catalogue.entries if each.id != entry.id)
        catalogue = Catalogue(
            [replace(entry, operation=operation), *others],
            upstreams=self.catalogue.upstreams,
            agents=AgentPolicies(self.catalogue.grants),
            published=PublishedDocuments(self.catalogue.openapi),
        )
        call = Call(
            operation_id=entry.id,
            credentials=Credentials(),
            arguments=json.dumps(arguments).encode(),
            transport="local",
            request_id=uuid4().hex,
        )
        pipeline = self.gateway.local_pipeline("administrator")
        return await _with_catalogue(pipeline, catalogue).invoke(call)


def _with_catalogue(pipeline: Any, catalogue: Catalogue) -> Any:
    return dataclasses.replace(pipeline, catalogue=catalogue)


@asynccontextmanager
async def open_live(data: Path) -> AsyncIterator[LiveGateway]:
    """A gateway on live backends, all of them at one `FaultyUpstreams`."""
    catalogue = open_catalogue("generated", HANDLER_PACKAGES)
    upstreams = FaultyUpstreams(catalogue.upstreams)
    async with serving(upstreams) as url:
        environment = {"GATEWAY_BOOTSTRAP_KEY": KEY}
        for upstream in catalogue.upstreams.values():
            environment |= _environment(upstream, f"{url}/{upstream.name}")
        settings = read_settings(environment, None, {"data": data})
        # A tool that no agent is granted is still a promise.
        grants = {"administrator": frozenset(entry.id for entry in catalogue.entries)}
        async with Gateway.open(settings, grants=grants) as gateway:
            yield LiveGateway(gateway, upstreams)


def _environment(upstream: Upstream, base: str) -> dict[str, str]:
    """Settings that make `upstream` live at `base`."""
    prefix = f"GATEWAY_{upstream.name.upper()}"
    found = {f"{prefix}_BASE_URL": base, f"GATEWAY_BACKEND_{upstream.name.upper()}": "live"}
    paths = {operation.id: operation.path for operation in upstream.operations}
    if upstream.tokens:
        found[f"{prefix}_TOKEN_URL"] = f"{base}{paths[upstream.tokens[0].operation]}"
    for rule in upstream.credentials:
        if rule.kind == "json":
            found[f"{prefix}_{rule.name.upper()}"] = service_account_key()
        else:
            found[f"{prefix}_{rule.name.upper()}"] = f"{CANARY}-{rule.name}"
    for setting in upstream.settings:
        found[f"{prefix}_{setting.name.upper()}"] = setting.default or setting.mock
    return found


@cache
def service_account_key() -> str:
    """The key file of a made-up service account."""
    private = rsa.generate_private_key(public_exponent=65537, key_size=2048).private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    return json.dumps(
        {
            "type": "service_account",
            "client_email": "gateway@example.iam.gserviceaccount.com",
            "private_key_id": f"{CANARY}-kid",
            "private_key": private.decode(),
            "token_uri": "https://oauth2.googleapis.com/token",
        }
    )


def upstream_of(entry: Entry) -> str | None:
    """The upstream that a tool asks first; None for one that asks none."""
    binding = entry.operation.binding
    if isinstance(binding, HttpBinding):
        return binding.upstream
    return binding.upstreams[0] if binding.upstreams else None


def first_example(catalogue: Catalogue, entry: Entry) -> dict[str, Any]:
    return examples_of(catalogue, entry)[0]
