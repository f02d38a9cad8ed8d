"""A gateway whose upstreams are live, at mocks that answer over HTTP or fail on demand."""

import dataclasses
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping
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
from gateway.backends.mock.application import MockApplication
from gateway.backends.mock.backend import answer_lifespan, asgi_app
from gateway.calls.call import Call, Result
from gateway.calls.upstreams import SharedState
from gateway.catalogue import (
    AgentPolicies,
    Catalogue,
    Entry,
    PublishedDocuments,
    StoredOperation,
)
from gateway.clock import SystemClock
from gateway.contract.imported import ImportedConnector
from gateway.contract.slots import CredentialSlot, setting_variable
from gateway.contract.upstream import Upstream
from gateway.job_policy import WORK_POLICY, WorkPolicy
from gateway.settings import read_settings
from gateway.testing.asgi_server import serving
from gateway.testing.gateways import catalogue_under_test, project_flags, project_under_test
from gateway.testing.served import UNLIMITED
from gateway.testing.upstream_contracts import UpstreamJudge

KEY = "faults-administrator-0123456789"
CALL_SECONDS = 20.0
"""How long a call may take."""
CANARY = "canary-of-the-fault-tests"
"""Part of every secret: nothing that a caller sees may hold it."""


Fault = Callable[[Any, Any], Awaitable[None]]
"""Answers one request instead of the mock, given `receive` and `send` of ASGI."""


class Seen(Struct, frozen=True):
    """A request that reached an upstream."""

    upstream: str
    is_token: bool
    head: str = ""
    """The target and the header fields, a line each."""


class FaultyUpstreams:
    """An ASGI application: `/<upstream>/…` is the upstream's mock, or `fault` but for tokens."""

    def __init__(
        self, upstreams: Mapping[str, Upstream], imported: Mapping[str, ImportedConnector] = {}
    ) -> None:
        clock = SystemClock()
        mocked: dict[str, Upstream | ImportedConnector] = {**upstreams, **imported}
        judge = UpstreamJudge(project_under_test().schemas)
        self._mocks = {
            name: asgi_app(judge.over(name, MockApplication(each, clock)))
            for name, each in mocked.items()
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
            await answer_lifespan(receive, send)
            return
        path = scope["raw_path"].decode("latin-1")
        name = path.split("/")[1]
        is_token = path in self._token_paths
        self.seen.append(Seen(name, is_token, _head(scope)))
        if self.fault is not None and not is_token:
            await self.fault(receive, send)
            return
        inner = dict(scope, raw_path=path.removeprefix(f"/{name}").encode("latin-1"))
        if self.alter is None or is_token:
            await self._mocks[name](inner, receive, send)
        else:
            await _altered(self._mocks[name], inner, receive, send, self.alter)


def _head(scope: Any) -> str:
    fields = [b"%b: %b" % field for field in scope["headers"]]
    target = b"%b?%b" % (scope["raw_path"], scope["query_string"])
    return b"\n".join([target, *fields]).decode("latin-1")


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


async def silence(receive: Any, send: Any) -> None:  # noqa: ARG001 - the signature of ASGI
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
    """A gateway whose upstreams are all live, at the faulty ones.

    Its waits between attempts take no time, and it keeps no result.
    """

    def __init__(self, gateway: Gateway, upstreams: FaultyUpstreams) -> None:
        self.gateway = gateway
        self.upstreams = upstreams
        self.catalogue: Catalogue = gateway.parts.catalogue
        quick = Catalogue(
            map(_quick, self.catalogue.entries),
            upstreams=self.catalogue.upstreams,
            agents=AgentPolicies(self.catalogue.grants, self.catalogue.conditions),
            published=PublishedDocuments(self.catalogue.openapi),
        )
        pipeline = gateway.local_pipeline("administrator")
        self._pipeline = dataclasses.replace(pipeline, catalogue=quick)

    async def outcome(
        self,
        tool: str,
        arguments: Mapping[str, Any],
        *,
        fault: Fault | None = None,
        alter: Callable[[bytes], bytes] | None = None,
    ) -> Result | Exception:
        """What a call ends with while its upstream commits `fault`, or its replies are altered."""
        # No reply of an upstream is kept from another call.
        self._pipeline.dispatcher._shared = SharedState(SystemClock())
        self.upstreams.fault, self.upstreams.alter = fault, alter
        self.upstreams.seen.clear()
        call = Call(
            operation_id=tool,
            credentials=Credentials(),
            arguments=json.dumps(arguments).encode(),
            transport="local",
            request_id=uuid4().hex,
        )
        try:
            return await self._pipeline.invoke(call)
        except Exception as error:  # noqa: BLE001 - whatever it is, the test says where it came from
            return error
        finally:
            self.upstreams.fault = self.upstreams.alter = None


def _quick(entry: Entry) -> Entry:
    attempts = replace(entry.operation.attempts, backoff_seconds=(0.0,))
    operation = replace(
        entry.operation, attempts=attempts, timeout_seconds=CALL_SECONDS, cache_seconds=0.0
    )
    return replace(entry, operation=operation)


@asynccontextmanager
async def open_live(
    data: Path,
    *,
    more: Mapping[str, str] = {},
    scopes: frozenset[str] = frozenset(),
    policy: WorkPolicy = WORK_POLICY,
) -> AsyncIterator[LiveGateway]:
    """The project on live backends, all at one `FaultyUpstreams`, with all tools granted.

    `more`: other variables of the environment. `scopes`: other grants of the administrator.
    """
    catalogue = catalogue_under_test()
    imported = catalogue.imported
    written = {name: each for name, each in catalogue.upstreams.items() if name not in imported}
    upstreams = FaultyUpstreams(written, {name: each.whole() for name, each in imported.items()})
    async with serving(upstreams) as url:
        # A breaker would refuse the requests whose faults the next test is about.
        environment = {
            "GATEWAY_BOOTSTRAP_KEY": KEY,
            "GATEWAY_BREAKER_FAILURES": "0",
            **UNLIMITED,
        }
        for upstream in written.values():
            environment |= _environment(upstream, f"{url}/{upstream.name}")
        for name, document in imported.items():
            environment |= _slot_environment(name, document.slots, f"{url}/{name}")
        settings = read_settings({**environment, **more}, None, project_flags(data))
        # A tool that no agent is granted is still a promise.
        grants = {"administrator": scopes.union(entry.id for entry in catalogue.entries)}
        gateway = Gateway.open(settings, grants=grants)
        gateway.set_work_policy(policy)
        async with gateway:
            yield LiveGateway(gateway, upstreams)


def _environment(upstream: Upstream, base: str) -> dict[str, str]:
    """Settings that make `upstream` live at `base`."""
    prefix = f"GATEWAY_{upstream.name.upper()}"
    found = {f"{prefix}_BASE_URL": base, f"GATEWAY_BACKEND_{upstream.name.upper()}": "live"}
    paths = {operation.id: operation.path for operation in upstream.operations}
    if upstream.tokens:
        found[f"{prefix}_TOKEN_URL"] = f"{base}{paths[upstream.tokens[0].operation]}"
    of_slots = {name for slot in upstream.slots for name in slot.settings}
    for rule in upstream.credentials:
        if rule.name in of_slots:
            continue
        if rule.kind == "json":
            found[f"{prefix}_{rule.name.upper()}"] = service_account_key()
        else:
            found[f"{prefix}_{rule.name.upper()}"] = f"{CANARY}-{rule.name}"
    for setting in upstream.settings:
        if setting.name not in of_slots:
            found[f"{prefix}_{setting.name.upper()}"] = setting.default or setting.mock
    return found | _slot_environment(upstream.name, upstream.slots, base)


def _slot_environment(connector: str, slots: Iterable[CredentialSlot], base: str) -> dict[str, str]:
    """Settings that make an upstream with these credentials live at `base`.

    Client certificates are not set, because the upstream is served without TLS.
    """
    found = {
        setting_variable(connector, "base_url"): base,
        f"GATEWAY_BACKEND_{connector.upper()}": "live",
    }
    for slot in slots:
        if slot.kind != "mutual_tls":
            found |= {
                setting_variable(connector, name): f"{CANARY}-{name}" for name in slot.ways[0]
            }
    return found


def is_certified(stored: StoredOperation) -> bool:
    """Whether each way to call an imported operation needs a client certificate."""
    certified = {each.name for each in stored.document.slots if each.kind == "mutual_tls"}
    ways = stored.head.security
    return bool(ways) and all(any(use.slot in certified for use in uses) for uses in ways)


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
