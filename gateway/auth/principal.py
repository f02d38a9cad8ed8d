"""Callers and their permissions: principal, grant and permit; the caller in this process."""

from typing import Final, Protocol

from msgspec import Struct

from gateway.bounds.addresses import Address
from gateway.catalogue import Entry
from gateway.errors import GatewayError

# Callers and their permissions: credentials, principal, grant and permit.


class Credentials(Struct, frozen=True, kw_only=True):
    """What a caller presents to authenticate itself."""

    bearer: str | None = None
    """The key."""
    peer: Address | None = None
    """The address of the client. None if it is unknown or in the same process."""

    def __repr__(self) -> str:
        return f"Credentials(bearer={'<secret>' if self.bearer else None})"


class Principal(Struct, frozen=True, kw_only=True):
    """The authenticated caller."""

    subject: str
    """The key's public id, or `local` for an in-process caller."""
    agent: str
    """The agent of `schemas/policies/` whose grants apply."""


class Grant(Struct, frozen=True):
    """The permission of this principal to run this operation. Only `authorize` creates one."""

    principal: Principal
    entry: Entry
    may_escalate: bool = True
    """Whether it includes the escalation of the operation, if there is one."""


class Permit(Struct, frozen=True):
    """A grant that also passed the limits. A call needs it to reach a backend. Only `admit` creates
    one."""

    grant: Grant

    @property
    def entry(self) -> Entry:
        return self.grant.entry


class Identification(Protocol):
    """Authenticates callers."""

    async def identify(self, credentials: Credentials) -> Principal:
        """The caller with these credentials. Raises `Unauthenticated`."""
        ...


# The errors of the identification of callers.


class KeyNotChecked(GatewayError):
    """The key could not be checked, so nothing was done: try again."""

    stage = "authenticate"
    is_retryable = True
    retry_after_seconds = 5.0


# Identifies callers in the same process. They can read the data folder, so they need no key.

LOCAL_SUBJECT: Final = "local"


class LocalIdentification:
    """Identifies every caller as the local one, acting as one agent. Not for network transports."""

    def __init__(self, agent: str) -> None:
        self._principal = Principal(subject=LOCAL_SUBJECT, agent=agent)

    async def identify(self, credentials: Credentials) -> Principal:  # noqa: ARG002 - the Protocol's name
        return self._principal
