"""The interface between an operation and its upstream."""

from typing import Literal, Protocol

from gateway.contract.refusals import UpstreamRefusal, with_code
from gateway.contract.slots import setting_variable
from gateway.contract.upstream import Reply, Upstream, UpstreamRequest
from gateway.errors import InvalidReply, UpstreamError, UpstreamNotSetUp, UpstreamRefusedCredentials


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


# What an operator is told of a refusal that only the operator can end.


def operators_error(upstream: Upstream, status: int, refusal: UpstreamRefusal) -> UpstreamError:
    """The error for a refusal of this status. Its detail names the upstream, its code, the fix."""
    what = f"{upstream.title} answered {status}"
    match refusal.means:
        case "credentials" | "token_expired":
            what = f"{what}: it refused this gateway's credentials"
            error: UpstreamError = UpstreamRefusedCredentials(with_code(what, refusal.code))
        case "not_set_up":
            error = UpstreamNotSetUp(with_code(what, refusal.code))
        case "foreign":
            variable = setting_variable(upstream.name, "base_url")
            error = UpstreamNotSetUp(
                f"{what}, and not as its API does: check {variable}, and what stands in between."
            )
        case _:
            what = f"{what}: it does not permit this to the gateway's account"
            error = UpstreamNotSetUp(with_code(what, refusal.code))
    if refusal.fix:
        error.detail = f"{error.detail} {refusal.fix}"
        error.args = (error.detail,)
    return error
