"""Converts the arguments of a Python handler to its model, and what it returns to JSON or bytes."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeAlias, TypeVar, get_args
from weakref import WeakKeyDictionary

from pydantic import BaseModel, RootModel, ValidationError

from gateway.contract.values.files import FileContent
from gateway.contract.values.pointers import pointer_of
from gateway.contract.values.violation import MAX_VIOLATIONS, Violation

ModelRefused: TypeAlias = ValidationError
"""The error of a handler that creates an invalid model. It contains the values: never re-raise or
log it.
"""
_T = TypeVar("_T")
_M = TypeVar("_M", bound=BaseModel)


class ArgumentsRefused(ValueError):
    """The model of the arguments refuses what the input schema admits. No value is in it."""

    def __init__(self, violations: list[Violation]) -> None:
        super().__init__("the model refuses the arguments")
        self.violations = violations


def take(model: type[_M], arguments: Mapping[str, Any]) -> _M:
    """`arguments` as the handler gets them. Raises `ArgumentsRefused`."""
    try:
        return model.model_validate(arguments)
    except ValidationError as error:
        raise ArgumentsRefused(violations_of(error)) from None


def dump(model: BaseModel) -> dict[str, Any]:
    """The JSON value of `model`: the contract's names, and only the members that were set."""
    value = model.model_dump(mode="json", by_alias=True, exclude_unset=True)
    if _has_aliases(type(model)):
        _drop_unset(model, value)
    return value


def _drop_unset(found: object, value: Any) -> None:
    """Drop defaults that look as if they were set.

    Pydantic notes the names of the fields that were set and of additional members in one set. So
    an additional member with the Python name of a field with an alias makes the field look set.
    """
    pairs: Iterable[tuple[object, Any]] = ()
    if isinstance(found, RootModel):
        pairs = [(found.root, value)]
    elif isinstance(found, BaseModel) and isinstance(value, dict):
        fields = type(found).model_fields
        for name, alias, default in _aliased(type(found)):
            if name in (found.model_extra or ()) and getattr(found, name) == default:
                value.pop(alias, None)
        pairs = [
            (each, value.get(fields[name].alias or name)) for name, each in vars(found).items()
        ]
    elif isinstance(found, dict) and isinstance(value, dict):
        pairs = zip(found.values(), value.values(), strict=True)
    elif isinstance(found, list) and isinstance(value, list):
        pairs = zip(found, value, strict=True)
    for each, shown in pairs:
        _drop_unset(each, shown)


def _once(find: Callable[[type[BaseModel]], _T]) -> Callable[[type[BaseModel]], _T]:
    """`find`, once for each class. The classes of contracts that were replaced are not kept."""
    known: WeakKeyDictionary[type[BaseModel], _T] = WeakKeyDictionary()

    def found(model: type[BaseModel]) -> _T:
        try:
            return known[model]
        except KeyError:
            return known.setdefault(model, find(model))

    return found


@_once
def _aliased(model: type[BaseModel]) -> tuple[tuple[str, str, object], ...]:
    """The Python name, the alias and the default of each optional field with an alias."""
    return tuple(
        (name, field.alias, field.get_default())
        for name, field in model.model_fields.items()
        if field.alias not in {None, name} and not field.is_required()
    )


@_once
def _has_aliases(model: type[BaseModel]) -> bool:
    """Whether the model, or one in it, has an optional field with an alias. Most have none."""
    known: list[object] = [model]
    for each in known:
        if isinstance(each, type) and issubclass(each, BaseModel):
            if _aliased(each):
                return True
            parts = [field.annotation for field in each.model_fields.values()]
        else:
            parts = [*get_args(each)]
        known += [part for part in parts if part not in known]
    return False


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
