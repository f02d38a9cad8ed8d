"""A request of an operator, as the audit shows it."""

from msgspec import Struct

from gateway.audit.facts import OPERATOR


class OperatorRequest(Struct, frozen=True, kw_only=True):
    """A request of an operator, for its audit record."""

    request_id: str
    operation_id: str
    """`operator.<thing>.<verb>`."""
    transport: str = OPERATOR
