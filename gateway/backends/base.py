"""The seam between an operation and its upstream."""

from typing import Literal, Protocol

from gateway.contract.upstream import Reply, UpstreamRequest


class Backend(Protocol):
    """Sends one request to one upstream. Implementations: `live`, `mock`."""

    @property
    def name(self) -> Literal["live", "mock"]: ...

    @property
    def problem(self) -> str | None:
        """What an operator must fix before calls can succeed again, without secrets, or None."""
        ...

    async def send(
        self, request: UpstreamRequest, *, timeout_seconds: float, is_cut_short: bool = False
    ) -> Reply:
        """One attempt, whatever its status.

        Where it `is_cut_short`, a caller wants it to take less time than the contract allows: when
        that is up, it says nothing of the upstream.

        A request whose access token the upstream refuses is sent once more with a new one. Raises
        `UpstreamTimeout`, `UpstreamUnavailable`, `UpstreamRefusedCredentials` when there is no
        token to be had, `UpstreamRejected` for an answer that is too large or a redirect, and
        `MalformedRequest` for a path segment that may not be sent.
        """
        ...

    async def close(self) -> None:
        """Release what the backend holds."""
        ...
