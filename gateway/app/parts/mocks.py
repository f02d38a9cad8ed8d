"""Builds the senders of mocks, which send their vendors' webhooks to this gateway."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TypeAlias

from gateway.backends.mock.application import UpstreamApplication
from gateway.backends.mock.backend import MockBackend
from gateway.backends.mock.webhooks import Listener, MockSender
from gateway.calls.sending import UpstreamConnection
from gateway.catalogue import Catalogue
from gateway.clock import Clock
from gateway.settings import SourceSettings

MockSenders: TypeAlias = Callable[[str], Sequence[MockSender]]
"""Returns the senders for a gateway that listens at this URL."""


def mock_senders(
    catalogue: Catalogue,
    connections: Mapping[str, UpstreamConnection],
    configured: Mapping[str, SourceSettings],
    clock: Clock,
    url: str,
) -> Sequence[MockSender]:
    """A sender for each mock whose source of webhooks has a secret."""
    return tuple(_senders(catalogue, connections, configured, clock, url))


def _senders(
    catalogue: Catalogue,
    connections: Mapping[str, UpstreamConnection],
    configured: Mapping[str, SourceSettings],
    clock: Clock,
    url: str,
) -> Iterator[MockSender]:
    for name, declared in catalogue.webhooks.items():
        secrets = configured[name].secrets
        backend = connections[name].backend if name in connections else None
        mock = backend.application if isinstance(backend, MockBackend) else None
        open_profiles = [each for each in declared.source.profiles if secrets.get(each.name)]
        if isinstance(mock, UpstreamApplication) and open_profiles:
            profile = open_profiles[0]
            listener = Listener(
                url=f"{url}/webhooks/{name}",
                source=declared.source,
                profile=profile,
                secret=secrets[profile.name][0].reveal(),
            )
            yield MockSender(mock, listener, clock)
