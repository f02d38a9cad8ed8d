"""A source of webhooks that is open: its contract, and what the operator says of it."""

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
"""Of schemes that HTTP has no name for."""
_MAX_HEADER: Final = 1_000


class SourceAccess(Struct, frozen=True, kw_only=True):
    """Who may send: what the operator says of a source."""

    keys: Mapping[str, Sequence[bytes]] = {}
    """By profile, those that its scheme makes of the live secrets. A profile without
    keys is closed."""
    networks: Sequence[IPv4Network | IPv6Network] | None = None
    """Where messages may come from; None is everywhere, and an empty list nowhere."""


class OpenProfile(Struct, frozen=True, eq=False):
    """A profile, and the check whether a message was sent by somebody with its secret."""

    profile: Profile
    verify: Verify


class OpenSource:
    """A source, its open profiles, and how much it may still send."""

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
        """Spent by authentic messages only: a sender without the secret cannot use it up."""
        self.profiles = tuple(
            OpenProfile(profile, profile.proof.verifier(keys))
            for profile in contract.profiles
            if (keys := access.keys.get(profile.name))
        )
        proofs = [profile.proof for profile in contract.profiles]
        self.challenge = next((p.challenge for p in proofs if p.challenge), _CHALLENGE)
        self._kept = frozenset(contract.keep_headers) - never_stored(proofs)

    @property
    def is_open(self) -> bool:
        """Whether anybody at all can prove to be this source."""
        return bool(self.profiles)

    def prove(self, fields: Fields, body: bytes, now: float) -> Profile | None:
        """The profile in which the message is authentic; None where it is in none."""
        for each in self.profiles:
            if each.verify(fields, body, now):
                return each.profile
        return None

    def kept(self, fields: Fields) -> dict[str, str]:
        """The headers that are stored with the body: never one that proves something."""
        found: dict[str, str] = {}
        for raw_name, value in fields:
            name = raw_name.decode("latin-1")
            if name in self._kept:
                text = value.decode("latin-1")
                found[name] = f"{found[name]}, {text}" if name in found else text
        return {name: text[:_MAX_HEADER] for name, text in found.items()}
