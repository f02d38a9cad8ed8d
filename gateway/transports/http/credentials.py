"""Credentials from an HTTP request (RFC 6750 §2.1: the Authorization header and nothing else)."""

import re
from typing import Final, NoReturn

from gateway.auth.principal import Credentials, Identification, Principal
from gateway.calls.call import Call, Invoke
from gateway.contract.credentials import bearer
from gateway.errors import GatewayError, Unauthenticated
from gateway.transports.http.asgi import Scope, header_values
from gateway.transports.http.peers import Sender, peer_at

_BEARER: Final = re.compile(f"bearer +({bearer.TOKEN})".encode(), re.IGNORECASE)
_LONGEST: Final = max(bearer.LENGTHS)


def credentials_of(scope: Scope) -> Credentials:
    """What the request presents, which may be nothing.

    Raises `Unauthenticated` for anything but one well-formed `Authorization: Bearer <key>`: a
    second header, another scheme, a key longer than 512 characters or with others than RFC 6750's.
    """
    values = header_values(scope, b"authorization")
    if not values:
        return Credentials(peer=peer_at(scope))
    match = _BEARER.fullmatch(values[0])
    if match is None or len(values) > 1 or len(match[1]) > _LONGEST:
        raise Unauthenticated(presented=True)
    return Credentials(bearer=match[1].decode("ascii"), peer=peer_at(scope))


async def prove(
    identification: Identification, credentials: Credentials, sender: Sender
) -> Principal:
    """Whose `credentials` these are; from now on `sender` is authenticated.

    Every transport proves its callers here. Raises what `Identification.identify` raises.
    """
    principal = await identification.identify(credentials)
    sender.is_proven = True
    return principal


async def refuse(invoke: Invoke, call: Call, error: GatewayError) -> NoReturn:
    """Leave the one record of a `call` whose caller is not proven, and raise why."""
    await invoke(call, error)
    raise AssertionError("a call that is refused was run")


def shown_credentials(scope: Scope) -> Credentials:
    """What the request shows, to be checked where the call is recorded: nobody's if malformed."""
    try:
        return credentials_of(scope)
    except Unauthenticated:
        # Something, but nobody's.
        return Credentials(bearer="", peer=peer_at(scope))
