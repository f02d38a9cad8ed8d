"""What an operator is told of a refusal that only the operator can end."""

from gateway.contract.refusals import UpstreamRefusal, with_code
from gateway.contract.slots import setting_variable
from gateway.contract.upstream import Upstream
from gateway.errors import UpstreamError, UpstreamNotSetUp, UpstreamRefusedCredentials


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
