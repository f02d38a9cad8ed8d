"""Builds the endpoint for webhooks: the sources with their secrets, and the group commit."""

from collections.abc import Callable, Mapping
from contextlib import AsyncExitStack

from gateway.calls.sending import UpstreamConnection
from gateway.catalogue import Catalogue
from gateway.clock import Clock
from gateway.contract.webhook import WebhookSource
from gateway.errors import ConfigurationError
from gateway.settings import Settings, SourceSettings
from gateway.store.protocols import Inbox
from gateway.transports.webhooks import WebhookEndpoint
from gateway.webhooks.group_commit import GroupCommit
from gateway.webhooks.ingest import Ingest
from gateway.webhooks.made_secrets import made_secret
from gateway.webhooks.source import OpenSource, SourceAccess

Secrets = Mapping[str, Mapping[str, tuple[str, ...]]]
"""The secrets by provider and profile."""


def webhook_secrets(
    catalogue: Catalogue, settings: Settings, connections: Mapping[str, UpstreamConnection]
) -> Secrets:
    """The secrets from the settings. For a mocked source without any, secrets are created.

    Raises `ConfigurationError` for invalid settings, and `StoreError` if the file of a created
    secret cannot be read or written.
    """
    found = settings.for_webhooks(catalogue.sources)
    return {
        source.provider: _secrets(source, found[source.provider], settings, connections)
        for source in catalogue.sources
    }


def open_group_commit(
    inbox: Inbox, on_stored: Callable[[], None], stack: AsyncExitStack
) -> GroupCommit:
    """The group commit. `stack` closes it before the store, so that waiting messages are stored."""
    group_commit = GroupCommit(inbox, on_stored)
    stack.push_async_callback(group_commit.close)
    return group_commit


def open_webhook_endpoint(
    catalogue: Catalogue,
    settings: Settings,
    secrets: Secrets,
    group_commit: GroupCommit,
    clock: Clock,
) -> WebhookEndpoint:
    """The endpoint with all sources. A source without secrets is closed."""
    sources = {
        name: OpenSource(
            contract.source,
            contract.validators,
            SourceAccess(
                keys=_keys(contract.source, secrets[name]),
                networks=settings.for_webhook(contract.source).networks,
            ),
            clock,
        )
        for name, contract in catalogue.webhooks.items()
    }
    return WebhookEndpoint(Ingest(sources, group_commit, clock))


def _secrets(
    source: WebhookSource,
    found: SourceSettings,
    settings: Settings,
    connections: Mapping[str, UpstreamConnection],
) -> Mapping[str, tuple[str, ...]]:
    if found.problem is not None:
        raise ConfigurationError(found.problem)
    if not found.secrets and _is_mocked(source.provider, connections):
        return {
            profile.name: (made_secret(settings.data, source.provider, profile),)
            for profile in source.profiles
        }
    return {name: tuple(s.reveal() for s in secrets) for name, secrets in found.secrets.items()}


def _is_mocked(provider: str, connections: Mapping[str, UpstreamConnection]) -> bool:
    """Whether no real sender is possible: the provider's upstream is not live or, if the provider
    has no upstream, none is live."""
    own = connections.get(provider)
    candidates = [own] if own else connections.values()
    return not any(connection.backend_name == "live" for connection in candidates)


def _keys(
    source: WebhookSource, secrets: Mapping[str, tuple[str, ...]]
) -> dict[str, tuple[bytes, ...]]:
    return {
        profile.name: tuple(
            profile.authentication.key_of(text) for text in secrets.get(profile.name, ())
        )
        for profile in source.profiles
    }
