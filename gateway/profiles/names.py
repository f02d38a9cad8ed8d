"""Short names for tools whose names are too long for a client.

A short name is another name of the same tool. It depends on the tool's own name, and on the others
only if two short names are equal, so it stays the same when tools are added.
"""

import hashlib
from collections.abc import Iterable, Mapping
from typing import Final

_DIGEST: Final = 6
_LONGEST_DIGEST: Final = 40


def short_names(names: Iterable[str], room: int) -> Mapping[str, str]:
    """The short name of each of `names` that has more than `room` characters.

    All are different, and different from all `names`.
    """
    every = set(names)
    found: dict[str, str] = {}
    taken = set(every)
    for name in sorted(each for each in every if len(each) > room):
        short = _free(name, room, taken)
        taken.add(short)
        found[name] = short
    return found


def _free(name: str, room: int, taken: set[str]) -> str:
    for length in range(_DIGEST, _LONGEST_DIGEST):
        short = _shortened(name, room, length)
        if short not in taken:
            return short
    return _shortened(name, room, _LONGEST_DIGEST)


def _shortened(name: str, room: int, length: int) -> str:
    """The beginning of `name`, whole words if that leaves enough, and a digest of the rest."""
    digest = hashlib.sha256(name.encode()).hexdigest()[:length]
    space = max(room - length - 1, 0)
    head = name[:space]
    words = head.rpartition("_")[0] if name[space : space + 1] != "_" else head
    kept = words if len(words) * 2 > space else head
    return f"{kept.rstrip('_')}_{digest}"[-room:] if room > 0 else digest
