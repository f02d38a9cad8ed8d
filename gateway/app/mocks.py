"""Mocks that send their vendors' webhooks to the gateway that they are part of."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TypeAlias

from gateway.app.ingest import Secrets
from gateway.backends.mock.backend import MockBackend
from gateway.backends.mock.webhooks import Listener, MockSender
from gateway.calls.sending import UpstreamConnection
from gateway.catalogue import Catalogue
from gateway.clock import Clock

MockSenders: TypeAlias = Callable[[str], Sequence[MockSender]]
"""The senders of a gateway that listens at this address."""


def mock_senders(
    catalogue: Catalogue,
    connections: Mapping[str, UpstreamConnection],
    secrets: Secrets,
    clock: Clock,
    url: str,
) -> Sequence[MockSender]:
    """A sender for each mock whose source of webhooks has a secret and receives messages."""
    return tuple(_senders(catalogue, connections, secrets, clock, url))


def _senders(
    catalogue: Catalogue,
    connections: Mapping[str, UpstreamConnection],
    secrets: Secrets,
    clock: Clock,
    url: str,
) -> Iterator[MockSender]:
    for name, contract in catalogue.webhooks.items():
        backend = connections[name].backend if name in connections else None
        live = [each for each in contract.source.profiles if secrets[name].get(each.name)]
        if isinstance(backend, MockBackend) and live:
            listener = Listener(
                url=f"{url}/webhooks/{name}",
                source=contract.source,
                profile=live[0],
                secret=secrets[name][live[0].name][0],
            )
            yield MockSender(backend.application, listener, clock)
