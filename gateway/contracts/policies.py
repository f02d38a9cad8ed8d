"""The form of the members of `x-policy` that `import.yaml` may have too."""

from collections.abc import Iterator
from typing import Any, Final

from gateway.contract.operation import JOB_AFTER_SECONDS
from gateway.contract.values.nearest import hint
from gateway.contract.values.pointers import child
from gateway.contracts import meta

MEMBERS: Final = ("timeoutSeconds", "task", "attempts")
_FIX: Final = "write it like {timeoutSeconds: 120, task: auto, attempts: {max: 2}}"


def policy_problems(policy: Any) -> Iterator[tuple[str, str, str]]:
    """What is wrong with the policy of a tool: the JSON Pointer in it, a message and a fix."""
    for name, value in policy.items():
        place = child("", name)
        if name not in MEMBERS:
            yield place, f"a policy has no member {name!r}", hint(name, MEMBERS, _FIX)
            continue
        for each in meta.validator(f"x-policy.schema.json#/properties/{name}").violations(value):
            yield f"{place}{each.pointer}", each.detail, _FIX


def is_auto_in_vain(task: str, timeout_seconds: float) -> bool:
    """Whether no call becomes a job, though the policy lets long ones become jobs."""
    return task == "auto" and timeout_seconds <= JOB_AFTER_SECONDS
