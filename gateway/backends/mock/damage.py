"""Damages the body of a reply, as a fault requires."""

from collections.abc import Iterator
from copy import deepcopy
from typing import Any, Final

from gateway.backends.mock.faults import Damage
from gateway.contract.values import jsontext
from gateway.contract.values.schema import Validator
from gateway.encoding.replies.tolerance import ReplySchema

_NOTHING: Final = "not what the contract says"


def damaged(text: bytes, damage: Damage | None, validator: Validator | None) -> bytes:
    """`text` with `damage` applied. `break-contract` makes a body that `validator` rejects."""
    match damage:
        case "truncate":
            return text[: len(text) // 2]
        case "break-contract" if text:
            return jsontext.encode(_broken(jsontext.decode(text), validator))
        case _:
            return text


def _broken(body: Any, validator: Validator | None) -> Any:
    """The first variant that the contract rejects: a member left out, null, or of a wrong type.

    If a tolerant reader would read it all the same, another value.
    """
    for variant in _variants(body):
        if validator is None or not validator.admits(variant):
            return variant if not _is_tolerable(variant, validator) else _NOTHING
    return _NOTHING


def _is_tolerable(variant: Any, validator: Validator | None) -> bool:
    if not isinstance(validator, ReplySchema):
        return False
    return validator.admits(validator.lenient(deepcopy(variant))[0])


def _variants(value: Any) -> Iterator[Any]:
    """Copies of `value` with one change each, the innermost changes first."""
    if isinstance(value, dict):
        for name, member in value.items():
            rest = {key: each for key, each in value.items() if key != name}
            yield from ({**value, name: variant} for variant in _variants(member))
            yield from (rest, {**value, name: None}, {**value, name: ["?"]})
    elif isinstance(value, list):
        for index, item in enumerate(value[:3]):
            yield from ([*value[:index], each, *value[index + 1 :]] for each in _variants(item))
