"""What the audit log reads of a call. The pipeline has the types."""

from typing import Any, Protocol

from gateway.contract.operation import Effect


class AuditedCall(Protocol):
    """The facts of a call that are known at its start."""

    @property
    def operation_id(self) -> str: ...
    @property
    def transport(self) -> str: ...
    @property
    def request_id(self) -> str: ...


class AuditedCaller(Protocol):
    """The authenticated caller."""

    @property
    def subject(self) -> str: ...
    @property
    def agent(self) -> str: ...


class AuditedArguments(Protocol):
    """The validated arguments."""

    @property
    def given(self) -> dict[str, Any]: ...
    @property
    def effect(self) -> Effect: ...
