"""The credentials that a mock accepts, and the tokens that it issues.

The token endpoint (RFC 6749 §4.4, §5, §6; RFC 7523 §2.1, §3) issues a token for every valid form.
The API of the same mock accepts the tokens until they expire. A `refresh_token`, `client_secret` or
issuer that contains `revoked` is refused. Other credentials may be any text that is not empty.
"""

import base64
import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Final
from urllib.parse import parse_qsl

import msgspec

from gateway.backends.mock.requests import RequestRefused
from gateway.backends.oauth import GRANT_TYPES
from gateway.backends.templates import PLACEHOLDER
from gateway.backends.wire import WireRequest
from gateway.clock import Clock
from gateway.contract.credentials import GRANT_CREDENTIALS
from gateway.contract.mock import MockRefusal, MockReply, TokenRefusal
from gateway.contract.slots import CredentialSlot
from gateway.contract.upstream import HeaderRule, QueryRule, TokenGrant, Upstream, UpstreamOperation

REVOKED: Final = "revoked"
MAX_TOKENS: Final = 1000
"""How many tokens are accepted at once. The oldest ones are discarded."""
_LIFETIME_SECONDS: Final = 3600
_LONGEST_ASSERTION_SECONDS: Final = 3600
_ERRORS: Final = {401: "invalid_client", 429: "slow_down", 503: "temporarily_unavailable"}

RefuseToken = Callable[[TokenRefusal], Any]


class TokenIssuer:
    """Issues access tokens, and checks whether a token is valid."""

    def __init__(self, upstream: Upstream, clock: Clock, seed: str, refuse: RefuseToken) -> None:
        self._clock = clock
        self._seed = seed
        self._refuse = refuse
        self._grants: dict[str, dict[str, TokenGrant]] = {}
        for rule in upstream.tokens:
            self._grants.setdefault(rule.operation, {})[GRANT_TYPES[rule.grant]] = rule.grant
        self._issued: dict[str, datetime] = {}
        self._count = 0

    def serves(self, operation_id: str) -> bool:
        """Whether this operation issues tokens."""
        return operation_id in self._grants

    def answer(self, operation: UpstreamOperation, form: Mapping[str, Any]) -> MockReply:
        """The reply to a form that is valid under the contract."""
        refusal = self._check(operation, form)
        if refusal is not None:
            return self.refused(refusal)
        examples = operation.examples.items()
        example: dict[str, Any] = next((body for s, body in examples if s.startswith("2")), {})
        lifetime = example.get("expires_in", _LIFETIME_SECONDS)
        body = {**example, "access_token": self._issue(lifetime), "expires_in": lifetime}
        if "client_id" in example and "client_id" in form:
            body["client_id"] = form["client_id"]
        return MockReply(body=body)

    def refused(self, refusal: TokenRefusal) -> MockReply:
        """A refusal in the vendor's format."""
        return MockReply(status=refusal.status, body=self._refuse(refusal))

    def failed(self, status: int, title: str) -> MockReply:
        """A refusal for a reason other than the grant: a fault, or an invalid request."""
        code = _ERRORS.get(status, "invalid_request" if status < 500 else "server_error")
        status = 400 if status == 422 else status
        return self.refused(TokenRefusal(status=status, error=code, description=title))

    def admit(self, token: str) -> None:
        """Raise `RequestRefused` with 401 for a token that is expired or was not issued here."""
        expires_at = self._issued.get(token)
        if expires_at is None:
            title = "The access token is not valid."
            raise RequestRefused(MockRefusal(status=401, title=title, reason="invalid_token"))
        if expires_at <= self._clock.now():
            title = "The access token has expired."
            raise RequestRefused(MockRefusal(status=401, title=title, reason="expired_token"))

    def _check(self, operation: UpstreamOperation, form: Mapping[str, Any]) -> TokenRefusal | None:
        grant = self._grants[operation.id].get(str(form.get("grant_type")))
        if grant is None:
            return TokenRefusal(
                status=400, error="unsupported_grant_type", description="Not a grant for this API."
            )
        if grant == "jwt_bearer":
            return _check_assertion(form.get("assertion"))
        missing = [name for name in GRANT_CREDENTIALS[grant] if not form.get(name)]
        if missing:
            description = f"Missing required parameter: {missing[0]}"
            return TokenRefusal(status=400, error="invalid_request", description=description)
        if REVOKED in str(form["client_secret"]):
            description = "Client credentials are invalid"
            return TokenRefusal(status=401, error="invalid_client", description=description)
        if REVOKED in str(form.get("refresh_token", "")):
            return _invalid_grant("Token has been expired or revoked.")
        return None

    def _issue(self, lifetime: float) -> str:
        self._count += 1
        digest = hashlib.sha256(f"{self._seed}\0token\0{self._count}".encode()).hexdigest()
        token = f"mock_token_{digest[:32]}"
        self._issued[token] = self._clock.now() + timedelta(seconds=lifetime)
        if len(self._issued) > MAX_TOKENS:
            del self._issued[next(iter(self._issued))]
        return token


def plain_token_refusal(refusal: TokenRefusal) -> Any:
    """A refusal in the format of RFC 6749 §5.2."""
    return {"error": refusal.error, "error_description": refusal.description}


def _check_assertion(assertion: object) -> TokenRefusal | None:
    """The refusal of an assertion whose header or claims break RFC 7523, or None.

    The signature is not verified, because the mock has no public key.
    """
    try:
        header, claims, signature = str(assertion).split(".")
        algorithm = _decoded(header).get("alg")
        facts = _decoded(claims)
        lifetime = facts["exp"] - facts["iat"]
        issuer, audience = facts["iss"], facts["aud"]
    except (ValueError, KeyError, TypeError, AttributeError, msgspec.DecodeError):
        return _invalid_grant("Invalid JWT.")
    if algorithm != "RS256" or not signature:
        return _invalid_grant("Invalid JWT Signature.")
    if not 0 < lifetime <= _LONGEST_ASSERTION_SECONDS:
        return _invalid_grant("Invalid JWT: Token must be a short-lived token (60 minutes).")
    if not issuer or not audience or REVOKED in str(issuer):
        return _invalid_grant("Invalid grant: account not found")
    return None


def _decoded(part: str) -> dict[str, Any]:
    text = base64.urlsafe_b64decode(part + "=" * (-len(part) % 4))
    return msgspec.json.decode(text, type=dict[str, Any])


def _invalid_grant(description: str) -> TokenRefusal:
    return TokenRefusal(status=400, error="invalid_grant", description=description)


_TOKEN: Final = "token"  # noqa: S105 - a placeholder's name
_CREDENTIAL: Final = "credential."
_ACCEPT: Final = "accept"
"""Not required: a client may accept any media types (RFC 9110 §12.5.1)."""


class CredentialCheck:
    """Refuses requests without the headers and query parameters of `x-upstream`.

    A credential may be any text. An access token must be one that the mock issued.
    """

    def __init__(self, upstream: Upstream, issuer: TokenIssuer) -> None:
        self._issuer = issuer
        optional = {rule.name for rule in upstream.credentials if not rule.is_required}
        self._headers = [
            rule
            for rule in upstream.headers
            if rule.name.lower() != _ACCEPT and not _is_optional(rule, optional)
        ]
        self._query = [rule for rule in upstream.query if not _is_optional(rule, optional)]

    def check(self, request: WireRequest) -> None:
        """Raise `RequestRefused`: 401 for a credential or a token, 400 for anything else."""
        headers = {name.lower(): value for name, value in request.headers}
        for header in self._headers:
            self._check(header, headers.get(header.name.lower(), ""), "header")
        if self._query:
            query = dict(parse_qsl(request.target.partition("?")[2]))
            for parameter in self._query:
                self._check(parameter, query.get(parameter.name, ""), "parameter")

    def _check(self, rule: HeaderRule | QueryRule, value: str, kind: str) -> None:
        literal = rule.template.partition("{")[0]
        names = PLACEHOLDER.findall(rule.template)
        if not value or not value.startswith(literal):
            is_secret = any(name == _TOKEN or name.startswith(_CREDENTIAL) for name in names)
            raise RequestRefused(
                MockRefusal(
                    status=401 if is_secret else 400,
                    title=f"The {kind} '{rule.name}' is required",
                    path=rule.name,
                    reason="missing_credentials" if is_secret else "",
                )
            )
        if _TOKEN in names:
            self._issuer.admit(value.removeprefix(literal))


def _is_optional(rule: HeaderRule | QueryRule, optional: set[str]) -> bool:
    names = PLACEHOLDER.findall(rule.template)
    return any(name.removeprefix(_CREDENTIAL) in optional for name in names)


class SlotCheck:
    """Refuses requests without credentials. A credential may be any text that is not empty."""

    def __init__(self, slots: Iterable[CredentialSlot]) -> None:
        self._slots = {each.name: each for each in slots}

    def check(self, alternatives: Sequence[Sequence[str]], request: WireRequest) -> None:
        """Raise `RequestRefused` with 401 if no alternative is complete: names of slots."""
        if not alternatives:
            return
        headers = {name.lower(): value for name, value in request.headers}
        query = dict(parse_qsl(request.target.partition("?")[2]))
        for names in alternatives:
            slots = [self._slots[name] for name in names if name in self._slots]
            if all(_is_filled(slot, headers, query) for slot in slots):
                return
        wanted = " or ".join(map(" with ".join, alternatives))
        title = f"Credentials are required: {wanted}."
        raise RequestRefused(MockRefusal(status=401, title=title, reason="missing_credentials"))

    @property
    def secret_names(self) -> frozenset[str]:
        """The query parameters that contain credentials."""
        return frozenset(
            each.key_name or each.name for each in self._slots.values() if each.location == "query"
        )


def _is_filled(slot: CredentialSlot, headers: Mapping[str, str], query: Mapping[str, str]) -> bool:
    name = slot.key_name or slot.name
    match slot.kind, slot.location:
        case "mutual_tls", _:
            return True
        case "api_key", "query":
            return bool(query.get(name))
        case "api_key", "cookie":
            return f"{name}=" in headers.get("cookie", "")
        case "api_key", _:
            return bool(headers.get(name.lower()))
        case "basic", _:
            return headers.get("authorization", "").lower().startswith("basic ")
    return headers.get("authorization", "").lower().startswith("bearer ")
