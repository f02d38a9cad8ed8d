"""What the next generation continues with: what calls hold, and what they have learnt."""

import hashlib
from collections.abc import Callable, Hashable
from typing import Any, TypeVar
from weakref import WeakValueDictionary

import msgspec

from gateway.settings import UpstreamSettings

_T = TypeVar("_T")


class Carried:
    """Objects that generations share if they would make them alike.

    Each object lasts as long as a generation uses it. So a reload that is refused changes nothing.
    """

    def __init__(self) -> None:
        self._objects: WeakValueDictionary[Hashable, Any] = WeakValueDictionary()

    def same(self, make: Callable[[], _T], *key: Hashable) -> _T:
        """The object that another generation made for `key`, else what `make` returns.

        `key` names the object and all that it depends on.
        """
        found: _T | None = self._objects.get(key)
        if found is None:
            found = self._objects[key] = make()
        return found


def likeness(found: UpstreamSettings) -> bytes:
    """Equal if the settings of two upstreams are equal. Nothing can be read from it."""
    credentials = {name: secret.reveal() for name, secret in found.credentials.items()}
    urls = found.base_url, found.token_url
    facts = found.name, found.backend, urls, credentials, dict(found.settings)
    text = msgspec.json.encode(facts, order="deterministic")
    return hashlib.blake2b(text, digest_size=16).digest()
