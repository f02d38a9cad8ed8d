"""Access tokens (RFC 6749): one fetch for all waiting calls, and a renewal before expiry."""

import asyncio
import copy
import logging
from typing import Final, Protocol

from msgspec import Struct

from gateway.backends.oauth.forms import TokenForms
from gateway.backends.oauth.replies import CredentialsRefused, IssuedToken, TokenReplyReader
from gateway.backends.wire import form_encoded
from gateway.clock import Clock
from gateway.contract.credentials.grants import GRANT_CREDENTIALS
from gateway.contract.upstream import Reply, TokenRule, Upstream, UpstreamOperation
from gateway.errors import (
    InternalError,
    UpstreamError,
    UpstreamRefusedCredentials,
    UpstreamUnavailable,
)
from gateway.observability.defects import log_defect

EARLY_SECONDS: Final = 60.0
EARLY_FRACTION: Final = 0.1
"""A token is renewed a minute before it expires, or a tenth of its lifetime if that is less."""
FETCH_SECONDS: Final = 10.0
"""The time limit of one request to a token endpoint. A waiting call may have a shorter limit."""
_log: Final = logging.getLogger(__name__)


class TokenWire(Protocol):
    """Sends forms to one token endpoint."""

    async def post(self, form: bytes) -> Reply:
        """The endpoint's reply to one form. Raises `UpstreamError` if there is none."""
        ...


class _Held(Struct, frozen=True):
    """The current token."""

    text: str
    renew_at: float
    """A reading of the monotonic clock."""

    def __repr__(self) -> str:
        return f"_Held(renew_at={self.renew_at})"


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
        self._held: _Held | None = None
        self._fetching: asyncio.Task[str | UpstreamError] | None = None
        self._refused: CredentialsRefused | None = None
        self._has_rotated = False

    @property
    def problem(self) -> str | None:
        """What an operator must fix before a token can be fetched again, or None."""
        return None if self._refused is None else self._advice(self._refused.code)

    async def current(self) -> str:
        """A token that is still valid for a while. The cancellation of one waiting call does not
        cancel the fetch for the others.

        Raises `UpstreamError`. In that case, nothing was sent to the API itself.
        """
        if self._refused is not None:
            raise self._refusal(self._refused)
        if self._held is not None and self._clock.monotonic() < self._held.renew_at:
            return self._held.text
        if self._fetching is None:
            self._fetching = asyncio.create_task(self._fetch())
            self._fetching.add_done_callback(self._fetched)
        outcome = await asyncio.shield(self._fetching)
        if isinstance(outcome, str):
            return outcome
        # Each waiting call raises its own copy, so that none changes the error of another.
        raise copy.copy(outcome)

    def invalidate(self, token: str) -> None:
        """Discard `token`, because the API refused it. A token that was fetched since is kept."""
        if self._held is not None and self._held.text == token:
            self._held = None

    async def close(self) -> None:
        """Cancel a running fetch."""
        if self._fetching is not None:
            self._fetching.cancel()
            await asyncio.wait([self._fetching])

    def _fetched(self, task: asyncio.Task[str | UpstreamError]) -> None:
        self._fetching = None
        if not task.cancelled() and (error := task.exception()) is not None:
            log_defect(_log, error, "%s: fetching a token failed", self._upstream.name)

    async def _fetch(self) -> str | UpstreamError:
        requested_at = self._clock.monotonic()
        try:
            issued = await self._request()
        except UpstreamError as error:
            _log.warning("%s: no access token: %s", self._upstream.name, error.detail)
            return error
        if isinstance(issued, CredentialsRefused):
            self._refused = issued
            _log.error("%s: %s", self._upstream.name, self._advice(issued.code))
            return self._refusal(issued)
        self._note_rotation(issued)
        self._held = _Held(issued.text, requested_at + usable_seconds(issued.lifetime_seconds))
        return issued.text

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
            f"check {settings}{clock}, and restart"
        )


def usable_seconds(lifetime_seconds: float) -> float:
    """How long a token with this lifetime is used."""
    return lifetime_seconds - min(EARLY_SECONDS, lifetime_seconds * EARLY_FRACTION)


def token_operation(upstream: Upstream, rule: TokenRule) -> UpstreamOperation:
    """The operation that issues the tokens. Raises `InternalError` if there is none: a lint rule
    requires it."""
    operation = upstream.find(rule.operation)
    if operation is None:
        raise InternalError(f"{upstream.name} has no operation {rule.operation!r}")
    return operation
