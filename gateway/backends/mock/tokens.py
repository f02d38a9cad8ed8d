"""The token endpoint of a mock upstream (RFC 6749 §4.4, §5, §6; RFC 7523 §2.1, §3).

It issues a token for every valid form. The API of the same mock accepts the tokens until they
expire. A `refresh_token`, `client_secret` or issuer that contains `revoked` is refused.
"""

import base64
import hashlib
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import Any, Final

import msgspec

from gateway.backends.mock.requests import RequestRefused
from gateway.backends.oauth.forms import GRANT_TYPES
from gateway.clock import Clock
from gateway.contract.credentials.grants import GRANT_CREDENTIALS
from gateway.contract.mock import MockRefusal, MockReply, TokenRefusal
from gateway.contract.upstream import TokenGrant, Upstream, UpstreamOperation

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
