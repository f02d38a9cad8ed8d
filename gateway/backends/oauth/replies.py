"""What a token endpoint's answer says (RFC 6749 §5.1, §5.2)."""

import math
import re
from typing import Any, Final

from msgspec import Struct

from gateway.contract.refusals import plain_code, with_code
from gateway.contract.upstream import Reply, UpstreamOperation, status_names
from gateway.contract.values import jsontext
from gateway.contract.values.schema import Validator
from gateway.errors import (
    InvalidReply,
    UpstreamRefusedCredentials,
    UpstreamRejected,
    UpstreamUnavailable,
)

MAX_TOKEN_REPLY_BYTES: Final = 64 * 1024
UNKNOWN_LIFETIME_SECONDS: Final = 300.0
"""How long a token is used whose endpoint does not say when it expires."""
_PERMANENT: Final = frozenset({"invalid_grant", "invalid_client", "unauthorized_client"})
_TRANSIENT: Final = frozenset({408, 429})
_TOKEN: Final = re.compile(r"[\x20-\x7e]{1,16384}")
"""What RFC 6749 (A.12) lets a token hold, and no more than servers take in a header. Another one
would be kept for its whole life, and no call could be made with it.
"""


class IssuedToken(Struct, frozen=True, kw_only=True):
    """What the endpoint issued. Its repr shows none of it."""

    text: str
    lifetime_seconds: float
    refresh_token: str | None = None
    """A new refresh token, which takes the old one's place."""

    def __repr__(self) -> str:
        return "IssuedToken(***)"


class CredentialsRefused(Struct, frozen=True):
    """No token until an operator fixes the credentials; `code` is the endpoint's word for why."""

    code: str


class TokenReplyReader:
    """Reads the replies of one token endpoint against its operation in the contract."""

    def __init__(self, operation: UpstreamOperation) -> None:
        declared = map(operation.replies.get, status_names(200))
        self._validator_of = Validator(next(filter(None, declared), {}))

    def read(self, reply: Reply) -> IssuedToken | CredentialsRefused:
        """The token that was issued, or that there will be none.

        Raises `UpstreamUnavailable` for what may pass and another `UpstreamError` for everything
        else. None of them repeats more than the error code.
        """
        if reply.status == 200:
            return self._issued(reply)
        if reply.status in _TRANSIENT or reply.status >= 500:
            raise UpstreamUnavailable(
                f"The upstream's token endpoint answered {reply.status}.", is_sent=False
            )
        if 300 <= reply.status < 400:
            raise UpstreamRejected("The upstream's token endpoint answered with a redirect.")
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
        if not self._validator_of.admits(body):
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
    """Some endpoints write the number as text."""
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
