"""An open source of webhooks: what receiving and processing its messages needs."""

import hmac
import os
import re
import secrets
from collections.abc import Mapping, Sequence
from contextlib import suppress
from hashlib import sha256
from ipaddress import IPv4Network, IPv6Network
from pathlib import Path
from typing import Any, Final

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from gateway.bounds.addresses import Networks
from gateway.bounds.rates import Bucket, PeerBuckets, Rate
from gateway.catalogue import DeclaredSource
from gateway.clock import Clock
from gateway.contract.context import CallFacts
from gateway.contract.fields.conversion import rfc3339
from gateway.contract.webhook import (
    JSON_BODY,
    TENANT_END,
    BodyForm,
    Challenge,
    MessagePart,
    Profile,
    WebhookSource,
)
from gateway.errors import MalformedRequest, StoreError, UnauthenticatedMessage
from gateway.signatures.received import Fields, Received
from gateway.signatures.registry import never_stored
from gateway.signatures.scheme import MIN_KEY_BYTES, InvalidSecret, Verify
from gateway.store.records import Mismatch, StoredWebhook

_MAX_TOKEN: Final = 2_000
_ECHOED: Final = "$token"
_ECHOED_HMAC: Final = "$token.hmac"
_JSON: Final = b"application/json"
MAX_REFUSALS: Final = 20
FOLDER: Final = "webhook-secrets"
_MAX_BYTES: Final = 4096
"""A private RSA key in base64 has 1,624."""
_CHALLENGE: Final = "Signature"
"""The challenge for signature schemes that have no name in HTTP."""
_MAX_HEADER: Final = 1_000
_NONE: Final[Mapping[str, Any]] = {}
_FORM: Final = b"application/x-www-form-urlencoded"


class ChallengeAnswer(Struct, frozen=True):
    """The answer to a challenge."""

    body: bytes = b""
    content_type: bytes = b"text/plain; charset=utf-8"
    headers: tuple[tuple[bytes, bytes], ...] = ()
    status: int = 200


def is_challenge(challenge: Challenge, received: Received) -> bool:
    """Whether the request is a challenge, by its method and its parts."""
    if received.method != challenge.method:
        return False
    if challenge.when is not None and challenge.when.text(received) != challenge.is_:
        return False
    return challenge.token is None or challenge.token.text(received) is not None


def answer_of(
    challenge: Challenge, received: Received, keys: Sequence[bytes], secrets: Sequence[str]
) -> ChallengeAnswer:
    """The answer. `keys` are the profile's; `secrets` are those that a challenge may present.

    Raises `UnauthenticatedMessage` if it presents none of them, and `MalformedRequest` if its token
    is too long or has control characters.
    """
    if challenge.secret is not None and not _is_one_of(
        secrets, challenge.secret.text(received) or ""
    ):
        raise UnauthenticatedMessage(challenge="Signature")
    token = "" if challenge.token is None else challenge.token.text(received) or ""
    if len(token) > _MAX_TOKEN or not token.isprintable():
        raise MalformedRequest(
            f"The token of a challenge has at most {_MAX_TOKEN} printable characters."
        )
    members = {name: _value(text, token, keys) for name, text in challenge.members}
    if challenge.answer == "json":
        return ChallengeAnswer(msgspec.json.encode(members), _JSON)
    if challenge.answer == "headers":
        return ChallengeAnswer(
            headers=tuple(
                (name.lower().encode("ascii"), value.encode("ascii", "ignore"))
                for name, value in members.items()
            )
        )
    return ChallengeAnswer(token.encode("utf-8", "replace"))


def _value(text: str, token: str, keys: Sequence[bytes]) -> str:
    if text == _ECHOED:
        return token
    if text == _ECHOED_HMAC:
        return hmac.digest(keys[0], token.encode("utf-8", "replace"), "sha256").hex()
    return text


def _is_one_of(secrets: Sequence[str], presented: str) -> bool:
    digest, found = sha256(presented.encode("utf-8", "replace")).digest(), False
    for secret in secrets:
        found |= hmac.compare_digest(sha256(secret.encode()).digest(), digest)
    return found


class PayloadValidator:
    """Validates messages of one source: on arrival, and again after a change of the contract."""

    def __init__(self, declared: DeclaredSource) -> None:
        self._validators = declared.validators
        self._events = declared.events
        self._types = {profile.name: profile.event_type for profile in declared.source.profiles}
        self._ignored = [re.compile(pattern) for pattern in declared.source.ignored]

    def refusals(self, profile: str, event_type: str, payload: Any) -> tuple[Mismatch, ...]:
        """The places where the message breaks the contract, at most `MAX_REFUSALS`."""
        event = self._events.get(event_type)
        if event is None and self.is_ignored(event_type):
            return ()
        if event is None:
            return (self._at_type(profile, "is no event type of this contract"),)
        if profile not in event.profiles:
            return (self._at_type(profile, f"is not sent in the profile {profile}"),)
        return self.payload_refusals(event_type, payload)

    def is_ignored(self, event_type: str) -> bool:
        """Whether the contract says that nothing follows from messages of this type."""
        return event_type not in self._events and any(
            pattern.fullmatch(event_type) for pattern in self._ignored
        )

    def stored_refusals(self, webhook: StoredWebhook, payload: Any) -> tuple[Mismatch, ...]:
        """The places where a stored message breaks the contract, at most `MAX_REFUSALS`.

        The profile of a derived message is not checked, because no provider sent it.
        """
        if webhook.derived_from is None:
            return self.refusals(webhook.profile, webhook.event_type, payload)
        return self.payload_refusals(webhook.event_type, payload)

    def payload_refusals(self, event_type: str, payload: Any) -> tuple[Mismatch, ...]:
        """The places where a payload breaks the contract of its event, for any sender."""
        validator = self._validators.get(event_type)
        if validator is None:
            return (Mismatch(pointer="", detail="is of no event type of this contract"),)
        if validator.admits(payload):
            return ()
        found = validator.violations(payload)[:MAX_REFUSALS]
        return tuple(Mismatch(pointer=each.pointer, detail=each.detail) for each in found)

    def _at_type(self, profile: str, detail: str) -> Mismatch:
        return refusal_at(self._types.get(profile), detail)


def refusal_at(place: MessagePart | None, detail: str) -> Mismatch:
    """A refusal of the part at `place`. Headers have no pointer, so the detail names them."""
    if place is None or place.pointer is None:
        subject = f"the header {place.header}" if place and place.header else "the profile"
        return Mismatch(pointer="", detail=f"{subject} {detail}")
    return Mismatch(pointer=place.pointer, detail=detail)


def made_secret(data: Path, provider: str, profile: Profile) -> str:
    """The secret of this profile in `data`. It is made if it does not exist, with mode 600.

    It is only for a mock of the provider: a real provider does not know this secret. Raises
    `StoreError` when the file cannot be read or written, or contains an invalid secret.
    """
    path = data / FOLDER / f"{provider}-{profile.name}"
    try:
        if not path.exists():
            _write_once(path, profile.authentication.new_secret())
        secret = path.read_text("utf-8")[:_MAX_BYTES].strip()
        _refuse_short(profile.authentication.key_of(secret))
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not text"
        raise StoreError(
            f"{path} cannot be used ({reason}); make its folder writable, or remove the file"
        ) from None
    except InvalidSecret as error:
        raise StoreError(
            f"{path} contains an invalid secret, which {error}; remove the file and start the"
            " gateway again, which makes a new secret"
        ) from None
    return secret


def _refuse_short(key: bytes) -> None:
    """The gateway makes no short secret: somebody has edited the file."""
    if len(key) < MIN_KEY_BYTES:
        raise InvalidSecret(f"must have at least {MIN_KEY_BYTES} bytes")


def _write_once(path: Path, secret: str) -> None:
    """Write the file once. If two processes start together, one writes it and both read it."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    draft = path.with_name(f"{path.name}.{secrets.token_hex(8)}")
    handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(f"{secret}\n")
        with suppress(FileExistsError):
            path.hardlink_to(draft)
    finally:
        draft.unlink()


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
