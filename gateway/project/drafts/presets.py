"""What vendors send and how they sign, each as its documentation says: data for drafts."""

from collections.abc import Mapping
from functools import cache
from importlib.resources import files as resources
from typing import Any, Final

import msgspec
from msgspec import Struct

_ENDING: Final = ".json"


class Preset(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How the webhooks of one vendor are received."""

    title: str
    docs: str
    """The page of its documentation about signatures."""
    secret: str
    """What the operator sets as the secret, and where to find it."""
    event: str
    """One of its types of event."""
    profile: Mapping[str, Any]
    """The members of the profile in a contract, with a signed sample."""
    message: Mapping[str, Any]
    """A message of the type `event`."""
    content: tuple[str, ...] = ("application/json",)
    """The media types of its requests."""
    ignore: tuple[str, ...] = ()
    settings: Mapping[str, Any] = {}
    public_url: bool = False
    """Whether it signs the address, so that the gateway must know its own."""


@cache
def preset_names() -> tuple[str, ...]:
    """The vendors, sorted."""
    folder = resources(__package__) / "presets"
    names = (each.name for each in folder.iterdir())
    return tuple(sorted(name.removesuffix(_ENDING) for name in names if name.endswith(_ENDING)))


def preset_of(name: str) -> Preset:
    """The preset of a vendor, which is one of `preset_names`."""
    file = resources(__package__) / "presets" / f"{name}{_ENDING}"
    return msgspec.json.decode(file.read_bytes(), type=Preset)
