"""A gateway whose upstreams are live, at mocks that answer over HTTP or fail on demand."""

import dataclasses
import json
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager
from functools import cache
from pathlib import Path
from typing import Any
from uuid import uuid4

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from msgspec.structs import replace

from gateway.app import Gateway
from gateway.auth.principal import Credentials
from gateway.calls.call import Call, Result
from gateway.calls.upstreams import SharedState
from gateway.catalogue import (
    AgentPolicies,
    Catalogue,
    Entry,
    PublishedDocuments,
    StoredOperation,
)
from gateway.cli.verification.world import UNLIMITED
from gateway.clock import SystemClock
from gateway.contract.operation import HttpBinding, PythonBinding
from gateway.contract.slots import CredentialSlot, setting_variable
from gateway.contract.upstream import Upstream
from gateway.job_policy import WORK_POLICY, WorkPolicy
from gateway.settings import read_settings
from gateway.testing.asgi_server import serving
from gateway.testing.examples import examples_of
from gateway.testing.faults import FaultyUpstreams
from gateway.testing.under_test import catalogue_under_test, project_flags

KEY = "faults-administrator-0123456789"
CANARY = "canary-of-the-fault-tests"
"""Part of every secret: nothing that a caller sees may hold it."""


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
            agents=AgentPolicies(self.catalogue.grants, self.catalogue.conditions),
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
        return await dataclasses.replace(pipeline, catalogue=catalogue).invoke(call)


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


def upstream_of(entry: Entry) -> str | None:
    """The upstream that a tool with contract files asks first. None for all other tools."""
    match entry.operation.binding:
        case HttpBinding(upstream=upstream) | PythonBinding(upstreams=(upstream, *_)):
            return upstream
    return None


def first_example(catalogue: Catalogue, entry: Entry) -> dict[str, Any]:
    """The arguments of the first example in the tool's contract."""
    return examples_of(catalogue, entry)[0]
