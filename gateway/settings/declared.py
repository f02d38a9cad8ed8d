"""The settings as records, for the reference page, `gateway config` and error messages."""

import re
from pathlib import Path
from typing import Any, Final, Literal, get_args, get_origin, get_type_hints

from msgspec import Meta, Struct

from gateway.contract import credentials
from gateway.contract.credentials import is_key
from gateway.settings.bounds import LimitFields
from gateway.settings.secret import MASK, Secret
from gateway.settings.sources import Name, setting_name

_PLAIN: Final = {bool: "true or false", Path: "a path", str: "text"}


class Setting(Struct, frozen=True, kw_only=True):
    """One setting."""

    name: Name
    key: str
    """The name of its field in `LimitFields`."""
    type: Any
    rule: str
    """What a value must be, for the text "must be …"."""
    description: str
    default: Any

    @property
    def default_text(self) -> str:
        return text_of(self.default)

    @property
    def is_secret(self) -> bool:
        return Secret in get_args(get_args(self.type)[0])

    def admits(self, secret: str) -> bool:
        """Whether the text of a secret has the required form."""
        pattern = get_args(self.type)[1].pattern
        return is_key(secret) if pattern is None else re.match(pattern, secret) is not None


def text_of(value: object) -> str:
    """A value as text for people. Secrets are masked, and None is empty."""
    match value:
        case None:
            return ""
        case Secret():
            return MASK
        case bool():
            return str(value).lower()
        case tuple():
            return ", ".join(value)
        case _:
            return str(value)


def _setting(key: str, annotated: Any, default: Any) -> Setting:
    kind, meta = get_args(annotated)
    return Setting(
        name=setting_name(key),
        key=key,
        type=annotated,
        rule=_rule(kind, meta),
        description=meta.description,
        default=default,
    )


def _rule(kind: Any, meta: Meta) -> str:
    if meta.title is not None:
        return meta.title
    if kind in (int, float):
        number = "a whole number" if kind is int else "a number"
        return f"{number} from {meta.ge} to {meta.le}"
    if get_origin(kind) is Literal:
        return f"one of {', '.join(get_args(kind))}"
    return _PLAIN.get(kind, credentials.RULE)


def _declared() -> dict[str, Setting]:
    hints = get_type_hints(LimitFields, include_extras=True)
    defaults = dict(
        zip(LimitFields.__struct_fields__, LimitFields.__struct_defaults__, strict=True)
    )
    return {key: _setting(key, hints[key], defaults[key]) for key in defaults}


SETTINGS: Final = _declared()
