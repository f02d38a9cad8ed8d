"""Who is calling, and the facts that only authorization can make."""

from typing import Protocol

from msgspec import Struct

from gateway.catalogue import Entry
from gateway.limits.addresses import Address


class Credentials(Struct, frozen=True, kw_only=True):
    """What was presented to prove who is calling."""

    bearer: str | None = None
    peer: Address | None = None
    """Where they came from; None where it is unknown, or in the same process."""

    def __repr__(self) -> str:
        return f"Credentials(bearer={'<secret>' if self.bearer else None})"


class Principal(Struct, frozen=True, kw_only=True):
    """Who is calling, once proven."""

    subject: str
    """The key's public id, or `local` for an in-process caller."""
    agent: str
    """The agent of `schemas/policies/` whose grants apply."""


class Grant(Struct, frozen=True):
    """The fact that this principal may run this operation now; made only by `authorize`."""

    principal: Principal
    entry: Entry


class Permit(Struct, frozen=True):
    """A grant that also passed the limits; needed to reach a backend. Made only by `admit`."""

    grant: Grant

    @property
    def entry(self) -> Entry:
        return self.grant.entry


class Identification(Protocol):
    """Turns credentials into a principal."""

    async def identify(self, credentials: Credentials) -> Principal:
        """Who is calling. Raises `Unauthenticated`."""
        ...
