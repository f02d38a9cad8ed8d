"""Names of tools: from the operationId, else from the method and the path.

A name depends on its own operation, and on other operations only if their names are equal. So a
new operation does not rename the others, unless its name is equal to theirs. The names of the
gateway's own tools are taken.
"""

import hashlib
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import product
from typing import Final

from gateway.contract.agent_view import OWN_TOOLS
from gateway.openapi.lowering.records import OperationSource
from gateway.openapi.lowering.selection import NameCuts

MAX_NAME: Final = 60
"""The longest `<connector>_<tool>`, so that a client can add its own prefix within 64."""
_DIGEST: Final = 6
_BEGINNING: Final = 0.0
_MIDDLE: Final = 0.5
_HUMP: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_WORD: Final = re.compile(r"[a-z0-9]+")

_Way = Callable[[OperationSource], str]


def snake_case(text: str) -> str:
    """The ASCII letters and digits of `text` as lower-case words, joined with `_`."""
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()
    return "_".join(_WORD.findall(_HUMP.sub("_", plain).lower()))


def own_name(operation: OperationSource) -> str:
    """The name from the operationId alone. Empty if it has no letters or digits."""
    name = snake_case(operation.operation_id or "")
    return f"{operation.method.lower()}_{name}" if name[:1].isdigit() else name


def path_name(operation: OperationSource) -> str:
    """The name from the method and the path."""
    return f"{operation.method.lower()}_{snake_case(operation.path) or 'root'}"


def tool_names(
    operations: Sequence[OperationSource], names_of: "Naming", given: Mapping[str, str]
) -> dict[str, str]:
    """The name of each tool by operation key. `given` names have precedence.

    Names that are equal because they are cut are cut in another place. Operations with equal names
    are named by their paths instead, and with a digest of the path if these are equal too.
    """
    names = dict(given)
    waiting = [each for each in operations if each.key not in given]
    ways: tuple[_Way, ...] = (lambda each: own_name(each) or path_name(each), path_name)
    for way, first in product(ways, (_MIDDLE, _BEGINNING)):
        found = {each.key: names_of.fitted(way(each), each.key, first) for each in waiting}
        counts = Counter([*names.values(), *found.values(), *reserved(names_of.connector)])
        names |= {key: name for key, name in found.items() if counts[name] == 1}
        waiting = [each for each in waiting if each.key not in names]
    return names | {each.key: names_of.with_digest(path_name(each), each.key) for each in waiting}


def reserved(connector: str) -> frozenset[str]:
    """The names that no tool of `connector` may have: each would be that of an own tool."""
    return OWN_TOOLS | {name.removeprefix(f"{connector}_") for name in OWN_TOOLS}


class Naming:
    """Makes the names of the tools of one connector fit."""

    def __init__(self, connector: str, cuts: NameCuts) -> None:
        self.connector = connector
        self._room = MAX_NAME - len(connector) - 1
        self._cuts = cuts

    def fitted(self, name: str, key: str, first: float = _MIDDLE) -> str:
        """`name`. If `<connector>_<name>` is too long, a part of it.

        `first`: where words are left out, from 0, its beginning, to 1.
        """
        if len(name) <= self._room:
            return name
        shorter = _with_fewer_words(name, self._room, first) if self._cuts == "words" else name
        return shorter if len(shorter) <= self._room else self.with_digest(name, key)

    def with_digest(self, name: str, key: str) -> str:
        """The beginning of `name`, and a digest of the operation `key`."""
        digest = hashlib.sha256(key.encode()).hexdigest()[:_DIGEST]
        room = self._room - _DIGEST - 1
        if self._cuts == "words":
            name = _with_fewer_words(name, room, _MIDDLE)
        return f"{name[:room].rstrip('_')}_{digest}"


def _with_fewer_words(name: str, room: int, first: float) -> str:
    """`name` with fewer words: without those that it repeats, then without those after `first`.

    What it is about is at its beginning, and what makes it differ from others is at its end. Both
    stay.
    """
    words = name.split("_")
    at = 1
    while len("_".join(words)) > room and at < len(words) - 1:
        if words[at] in words[:at]:
            del words[at]
        else:
            at += 1
    while len("_".join(words)) > room and len(words) > 2:
        del words[max(1, int((len(words) - 1) * first))]
    return "_".join(words)
