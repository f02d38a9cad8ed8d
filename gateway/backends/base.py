"""The seam between an operation and its upstream."""

from typing import Literal, Protocol

from gateway.contract.upstream import Reply, UpstreamRequest


class Backend(Protocol):
    """Sends one request to one upstream. Implementations: `live`, `mock`."""

    @property
    def name(self) -> Literal["live", "mock"]: ...

    async def send(self, request: UpstreamRequest, *, timeout_seconds: float) -> Reply:
        """One attempt, whatever its status.

        Raises `UpstreamTimeout`, `UpstreamUnavailable`, or `UpstreamRejected` for an answer that
        is too large or a redirect, and `MalformedRequest` for a path segment that may not be sent.
        """
        ...

    async def close(self) -> None:
        """Release what the backend holds."""
        ...
