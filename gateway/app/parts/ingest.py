"""Opens the sources of webhooks with their settings, and the group commit."""

from collections.abc import Callable, Mapping
from contextlib import AsyncExitStack
from functools import partial
from typing import Final

import msgspec
from msgspec.structs import replace

from gateway.app.parts.foundation import Carried, Foundation
from gateway.app.traced import TracedIngest
from gateway.bounds.rates import Rate
from gateway.calls.sending import UpstreamConnection
from gateway.catalogue import Catalogue
from gateway.clock import Clock
from gateway.contract.webhook import WebhookSource
from gateway.errors import ConfigurationError
from gateway.settings import Secret, Settings, SourceSettings
from gateway.store.protocols import Inbox
from gateway.transports.webhooks import WebhookEndpoint
from gateway.webhooks.ingest import GroupCommit, Ingest
from gateway.webhooks.source import (
    OpenSource,
    ProfileSecrets,
    SourceBuckets,
    SourceRates,
    made_secret,
)

_ONLY_TENANT: Final = "sample"
"""A mock has one customer, of this name."""


def configured_sources(
    catalogue: Catalogue, settings: Settings, connections: Mapping[str, UpstreamConnection]
) -> dict[str, SourceSettings]:
    """The settings of each source, by provider. A mocked source without secrets has created ones.

    Raises `ConfigurationError` for invalid settings, and `StoreError` if the file of a created
    secret cannot be read or written.
    """
    found = settings.for_webhooks(catalogue.sources)
    return {
        source.provider: _with_secrets(source, found[source.provider], settings, connections)
        for source in catalogue.sources
    }


def open_sources(
    catalogue: Catalogue,
    configured: Mapping[str, SourceSettings],
    clock: Clock,
    carried: Carried,
) -> dict[str, OpenSource]:
    """All sources by provider, to receive and to process messages."""
    sources = {
        name: OpenSource(
            declared,
            clock,
            secrets=_secrets(declared.source, configured[name]),
            networks=configured[name].networks,
            settings=configured[name].settings,
            rates=SourceRates(
                of_source=_rate(configured[name].rate),
                of_address=_rate(configured[name].address_rate),
            ),
        )
        for name, declared in catalogue.webhooks.items()
    }
    for name, source in sources.items():
        found, contract = configured[name], source.contract
        usual = msgspec.json.encode((contract.rate_of_source, contract.rate_of_address)).decode()
        rates = found.rate, found.address_rate, usual
        source.buckets = carried.same(partial(_buckets, source), "source", name, *rates)
    return sources


def open_group_commit(
    inbox: Inbox, on_stored: Callable[[], None], stack: AsyncExitStack
) -> GroupCommit:
    """The group commit. `stack` closes it before the store, so that waiting messages are stored."""
    group_commit = GroupCommit(inbox, on_stored)
    stack.push_async_callback(group_commit.close)
    return group_commit


def _with_secrets(
    source: WebhookSource,
    found: SourceSettings,
    settings: Settings,
    connections: Mapping[str, UpstreamConnection],
) -> SourceSettings:
    if found.problem is not None:
        raise ConfigurationError(found.problem)
    if found.secrets or not _is_mocked(source.provider, connections):
        return found
    created = {
        profile.name: (Secret(made_secret(settings.data, source.provider, profile)),)
        for profile in source.profiles
    }
    tenants = {each.name: (_ONLY_TENANT,) for each in source.profiles if each.tenant is not None}
    return replace(found, secrets=created, tenants=tenants)


def _is_mocked(provider: str, connections: Mapping[str, UpstreamConnection]) -> bool:
    """Whether no real sender is possible: the provider's upstream is not live or, if the provider
    has no upstream, none is live."""
    own = connections.get(provider)
    candidates = [own] if own else connections.values()
    return not any(connection.backend_name == "live" for connection in candidates)


def _buckets(source: OpenSource) -> SourceBuckets:
    return source.buckets


def _secrets(source: WebhookSource, configured: SourceSettings) -> dict[str, ProfileSecrets]:
    """What the operator has set for each profile, by name."""
    found: dict[str, ProfileSecrets] = {}
    for profile in source.profiles:
        secrets = configured.secrets.get(profile.name, ())
        tenants = configured.tenants.get(profile.name) or ("",) * len(secrets)
        keys: dict[str, list[bytes]] = {}
        for tenant, secret in zip(tenants, secrets, strict=True):
            keys.setdefault(tenant, []).append(profile.authentication.key_of(secret.reveal()))
        challenge = configured.challenge_secrets.get(profile.name, ())
        found[profile.name] = ProfileSecrets(
            keys=keys, challenge=tuple(secret.reveal() for secret in challenge)
        )
    return found


def open_endpoint(
    sources: Mapping[str, OpenSource],
    group_commit: GroupCommit,
    clock: Clock,
    foundation: Foundation,
    settings: Settings,
) -> WebhookEndpoint:
    """What receives webhooks and counts them, with a span for each if something makes spans."""
    spans, observe = foundation.spans(settings), foundation.metrics.webhooks.arrived
    if spans is None:
        ingest = Ingest(sources, group_commit, clock, observe)
    else:
        ingest = TracedIngest(sources, group_commit, clock, observe, spans=spans)
    return WebhookEndpoint(ingest, settings.public_url, settings.max_webhook_bytes)


def _rate(per_second: int | None) -> Rate | None:
    """The rate of a setting, with a burst like the usual one."""
    return None if per_second is None else Rate(per_second, 10 * per_second)
