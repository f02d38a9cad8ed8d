"""The interface between an operation and its upstream."""

from typing import Literal, Protocol

from gateway.contract.upstream import Reply, UpstreamRequest
from gateway.errors import InvalidReply


class ReplyTooLarge(InvalidReply):
    """The upstream's answer is larger than the gateway accepts."""


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
        """Make one attempt. Returns the reply, with any status.

        `is_cut_short`: the caller asked for less time than the contract allows, so a timeout does
        not count as a failure of the upstream.

        If the upstream refuses the access token, the request is sent once more with a new token.
        Raises `UpstreamTimeout`, `UpstreamUnavailable`, `UpstreamRefusedCredentials` if no token
        can be fetched, `ReplyTooLarge`, `InvalidReply` for a redirect and for what is no HTTP,
        `UpstreamRateLimited` while the upstream's limit is used up, and `MalformedRequest` for
        values that may not be sent in a path or a header.
        """
        ...

    async def close(self) -> None:
        """Close the backend's connections and files."""
        ...
