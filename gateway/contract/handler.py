"""The one step between a Python handler's typed answer and the result that is checked and sent."""

from typing import Any, TypeAlias

from pydantic import BaseModel, ValidationError

from gateway.contract.values.pointers import pointer_of
from gateway.contract.values.violation import MAX_VIOLATIONS, Violation

ModelRefused: TypeAlias = ValidationError
"""What a handler meets when its own model refuses what it made. It shows the values: never raise
or log it further.
"""


def dump(model: BaseModel) -> dict[str, Any]:
    """The JSON value of `model`: names as the contract spells them, only members that were set."""
    return model.model_dump(mode="json", by_alias=True, exclude_unset=True)


def violations_of(refused: ModelRefused) -> list[Violation]:
    """The places that the model refused, without their values."""
    found: Any = refused.errors(include_url=False, include_context=False, include_input=False)
    return [
        Violation(pointer=pointer_of(each["loc"]), keyword=each["type"], detail="does not fit")
        for each in found[:MAX_VIOLATIONS]
    ]
