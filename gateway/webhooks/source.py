"""An open source of webhooks: what receiving and processing its messages needs."""

from collections.abc import Mapping, Sequence
from ipaddress import IPv4Network, IPv6Network
from typing import Any, Final

from msgspec import Struct

from gateway.catalogue import DeclaredSource
from gateway.clock import Clock
from gateway.contract.context import CallFacts
from gateway.contract.fields.conversion import rfc3339
from gateway.contract.webhook import Profile, WebhookSource
from gateway.limits.addresses import Networks
from gateway.limits.buckets import Bucket, PeerBuckets, Rate
from gateway.signatures.headers import Fields
from gateway.signatures.registry import never_stored
from gateway.signatures.scheme import Verify
from gateway.store.records import StoredWebhook
from gateway.webhooks.payload_validator import PayloadValidator

_CHALLENGE: Final = "Signature"
"""The challenge for signature schemes that have no name in HTTP."""
_MAX_HEADER: Final = 1_000
_NONE: Final[Mapping[str, Any]] = {}


class OpenProfile(Struct, frozen=True, eq=False):
    """Open: a profile, with the check that the sender of a message has its secret."""

    profile: Profile
    verify: Verify


class SourceRates(Struct, frozen=True, kw_only=True):
    """The operator's limits of messages. None: what the contract says."""

    of_source: Rate | None = None
    """Of authentic messages."""
    of_address: Rate | None = None
    """Of messages of one address, authentic or not."""


NO_RATES: Final = SourceRates()


class SourceBuckets:
    """What the senders of one source have used of its rates."""

    def __init__(self, rates: SourceRates, contract: WebhookSource, clock: Clock) -> None:
        """`contract` has the rates that the operator has not set."""
        self.peers = PeerBuckets(rates.of_address or contract.rate_of_address, clock)
        self.budget = Bucket(rates.of_source or contract.rate_of_source, clock.monotonic())
        """Only authentic messages use it, so a sender without the secret cannot use it up."""


class OpenSource:
    """Open: a declared source that runs with the operator's settings.

    A source without keys receives no messages, but its stored messages are processed.
    """

    def __init__(
        self,
        declared: DeclaredSource,
        clock: Clock,
        *,
        keys: Mapping[str, Sequence[bytes]] = _NONE,
        networks: Sequence[IPv4Network | IPv6Network] | None = None,
        settings: Mapping[str, str] = _NONE,
        rates: SourceRates = NO_RATES,
    ) -> None:
        """`keys`: by profile, derived from its secrets by its scheme. A profile without keys is
        closed. `networks`: the networks from which messages are accepted. None accepts all, an
        empty list none. `settings`: the values of `$settings.<name>` in field maps. An empty one
        counts as absent.
        """
        contract = declared.source
        self.contract = contract
        self.events = declared.events
        """The declared events by type."""
        self.validator = PayloadValidator(declared)
        self.networks = None if networks is None else Networks(networks)
        self.buckets = SourceBuckets(rates, contract, clock)
        self.profiles = tuple(
            OpenProfile(profile, profile.authentication.verifier(live))
            for profile in contract.profiles
            if (live := keys.get(profile.name))
        )
        schemes = [profile.authentication for profile in contract.profiles]
        self.challenge = next((each.challenge for each in schemes if each.challenge), _CHALLENGE)
        self._stored = frozenset(contract.stored_headers) - never_stored(schemes)
        self._settings = {name: text for name, text in settings.items() if text}

    @property
    def has_keys(self) -> bool:
        """Whether a profile has keys. Without keys, no message is received."""
        return bool(self.profiles)

    def authenticate(self, fields: Fields, body: bytes, now: float) -> Profile | None:
        """The profile by which the message is authentic, or None."""
        for each in self.profiles:
            if each.verify(fields, body, now):
                return each.profile
        return None

    def stored(self, fields: Fields) -> dict[str, str]:
        """The headers that are stored with the body. Headers with signatures are never stored."""
        found: dict[str, str] = {}
        for raw_name, value in fields:
            name = raw_name.decode("latin-1")
            if name in self._stored:
                text = value.decode("latin-1")
                found[name] = f"{found[name]}, {text}" if name in found else text
        return {name: text[:_MAX_HEADER] for name, text in found.items()}

    def facts(self, webhook: StoredWebhook) -> CallFacts:
        """The facts about the arrival of `webhook` that field maps may read."""
        return CallFacts(id=webhook.id, now=rfc3339(webhook.received_at), settings=self._settings)
