"""Fills credentials into the templates of the headers and query parameters of every request."""

import re
from collections.abc import Mapping
from enum import Enum
from typing import Final

from msgspec import Struct

from gateway.contract.upstream import HeaderRule, QueryRule, Upstream
from gateway.errors import ConfigurationError

PLACEHOLDER: Final = re.compile(r"\{([a-z0-9_.]+)\}")
SENDABLE: Final = re.compile(r"[\t\x20-\x7e]*")


class SendTime(Enum):
    """The placeholders whose values are known only when a request is sent."""

    NOW = "now"
    TOKEN = "token"  # noqa: S105 - a placeholder's name


NOW: Final = SendTime.NOW
TOKEN: Final = SendTime.TOKEN
Part = str | SendTime


class Filled(Struct, frozen=True):
    """A header or a query parameter, with the credentials filled in."""

    name: str
    parts: tuple[Part, ...]

    @property
    def key(self) -> str:
        return self.name.lower()

    @property
    def is_fixed(self) -> bool:
        """Whether the value is the same in every request."""
        return not any(isinstance(part, SendTime) for part in self.parts)

    def text(self, now: str = "", token: str = "") -> str:
        """The value in a request that is sent at the time `now` with the access token `token`."""
        return "".join(
            [now if part is NOW else token if part is TOKEN else str(part) for part in self.parts]
        )

    def __repr__(self) -> str:
        return f"Filled({self.name})"


def filled(
    rule: HeaderRule | QueryRule, upstream: Upstream, credentials: Mapping[str, str]
) -> Filled | None:
    """`rule` with its credentials, or None if an optional credential is not set.

    Raises `ConfigurationError` if a required credential is missing or a credential cannot be sent.
    """
    optional = {each.name for each in upstream.credentials if not each.is_required}
    parts: list[Part] = []
    for index, part in enumerate(PLACEHOLDER.split(rule.template)):
        name = part.removeprefix("credential.")
        if index % 2 == 0:
            parts.append(part)
        elif part in _MOMENTS:
            parts.append(_MOMENTS[part])
        elif credentials.get(name):
            parts.append(_credential(name, upstream, credentials))
        elif name in optional:
            return None
        else:
            raise ConfigurationError(f"{_setting(name, upstream)} is not set")
    return Filled(rule.name, tuple(parts))


_MOMENTS: Final = {each.value: each for each in SendTime}


def _credential(name: str, upstream: Upstream, credentials: Mapping[str, str]) -> str:
    value = credentials[name]
    if not SENDABLE.fullmatch(value):
        raise ConfigurationError(
            f"{_setting(name, upstream)} cannot be sent in a header; does it contain a line break?"
        )
    return value


def _setting(name: str, upstream: Upstream) -> str:
    return f"GATEWAY_{upstream.name.upper()}_{name.upper()}"
