"""An open source of webhooks: its contract, and the operator's settings for it."""

from collections.abc import Mapping, Sequence
from ipaddress import IPv4Network, IPv6Network
from typing import Final

from msgspec import Struct

from gateway.clock import Clock
from gateway.contract.values.schema import Validator
from gateway.contract.webhook import Profile, WebhookSource
from gateway.limits.addresses import Networks
from gateway.limits.buckets import Bucket, PeerBuckets
from gateway.signatures.headers import Fields
from gateway.signatures.registry import never_stored
from gateway.signatures.scheme import Verify
from gateway.webhooks.payload_validator import PayloadValidator

_CHALLENGE: Final = "Signature"
"""The challenge for signature schemes that have no name in HTTP."""
_MAX_HEADER: Final = 1_000


class SourceAccess(Struct, frozen=True, kw_only=True):
    """The operator's settings for who may send."""

    keys: Mapping[str, Sequence[bytes]] = {}
    """The keys by profile, which its scheme derives from the live secrets. A profile without keys
    is closed."""
    networks: Sequence[IPv4Network | IPv6Network] | None = None
    """The networks from which messages are accepted. None accepts all, an empty list none."""


class OpenProfile(Struct, frozen=True, eq=False):
    """A profile, with the check that the sender of a message has its secret."""

    profile: Profile
    verify: Verify


class OpenSource:
    """A source, its open profiles, and its rate limits."""

    def __init__(
        self,
        contract: WebhookSource,
        validators: Mapping[str, Validator],
        access: SourceAccess,
        clock: Clock,
    ) -> None:
        """`validators` are those of the payloads, by event type."""
        self.contract = contract
        self.validator = PayloadValidator(contract, validators)
        self.networks = None if access.networks is None else Networks(access.networks)
        self.peers = PeerBuckets(contract.rate, clock)
        self.budget = Bucket(contract.rate, clock.monotonic())
        """Only authentic messages use it, so a sender without the secret cannot use it up."""
        self.profiles = tuple(
            OpenProfile(profile, profile.authentication.verifier(keys))
            for profile in contract.profiles
            if (keys := access.keys.get(profile.name))
        )
        schemes = [profile.authentication for profile in contract.profiles]
        self.challenge = next((each.challenge for each in schemes if each.challenge), _CHALLENGE)
        self._stored = frozenset(contract.stored_headers) - never_stored(schemes)

    @property
    def is_open(self) -> bool:
        """Whether the source has a profile with keys."""
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
