"""Converts the typed result of a Python handler to JSON, or to the bytes that it is."""

from typing import Any, TypeAlias

from pydantic import BaseModel, ValidationError

from gateway.contract.values.files import FileContent
from gateway.contract.values.pointers import pointer_of
from gateway.contract.values.violation import MAX_VIOLATIONS, Violation

ModelRefused: TypeAlias = ValidationError
"""The error of a handler that creates an invalid model. It contains the values: never re-raise or
log it.
"""


def dump(model: BaseModel) -> dict[str, Any]:
    """The JSON value of `model`: the contract's names, and only the members that were set."""
    return model.model_dump(mode="json", by_alias=True, exclude_unset=True)


def returned_file(found: object) -> FileContent:
    """`found`, which the handler of a tool returned whose results are files.

    Raises `TypeError` if it is no such result: then the handler has a defect.
    """
    if isinstance(found, FileContent) and type(found.data) is bytes and not found.members:
        return found
    raise TypeError("a handler of a tool whose results are files returns FileContent, with bytes")


def violations_of(refused: ModelRefused) -> list[Violation]:
    """The violations that `refused` reports, without the values."""
    found: Any = refused.errors(include_url=False, include_context=False, include_input=False)
    return [
        Violation(pointer=pointer_of(each["loc"]), keyword=each["type"], detail="does not fit")
        for each in found[:MAX_VIOLATIONS]
    ]
