"""The one step between a Python handler's typed answer and the result that is checked and sent."""

from typing import Any

from pydantic import BaseModel


def dump(model: BaseModel) -> dict[str, Any]:
    """The JSON value of `model`: names as the contract spells them, only members that were set."""
    return model.model_dump(mode="json", by_alias=True, exclude_unset=True)
