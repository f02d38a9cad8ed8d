"""Credentials of an HTTP request, only from its Authorization header (RFC 6750 §2.1)."""

import re
from typing import Final, NoReturn

from gateway.auth.principal import Credentials, Identification, Principal
from gateway.calls.call import Call, Invoke
from gateway.contract.credentials import bearer
from gateway.errors import GatewayError
from gateway.transports.http.asgi import Headers, Scope, of_head
from gateway.transports.http.peers import Sender, peer_at

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
