"""Access tokens (RFC 6749): one fetch for all calls, which use the old token during a renewal."""

import asyncio
import logging
from typing import Final, Protocol

from gateway.backends.oauth.forms import TokenForms
from gateway.backends.oauth.replies import CredentialsRefused, IssuedToken, TokenReplyReader
from gateway.backends.wire import form_encoded
from gateway.clock import Clock
from gateway.contract.credentials import GRANT_CREDENTIALS
from gateway.contract.upstream import Reply, TokenRule, Upstream, UpstreamOperation
from gateway.errors import (
    InternalError,
    UpstreamError,
    UpstreamRefusedCredentials,
    UpstreamUnavailable,
)
from gateway.lookups import Known, Lookups
from gateway.observability.defects import log_defect

EARLY_SECONDS: Final = 60.0
EARLY_FRACTION: Final = 0.1
"""A token is renewed a minute before it expires, or a tenth of its lifetime if that is less. It is
used during the renewal, for half of this time at most."""
FETCH_SECONDS: Final = 10.0
"""The time limit of one request to a token endpoint. A waiting call may have a shorter limit."""
_log: Final = logging.getLogger(__name__)


class TokenWire(Protocol):
    """Sends forms to one token endpoint."""

    async def post(self, form: bytes) -> Reply:
        """The endpoint's reply to one form. Raises `UpstreamError` if there is none."""
        ...


class TokenSource:
    """The access token of one upstream."""

    def __init__(
        self, upstream: Upstream, rule: TokenRule, forms: TokenForms, wire: TokenWire, clock: Clock
    ) -> None:
        self._upstream = upstream
        self._rule = rule
        self._forms = forms
        self._wire = wire
        self._clock = clock
        self._reader = TokenReplyReader(token_operation(upstream, rule))
        self._held: Known[str] | None = None
        self._lookups = Lookups(self._fetch, clock, "token")
        self._refused: CredentialsRefused | None = None
        self._has_rotated = False

    @property
    def problem(self) -> str | None:
        """What an operator must fix before a token can be fetched again, or None."""
        return None if self._refused is None else self._advice(self._refused.code)

    async def current(self) -> str:
        """A token that is still valid for a while.

        Raises `UpstreamError`. In that case, nothing was sent to the API itself.
        """
        return (await self._lookups.current(None, self._held)).value

    def invalidate(self, token: str) -> None:
        """Discard `token`, because the API refused it. A token that was fetched since is kept."""
        if self._held is not None and self._held.value == token:
            self._held = None

    async def close(self) -> None:
        """Cancel a running fetch."""
        await self._lookups.close()

    async def _fetch(self, _: None) -> Known[str]:
        if self._refused is not None:
            raise self._refusal(self._refused)
        requested_at = self._clock.monotonic()
        try:
            issued = await self._request()
        except UpstreamError as error:
            _log.warning("%s: no access token: %s", self._upstream.name, error.detail)
            raise
        except Exception as error:
            log_defect(_log, error, "%s: fetching a token failed", self._upstream.name)
            raise
        if isinstance(issued, CredentialsRefused):
            self._refused = issued
            _log.error("%s: %s", self._upstream.name, self._advice(issued.code))
            raise self._refusal(issued)
        self._note_rotation(issued)
        lifetime = issued.lifetime_seconds
        usable = usable_seconds(lifetime)
        # Half of the rest is for the request that carries it.
        until = requested_at + (usable + lifetime) / 2
        self._held = Known(issued.text, requested_at + usable, until)
        return self._held

    async def _request(self) -> IssuedToken | CredentialsRefused:
        try:
            form = await self._forms.form(self._clock.now())
        except ValueError:
            return CredentialsRefused("unusable_key")
        try:
            async with asyncio.timeout(FETCH_SECONDS):
                reply = await self._wire.post(form_encoded(form))
        except TimeoutError:
            raise UpstreamUnavailable(
                "The upstream's token endpoint did not answer in time.", is_sent=False
            ) from None
        return self._reader.read(reply)

    def _note_rotation(self, issued: IssuedToken) -> None:
        if self._forms.rotate(issued.refresh_token) and not self._has_rotated:
            self._has_rotated = True
            _log.warning(
                "%s: the upstream issued a new refresh token; it is used until this process ends",
                self._upstream.name,
            )

    def _refusal(self, refused: CredentialsRefused) -> UpstreamRefusedCredentials:
        return UpstreamRefusedCredentials(
            f"{self._upstream.title} refused this gateway's credentials: {refused.code}."
        )

    def _advice(self, code: str) -> str:
        names = GRANT_CREDENTIALS[self._rule.grant]
        if code == "invalid_grant":
            names = names[-1:]
        elif self._rule.grant != "jwt_bearer":
            names = names[:2]
        if code == "invalid_client":
            names += tuple(e.name for e in self._upstream.settings if e.name == "client_auth")
        settings = " and ".join(f"GATEWAY_{self._upstream.name}_{name}".upper() for name in names)
        clock = ", and this machine's clock" if self._rule.grant == "jwt_bearer" else ""
        return (
            f"The token endpoint refuses the credentials ({code}); "
            f"check {settings}{clock}, and reload or restart the gateway"
        )


def usable_seconds(lifetime_seconds: float) -> float:
    """How long a token with this lifetime is used until another one is fetched."""
    return lifetime_seconds - min(EARLY_SECONDS, lifetime_seconds * EARLY_FRACTION)


def token_operation(upstream: Upstream, rule: TokenRule) -> UpstreamOperation:
    """The operation that issues the tokens. Raises `InternalError` if there is none: a lint rule
    requires it."""
    operation = upstream.find(rule.operation)
    if operation is None:
        raise InternalError(f"{upstream.name} has no operation {rule.operation!r}")
    return operation
