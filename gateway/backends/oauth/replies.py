"""Reads the replies of a token endpoint (RFC 6749 §5.1, §5.2)."""

import math
import re
from typing import Any, Final

from msgspec import Struct

from gateway.contract.refusals import plain_code, with_code
from gateway.contract.upstream import Reply, UpstreamOperation, status_names
from gateway.contract.values import jsontext
from gateway.encoding.replies.content import ReplySchema
from gateway.errors import (
    InvalidReply,
    UpstreamRefusedCredentials,
    UpstreamUnavailable,
)

MAX_TOKEN_REPLY_BYTES: Final = 64 * 1024
UNKNOWN_LIFETIME_SECONDS: Final = 300.0
"""The lifetime of a token if the endpoint does not give one."""
_PERMANENT: Final = frozenset({"invalid_grant", "invalid_client", "unauthorized_client"})
_TRANSIENT: Final = frozenset({408, 429})
_TOKEN: Final = re.compile(r"[\x20-\x7e]{1,16384}")
"""The characters that RFC 6749 (A.12) allows in a token, and a length that servers accept in a
header. Any other token would be cached, and would make all calls fail until it expires."""


class IssuedToken(Struct, frozen=True, kw_only=True):
    """What the endpoint issued. Its repr does not contain the tokens."""

    text: str
    lifetime_seconds: float
    refresh_token: str | None = None
    """A new refresh token that replaces the old one."""

    def __repr__(self) -> str:
        return "IssuedToken(***)"


class CredentialsRefused(Struct, frozen=True):
    """The endpoint refused the credentials permanently. An operator must fix them."""

    code: str
    """The error code of RFC 6749 §5.2, or a code of the gateway's own."""


class TokenReplyReader:
    """Validates the replies of one token endpoint against its operation in the contract."""

    def __init__(self, operation: UpstreamOperation) -> None:
        declared = map(operation.replies.get, status_names(200))
        self._schema = ReplySchema(next(filter(None, declared), {}), None)

    def read(self, reply: Reply) -> IssuedToken | CredentialsRefused:
        """The issued token, or the permanent refusal.

        Raises `UpstreamUnavailable` for a temporary failure, and another `UpstreamError` for any
        other reply. The errors contain the endpoint's error code, and nothing else of its reply.
        """
        if reply.status == 200:
            return self._issued(reply)
        if reply.status in _TRANSIENT or reply.status >= 500:
            raise UpstreamUnavailable(
                f"The upstream's token endpoint answered {reply.status}.", is_sent=False
            )
        if 300 <= reply.status < 400:
            raise InvalidReply("The upstream's token endpoint answered with a redirect.")
        code = plain_code((_object(reply) or {}).get("error"))
        if code in _PERMANENT:
            return CredentialsRefused(code)
        raise UpstreamRefusedCredentials(
            with_code(f"The upstream's token endpoint answered {reply.status}", code)
        )

    def _issued(self, reply: Reply) -> IssuedToken:
        body = _object(reply)
        if body is None:
            raise InvalidReply("The upstream's token endpoint did not return a JSON object.")
        if not self._schema.admits(body):
            body, _ = self._schema.lenient(body)
        if not self._schema.admits(body):
            raise InvalidReply("The reply of the upstream's token endpoint breaks its contract.")
        token, lifetime = body.get("access_token"), body.get("expires_in")
        if not isinstance(token, str) or not token or not _is_bearer(body.get("token_type")):
            raise InvalidReply("The upstream's token endpoint did not return a bearer token.")
        if not _TOKEN.fullmatch(token):
            raise InvalidReply("The upstream issued an access token that a header cannot hold.")
        rotated = body.get("refresh_token")
        return IssuedToken(
            text=token,
            lifetime_seconds=_seconds(lifetime),
            refresh_token=rotated if isinstance(rotated, str) and rotated else None,
        )


def _seconds(lifetime: object) -> float:
    """The lifetime as a number. Some endpoints write it as text."""
    try:
        seconds = float(lifetime) if isinstance(lifetime, int | float | str) else math.nan
    except (ValueError, OverflowError):
        seconds = math.nan
    return seconds if math.isfinite(seconds) else UNKNOWN_LIFETIME_SECONDS


def _is_bearer(kind: object) -> bool:
    return kind is None or (isinstance(kind, str) and kind.lower() == "bearer")


def _object(reply: Reply) -> dict[str, Any] | None:
    if len(reply.body) > MAX_TOKEN_REPLY_BYTES:
        return None
    try:
        body = jsontext.decode(reply.body)
    except jsontext.NotJson:
        return None
    return body if isinstance(body, dict) else None
