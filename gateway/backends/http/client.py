"""Sends requests to one upstream: encoding, access token, deadline, rate limit and health."""

import asyncio
from collections.abc import Iterable, Mapping
from functools import partial
from typing import Final, Protocol

from msgspec.structs import replace

from gateway.amounts import in_seconds
from gateway.backends.base import operators_error
from gateway.backends.oauth import SlotTokens, TokenSource
from gateway.backends.wire import WireEncoder, WireRequest
from gateway.clock import Clock
from gateway.contract.fields.conversion import rfc3339
from gateway.contract.refusals import refusal_of
from gateway.contract.slots import setting_variable
from gateway.contract.upstream import RateHeaders, Reply, Upstream, UpstreamRequest
from gateway.errors import (
    ConfigurationError,
    InvalidReply,
    UpstreamRateLimited,
    UpstreamTimeout,
    UpstreamUnavailable,
)
from gateway.observability.logs import MASK, forms_of
from gateway.threads import in_thread
from gateway.trace_context import Forwarding, forwarded

FAILURES: Final = 3
"""How many requests must fail in a row before it is reported as a problem."""


class Health:
    """Records failures of one upstream. The next success clears them."""

    def __init__(self, upstream: Upstream) -> None:
        self._upstream = upstream
        self._failures = 0
        self._refused: str | None = None

    @property
    def problem(self) -> str | None:
        """The problem that an operator must examine, or None."""
        if self._refused is not None:
            return self._refused
        if self._failures >= FAILURES:
            return f"The last {FAILURES} requests or more got no usable reply; is it reachable?"
        return None

    def failed(self) -> None:
        """Record that a request got no reply."""
        self._failures = min(self._failures + 1, FAILURES)

    def unusable(self, detail: str) -> None:
        """Record that something answered that cannot be read, such as a redirect."""
        self._refused, self._failures = f"{detail} {self._check_url}", 0

    def answered(self, reply: Reply) -> None:
        """Record a reply, with any status."""
        if reply.status < 400:
            self._refused, self._failures = None, 0
            return
        refusal = refusal_of(self._upstream, reply)
        if refusal.means in {"unavailable", "timeout"}:
            self.failed()
            return
        # The upstream is there. Other refusals tell nothing of its credentials and its set-up.
        self._failures = 0
        if refusal.means in {"credentials", "token_expired"}:
            self._refused = (
                f"The vendor rejected the credentials (status {reply.status}); renew them, and "
                "try them with `gateway doctor --connect`."
            )
        elif refusal.means in {"not_set_up", "foreign"}:
            self._refused = operators_error(self._upstream, reply.status, refusal).detail

    @property
    def _check_url(self) -> str:
        return f"Check {setting_variable(self._upstream.name, 'base_url')}."


MAX_WAIT_SECONDS: Final = 3600.0
"""The longest wait that an upstream's headers can cause."""


class RateState:
    """Remembers until when an upstream's limit is used up, so that no request is sent in vain.

    Times are readings of a monotonic clock in seconds.
    """

    def __init__(self, rules: RateHeaders | None) -> None:
        self._rules = rules
        self._open_again_at = 0.0

    def note(self, headers: Mapping[str, str], at: float) -> None:
        """Read the rate headers of a reply. Headers that are missing or not numbers are ignored."""
        if self._rules is None:
            return
        remaining = _seconds(headers.get(self._rules.remaining.lower()))
        reset = _seconds(headers.get(self._rules.reset_seconds.lower()))
        if remaining == 0 and reset is not None:
            self._open_again_at = at + min(reset, MAX_WAIT_SECONDS)

    def check(self, at: float) -> None:
        """Raise `UpstreamRateLimited` while the upstream's limit is used up."""
        wait = self._open_again_at - at
        if wait > 0:
            raise UpstreamRateLimited(retry_after_seconds=wait)


def _seconds(text: str | None) -> float | None:
    return float(text) if text and text.isascii() and text.isdigit() else None


_PUBLIC: Final = ("client_id", "username")
"""Credentials that are no secrets: results may name an account."""
_LARGE_BYTES: Final = 256 * 1024  # 0.2 ms
_AS_GOOD_AS_OVER: Final = 0.01
"""A deadline counts as reached this many seconds early: the time limit of the whole call began a
little before it, and so ends a little before it."""


class Wire(Protocol):
    """Sends encoded requests to one upstream."""

    async def exchange(self, request: WireRequest) -> Reply:
        """The reply, with any status. Raises `UpstreamUnavailable` or `InvalidReply`."""
        ...

    async def close(self) -> None:
        """Close connections and files."""
        ...


class UpstreamClient:
    """Encodes requests, adds the access token, and respects the upstream's rate limit."""

    def __init__(  # noqa: PLR0913 - each is one fact about the upstream
        self,
        upstream: Upstream,
        clock: Clock,
        *,
        wire: Wire,
        encoder: WireEncoder,
        tokens: TokenSource | None,
        slot_tokens: SlotTokens | None = None,
        credentials: Mapping[str, str] | None = None,
        forwarding: Forwarding = "ids",
    ) -> None:
        """`slot_tokens` are those of an imported document, `credentials` those that are sent."""
        if encoder.needs_token and tokens is None:
            raise ConfigurationError(f"{upstream.name}: there are no credentials to get a token by")
        self._clock = clock
        self._forwarding = forwarding
        self._wire = wire
        self._encoder = encoder
        self._tokens = tokens
        self._slot_tokens = slot_tokens
        self._upstream = upstream
        self._rate = RateState(upstream.rate)
        self._health = Health(upstream)
        self._mask = _Mask(credentials or {})

    @property
    def problem(self) -> str | None:
        """See `Backend.problem`."""
        sources = (self._tokens, self._slot_tokens)
        problems = (each.problem for each in sources if each is not None)
        return next(filter(None, problems), None) or self._health.problem

    async def send(
        self, request: UpstreamRequest, *, timeout_seconds: float, is_cut_short: bool = False
    ) -> Reply:
        """See `Backend.send`."""
        deadline = _Deadline(timeout_seconds)
        try:
            wire = self._encoder.encode(request, self._now())
            self._rate.check(self._clock.monotonic())
            tokens = self._source(wire)
            if tokens is None:
                reply = await self._exchange(wire, deadline)
            else:
                reply = await self._with_token(wire, tokens, deadline)
        except (UpstreamTimeout, UpstreamUnavailable):
            if not (is_cut_short and deadline.is_over):
                self._health.failed()
            raise
        except InvalidReply as error:
            self._health.unusable(error.detail)
            raise
        except asyncio.CancelledError:
            # The time limit of the whole call ends at about the same time, and cancels this task.
            if deadline.is_over and not is_cut_short:
                self._health.failed()
            raise
        self._health.answered(reply)
        return reply

    async def close(self) -> None:
        """See `Backend.close`."""
        for each in (self._tokens, self._slot_tokens):
            if each is not None:
                await each.close()
        await self._wire.close()

    async def _with_token(
        self, wire: WireRequest, tokens: TokenSource, deadline: "_Deadline"
    ) -> Reply:
        token = await self._token(tokens, wire, deadline)
        reply = await self._exchange(self._encoder.signed(wire, self._now(), token), deadline)
        if not self._says_expired(reply):
            return reply
        # The upstream refused the request before it acted on it, so even a write may be repeated.
        tokens.invalidate(token)
        token = await self._token(tokens, wire, deadline)
        return await self._exchange(self._encoder.signed(wire, self._now(), token), deadline)

    def _source(self, wire: WireRequest) -> TokenSource | None:
        if wire.token is None or self._slot_tokens is None:
            return self._tokens
        return self._slot_tokens.source(wire.token)

    async def _token(self, tokens: TokenSource, wire: WireRequest, deadline: "_Deadline") -> str:
        wire.departure.is_unsent = True
        try:
            async with asyncio.timeout_at(deadline.at):
                return await tokens.current()
        except TimeoutError:
            detail = f"No access token in {in_seconds(deadline.seconds)}."
            raise UpstreamUnavailable(detail, is_sent=False) from None

    async def _exchange(self, wire: WireRequest, deadline: "_Deadline") -> Reply:
        if trace := forwarded(self._forwarding):
            wire = _with_trace(wire, trace)
        wire.departure.is_unsent = False
        try:
            async with asyncio.timeout_at(deadline.at):
                reply = await self._wire.exchange(wire)
        except TimeoutError:
            if wire.departure.is_unsent:
                detail = f"No connection in {in_seconds(deadline.seconds)}."
                raise UpstreamUnavailable(detail, is_sent=False) from None
            raise UpstreamTimeout(f"No answer in {in_seconds(deadline.seconds)}.") from None
        self._rate.note(reply.headers, self._clock.monotonic())
        if 300 <= reply.status < 400 and not wire.admits_redirect:
            # Credentials go only to the declared address.
            raise InvalidReply("The upstream answered with a redirect, which is not followed.")
        if len(reply.body) < _LARGE_BYTES:
            return self._mask.over(reply, wire)
        return await in_thread(partial(self._mask.over, reply, wire))

    def _says_expired(self, reply: Reply) -> bool:
        if reply.status < 400:
            return False
        refusal = refusal_of(self._upstream, reply)
        return refusal.means == "token_expired" or (reply.status == 401 and not refusal.is_ruled)

    def _now(self) -> str:
        return rfc3339(self._clock.now())


def _with_trace(wire: WireRequest, trace: tuple[tuple[str, str], ...]) -> WireRequest:
    """`wire` with the fields of `trace` that the contract does not send itself."""
    own = {name.lower() for name, _ in wire.headers}
    added = tuple(field for field in trace if field[0] not in own)
    return replace(wire, headers=(*wire.headers, *added))


class _Mask:
    """Masks the credentials of a request in its reply, so that no agent gets them."""

    def __init__(self, credentials: Mapping[str, str]) -> None:
        secret = [text for name, text in credentials.items() if not name.endswith(_PUBLIC)]
        found = {form for each in secret for form in _forms(each)}
        # Longest first: of a secret that begins with another one, all must be masked.
        self._own = sorted(found, key=lambda form: len(form[0]), reverse=True)

    def over(self, reply: Reply, wire: WireRequest) -> Reply:
        """`reply` without the credentials of `wire`, wherever it repeats them."""
        body, headers = reply.body, reply.headers
        fields = "\n".join(headers.values())
        for form, text in (*self._own, *_sent_by(wire)):
            if form in body:
                body = body.replace(form, MASK.encode())
            if text in fields:
                headers = {name: value.replace(text, MASK) for name, value in headers.items()}
        is_same = body is reply.body and headers is reply.headers
        return reply if is_same else replace(reply, body=body, headers=headers)


def _forms(secret: str) -> Iterable[tuple[bytes, str]]:
    return [(form.encode(), form) for form in forms_of(secret)]


def _sent_by(wire: WireRequest) -> Iterable[tuple[bytes, str]]:
    """The credentials of the header `Authorization`: an access token, or both of HTTP Basic."""
    for name, value in wire.headers:
        if name.lower() == "authorization":
            return _forms(value.rpartition(" ")[2])
    return ()


class _Deadline:
    """The time at which one `send` must end, on the event loop's clock."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.at = asyncio.get_running_loop().time() + seconds

    @property
    def is_over(self) -> bool:
        """Whether the deadline is reached, or less than `_AS_GOOD_AS_OVER` seconds away."""
        return asyncio.get_running_loop().time() >= self.at - _AS_GOOD_AS_OVER
