"""The errors of calls whose clients cannot do what their tools need."""

from gateway.contract.operation import Requirement
from gateway.errors import CallerError


class CapabilityMissing(CallerError):
    """The client does not declare what the tool needs."""

    stage = "authorize"

    def __init__(self, required: tuple[Requirement, ...]) -> None:
        super().__init__(f"The client must declare: {', '.join(required)}.")
        self.required = required
