"""The live backend: reaches an upstream over pooled HTTP/1.1 connections."""

from collections.abc import Mapping
from typing import Literal

from msgspec.structs import replace

from gateway.backends.http.certificate import client_certificate
from gateway.backends.http.client import UpstreamClient
from gateway.backends.http.replies import ReplyLimits
from gateway.backends.http.servers import HttpServers
from gateway.backends.oauth.endpoint import HttpTokenWire
from gateway.backends.oauth.forms import TokenForms
from gateway.backends.oauth.slots import SlotTokens
from gateway.backends.oauth.tokens import TokenSource
from gateway.backends.wire import WireEncoder
from gateway.clock import Clock
from gateway.contract.credentials.grants import usable_rule
from gateway.contract.upstream import Upstream
from gateway.trace_context import Forwarding


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
