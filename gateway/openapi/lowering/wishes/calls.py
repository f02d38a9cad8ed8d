"""The limits, the policies and the checks of results that `import.yaml` gives to tools."""

from collections.abc import Mapping, Sequence
from typing import Final

import msgspec
from msgspec.structs import replace

from gateway.contract.imported import ImportedOperation
from gateway.contract.operation import CallPolicy, Effect
from gateway.contract.policies.limits import ToolLimits
from gateway.openapi.lowering.records import OperationSource, WrongSelection
from gateway.openapi.lowering.selecting import by_pattern
from gateway.openapi.lowering.selection import ImportFile

_SAFE: Final = frozenset({"GET", "HEAD"})


class CallWishes:
    """What `import.yaml` says of calls, by the key of the operation."""

    def __init__(self, operations: Sequence[OperationSource], wishes: ImportFile) -> None:
        """Raises `WrongSelection` for what names no operation, or one in two ways."""
        limits = by_pattern(operations, wishes.tool_limits, "tool_limits")
        self._wishes = wishes
        self._usual_limits = msgspec.convert(wishes.limits, ToolLimits | None)
        self._limits = {key: msgspec.convert(each, ToolLimits) for key, each in limits.items()}
        self._policies = by_pattern(operations, wishes.tool_policies, "tool_policies")
        self._results = by_pattern(operations, wishes.tool_results, "tool_results")

    def applied(self, operations: Mapping[str, ImportedOperation]) -> dict[str, ImportedOperation]:
        """The operations by key, with what is said of their calls. Raises `WrongSelection`."""
        return {
            key: replace(
                each,
                limits=self._limits.get(key, self._usual_limits),
                policy=self._policy(key, each),
                results=self._results.get(key, self._wishes.results),
            )
            for key, each in operations.items()
        }

    def _policy(self, key: str, operation: ImportedOperation) -> CallPolicy:
        """A member of the tool's own policy stands in place of the one for all tools."""
        own = self._policies.get(key, {})
        may_repeat = operation.effect is Effect.READ or operation.method in _SAFE
        if "attempts" in own and not may_repeat:
            message = f"{key} is not safe to repeat, so it has no attempts"
            fix = "remove attempts, or correct the operation under `effects`"
            raise WrongSelection("/tool_policies", message, fix)
        return msgspec.convert({**self._wishes.policy, **own}, CallPolicy)
