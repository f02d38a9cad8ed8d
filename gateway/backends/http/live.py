"""The live backend: reaches an upstream over pooled HTTP/1.1 connections."""

from collections.abc import Coroutine, Mapping
from typing import Any, Literal

from msgspec.structs import replace

from gateway.backends.http.client import UpstreamClient
from gateway.backends.http.connection import ClientCertificate, client_certificate
from gateway.backends.http.replies import ReplyLimits
from gateway.backends.http.wire import HttpWire
from gateway.backends.oauth import HttpTokenWire, SlotTokens, TokenForms, TokenSource
from gateway.backends.wire import WireEncoder, WireRequest
from gateway.clock import Clock
from gateway.contract.credentials import usable_rule
from gateway.contract.upstream import Reply, Upstream
from gateway.trace_context import Forwarding


class HttpServers:
    """Sends each request to its own server, or to the upstream's.

    If the operator has set another base URL than the contract's, all requests go there: a test
    against a copy must not reach the vendor.
    """

    def __init__(
        self,
        upstream: Upstream,
        base_url: str,
        replies: ReplyLimits,
        certificate: ClientCertificate | None = None,
    ) -> None:
        """`certificate` is presented to each server that requests one."""
        self._name = upstream.name
        self._replies = replies
        self._has_others = base_url == (upstream.base_url or "").rstrip("/")
        self._certificate = certificate
        self._own = self._wire(base_url)
        self._others: dict[str, HttpWire] = {}

    def exchange(self, request: WireRequest) -> Coroutine[Any, Any, Reply]:
        """See `Wire.exchange`."""
        return self._of(request.server).exchange(request)

    async def close(self) -> None:
        """Close all connections."""
        for each in (self._own, *self._others.values()):
            await each.close()

    def _of(self, server: str | None) -> HttpWire:
        if server is None or not self._has_others:
            return self._own
        if server not in self._others:
            self._others[server] = self._wire(server)
        return self._others[server]

    def _wire(self, base_url: str) -> HttpWire:
        return HttpWire(self._name, base_url, self._replies, self._certificate)


class LiveBackend(UpstreamClient):
    """Sends requests to one upstream at `base_url`, and fetches its access tokens at `token_url`.

    The settings have checked both URLs. Redirects are not followed, proxies and credentials of the
    environment are not used, and no cookies are stored. Raises `ConfigurationError` for credentials
    that are missing or cannot be sent.
    """

    name: Literal["live"] = "live"

    def __init__(  # noqa: PLR0913 - each is one fact about the upstream
        self,
        upstream: Upstream,
        clock: Clock,
        *,
        base_url: str,
        credentials: Mapping[str, str],
        token_url: str | None = None,
        replies: ReplyLimits | None = None,
        settings: Mapping[str, str] | None = None,
        forwarding: Forwarding = "ids",
    ) -> None:
        """`settings` are the ones that are not secret, such as the token endpoints of slots."""
        super().__init__(
            upstream,
            clock,
            wire=HttpServers(
                upstream,
                base_url,
                replace(replies or ReplyLimits(), upstream=upstream.name),
                client_certificate(upstream, credentials),
            ),
            encoder=WireEncoder(upstream, credentials),
            tokens=_tokens(upstream, clock, credentials, token_url),
            slot_tokens=SlotTokens(
                upstream, clock, credentials=credentials, settings=settings or {}
            ),
            credentials=credentials,
            forwarding=forwarding,
        )


def _tokens(
    upstream: Upstream, clock: Clock, credentials: Mapping[str, str], token_url: str | None
) -> TokenSource | None:
    rule = usable_rule(upstream.tokens, credentials)
    if rule is None or token_url is None:
        return None
    forms = TokenForms(rule, credentials)
    return TokenSource(upstream, rule, forms, HttpTokenWire(token_url), clock)
