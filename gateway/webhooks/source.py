"""An open source of webhooks: what receiving and processing its messages needs."""

from collections.abc import Mapping, Sequence
from ipaddress import IPv4Network, IPv6Network
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from gateway.bounds.addresses import Networks
from gateway.bounds.rates import Bucket, PeerBuckets, Rate
from gateway.catalogue import DeclaredSource
from gateway.clock import Clock
from gateway.contract.context import CallFacts
from gateway.contract.fields.conversion import rfc3339
from gateway.contract.webhook import JSON_BODY, TENANT_END, BodyForm, Profile, WebhookSource
from gateway.errors import UnauthenticatedMessage
from gateway.signatures.headers import Fields
from gateway.signatures.received import Received
from gateway.signatures.registry import never_stored
from gateway.signatures.scheme import Verify
from gateway.store.records import StoredWebhook
from gateway.webhooks.challenge import ChallengeAnswer, answer_of, is_challenge
from gateway.webhooks.payload_validator import PayloadValidator

_CHALLENGE: Final = "Signature"
"""The challenge for signature schemes that have no name in HTTP."""
_MAX_HEADER: Final = 1_000
_NONE: Final[Mapping[str, Any]] = {}
_FORM: Final = b"application/x-www-form-urlencoded"


class ProfileSecrets(Struct, frozen=True, kw_only=True):
    """What the operator has agreed with the senders of one profile."""

    keys: Mapping[str, Sequence[bytes]]
    """By the name of a tenant, derived from its secrets by the scheme. That of a profile without
    tenants is empty."""
    challenge: Sequence[str] = ()
    """The secrets that a challenge may present."""


class OpenProfile:
    """Open: a profile, with the checks that the sender of a message has its secret."""

    def __init__(self, profile: Profile, secrets: ProfileSecrets) -> None:
        self.profile = profile
        self._secrets = secrets
        self._checks: dict[str, Verify] = {
            name: profile.authentication.verifier(live) for name, live in secrets.keys.items()
        }

    def tenant_of(self, received: Received, now: float) -> str | None:
        """The tenant that has sent this, which is empty without tenants; None: nobody with a key.

        A profile for forms takes no other bodies, and others take no forms.
        """
        if self.profile.body.is_form is not _is_form(received.fields):
            return None
        place = self.profile.tenant
        name = "" if place is None else place.text(received) or ""
        check = self._checks.get(name)
        return name if check is not None and check(received, now) else None

    def challenged(self, received: Received, now: float) -> ChallengeAnswer | None:
        """The answer, if the request is a challenge. Raises as `Ingest.challenged`."""
        challenge = self.profile.challenge
        if challenge is None or not is_challenge(challenge, received):
            return None
        if challenge.is_signed and self.tenant_of(received, now) is None:
            raise UnauthenticatedMessage(challenge=_CHALLENGE)
        keys = next(iter(self._secrets.keys.values()))
        return answer_of(challenge, received, keys, self._secrets.challenge)


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
        secrets: Mapping[str, ProfileSecrets] = _NONE,
        networks: Sequence[IPv4Network | IPv6Network] | None = None,
        settings: Mapping[str, str] = _NONE,
        rates: SourceRates = NO_RATES,
    ) -> None:
        """`secrets`: by profile. A profile without secrets is closed. `networks`: the networks from
        which messages are accepted. None accepts all, an empty list none. `settings`: the values of
        `$settings.<name>` in field maps. An empty one counts as absent.
        """
        contract = declared.source
        self.contract = contract
        self.events = declared.events
        """The declared events by type."""
        self.validator = PayloadValidator(declared)
        self.networks = None if networks is None else Networks(networks)
        self.buckets = SourceBuckets(rates, contract, clock)
        self.profiles = tuple(
            OpenProfile(profile, found)
            for profile in contract.profiles
            if (found := secrets.get(profile.name)) and found.keys
        )
        schemes = [profile.authentication for profile in contract.profiles]
        self.challenge = next((each.challenge for each in schemes if each.challenge), _CHALLENGE)
        self._stored = frozenset(contract.stored_headers) - never_stored(schemes)
        self._settings = {name: text for name, text in settings.items() if text}
        self.reads_path = any(
            each.authentication.reads_path or (each.tenant is not None and each.tenant.path)
            for each in contract.profiles
        )
        """Whether the path may go on after the provider's name."""
        challenges = (each.challenge for each in contract.profiles)
        self.challenge_methods = tuple(each.method for each in challenges if each is not None)
        self._with_tenants = {e.name for e in contract.profiles if e.tenant is not None}
        self._forms = {each.name: each.body for each in contract.profiles}

    @property
    def has_keys(self) -> bool:
        """Whether a profile has keys. Without keys, no message is received."""
        return bool(self.profiles)

    def authenticate(self, received: Received, now: float) -> tuple[Profile, str] | None:
        """The profile by which a request is authentic, with its tenant, or None."""
        known = replace(received, settings=self._settings)
        for each in self.profiles:
            tenant = each.tenant_of(known, now)
            if tenant is not None:
                return each.profile, tenant
        return None

    def challenged(self, received: Received, now: float) -> ChallengeAnswer | None:
        """The answer, if the request is a challenge of a profile. Raises as `Ingest.challenged`."""
        known = replace(received, settings=self._settings)
        answers = (each.challenged(known, now) for each in self.profiles)
        return next((answer for answer in answers if answer is not None), None)

    def form_of(self, webhook: StoredWebhook) -> BodyForm:
        """How the stored body of a message is read. Messages of batches are stored in JSON."""
        is_received = webhook.derived_from is None
        return self._forms.get(webhook.profile, JSON_BODY) if is_received else JSON_BODY

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
        tenant, end, _ = webhook.message_id.partition(TENANT_END)
        return CallFacts(
            id=webhook.id,
            now=rfc3339(webhook.received_at),
            settings=self._settings,
            tenant=tenant if end and webhook.profile in self._with_tenants else "",
        )


def _is_form(fields: Fields) -> bool:
    return any(
        name == b"content-type" and value.lower().startswith(_FORM) for name, value in fields
    )
