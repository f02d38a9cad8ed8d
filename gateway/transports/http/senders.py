"""Who sends a request: the address of its client, and the key that it shows."""

import re
from functools import lru_cache
from typing import Final, NoReturn

from gateway.auth.principal import Credentials, Identification, Principal
from gateway.bounds.addresses import (
    NO_NETWORKS,
    X_FORWARDED_FOR,
    Address,
    Networks,
    address_of,
    peer_of,
)
from gateway.calls.call import Call, Invoke
from gateway.contract import credentials as bearer
from gateway.errors import GatewayError
from gateway.transports.http.asgi import Headers, Scope, header_values, of_head

_SENDER: Final = "gateway.sender"


class Sender:
    """What is known about the sender of one request. Copies of its scope share this object."""

    __slots__ = ("is_authenticated", "is_counted", "limit_source", "max_body_bytes", "peer")

    def __init__(self, peer: Address | None) -> None:
        self.peer = peer
        """None if it is unknown."""
        self.is_authenticated = False
        """Whether the request has a valid key or is an authentic message."""
        self.is_counted = False
        """Whether it was counted as a request without a valid key."""
        self.max_body_bytes: int | None = None
        """The limit of its body, in bytes. None is the limit for unauthenticated clients."""
        self.limit_source = "the setting max_body_bytes"
        """What sets this limit, for errors."""

    def allow_body(self, max_bytes: int, usual: int) -> None:
        """Set the limit of its body, in bytes: the `usual` one, or that of a tool's contract."""
        self.max_body_bytes = max_bytes
        if max_bytes > usual:
            self.limit_source = "this tool's contract and the setting max_upload_bytes"


class Peers:
    """Finds the sender of each request and stores it in the scope."""

    def __init__(self, proxies: Networks = NO_NETWORKS, header: bytes = X_FORWARDED_FOR) -> None:
        """`header` is where `proxies` name their client. It is ignored from all other peers."""
        self._proxies = proxies
        self._header = header
        self._named = re.compile(rb"\n%b:[ \t]*([^\r\n]*)" % re.escape(header), re.IGNORECASE)
        self.is_proxy = lru_cache(maxsize=4096)(lambda host: address_of(host) in proxies)
        """Whether a host, given as text, is one of `proxies`."""

    def note(self, scope: Scope) -> Sender:
        """Store the sender of this request in its scope, for the inner layers."""
        sender = scope[_SENDER] = Sender(self.peer_in(scope))
        return sender

    def named_in(self, host: str, data: bytes) -> Address | None:
        """The sender that the proxy `host` names in the head with which `data` begins."""
        named = self._named.findall(data.partition(b"\r\n\r\n")[0])
        return peer_of(host, named, self._proxies, self._header)

    def peer_in(self, scope: Scope) -> Address | None:
        """The address of the sender of this request; None if it is unknown."""
        client = scope.get("client")
        host = client[0] if client else ""
        if self.is_proxy(host):
            values = header_values(scope, self._header)
            return peer_of(host, values, self._proxies, self._header)
        return address_of(host)


def sender_of(scope: Scope) -> Sender:
    """The sender of this request. Its peer is unknown if the request did not pass the edge."""
    sender: Sender | None = scope.get(_SENDER)
    if sender is None:
        sender = scope[_SENDER] = Sender(None)
    return sender


def peer_at(scope: Scope) -> Address | None:
    """The peer of this request; None if it is unknown."""
    return sender_of(scope).peer


_BEARER: Final = re.compile(f"bearer +({bearer.TOKEN})".encode(), re.IGNORECASE)
_LONGEST: Final = max(bearer.LENGTHS)
_SCHEME: Final = re.compile(rb"bearer(?=[ \t]|\Z)", re.IGNORECASE)


async def authenticate(
    identification: Identification, credentials: Credentials, sender: Sender
) -> Principal:
    """Identify the caller, and mark `sender` as authenticated.

    Every transport identifies its callers here. Raises what `Identification.identify` raises.
    """
    principal = await identification.identify(credentials)
    sender.is_authenticated = True
    return principal


async def refuse(invoke: Invoke, call: Call, error: GatewayError) -> NoReturn:
    """Write the audit record of a `call` whose caller is not authenticated, and raise `error`."""
    await invoke(call, error)
    raise AssertionError("a call that is refused was run")


def shown_credentials(scope: Scope) -> Credentials:
    """The credentials of the request, for the pipeline to check and record.

    Another scheme is no key (RFC 6750 §3.1). A key that is not one well-formed
    `Authorization: Bearer <key>` becomes an empty one, which belongs to no caller: a second header,
    a key longer than 512 characters, and a key with characters that RFC 6750 does not allow.
    """
    return Credentials(bearer=of_head(scope, _bearer_in), peer=peer_at(scope))


def _bearer_in(headers: Headers) -> str | None:
    """The key. None: there is none. Empty: it is malformed."""
    values = [value for name, value in headers if name == b"authorization"]
    if not any(_SCHEME.match(value) for value in values):
        return None
    match = _BEARER.fullmatch(values[0])
    if match is None or len(values) > 1 or len(match[1]) > _LONGEST:
        return ""
    return match[1].decode("ascii")
