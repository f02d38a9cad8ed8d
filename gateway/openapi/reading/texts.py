"""Removes hidden characters from the texts of a document: a model reads what no person sees.

Only what has no effect on requests and replies is changed. Operations whose names or values have
hidden characters are refused later.
"""

import re
from typing import Any, Final

from gateway.contract.values.hidden import HIDDEN, visible
from gateway.contracts.sources.keywords import NAME_MAPS

_TEXTS: Final = frozenset({"description", "summary", "title", "$comment"})
_EXAMPLES: Final = frozenset({"example", "examples"})
_DATA: Final = _EXAMPLES | {"const", "default", "enum"}
_IN_PATTERN: Final = re.compile(rf"(?<!\\){HIDDEN.pattern}")
_LAST_WITH_ESCAPE: Final = "\uffff"


def clean_texts(document: Any) -> int:
    """Remove hidden characters from texts and examples of `document`. Returns how many there were.

    In patterns they become escapes, which mean the same.
    """
    found, known = 0, set[int]()
    waiting = [(document, False)]
    while waiting:
        part, has_names = waiting.pop()
        if isinstance(part, list):
            waiting += [(each, False) for each in part]
        elif isinstance(part, dict) and id(part) not in known:  # YAML has aliases
            known.add(id(part))
            found += 0 if has_names else _clean_members(part)
            waiting += [
                (each, name in NAME_MAPS and not has_names)
                for name, each in part.items()
                if has_names or name not in _DATA
            ]
    return found


def _clean_members(part: dict[str, Any]) -> int:
    found = 0
    for name, value in part.items():
        if name == "pattern" and isinstance(value, str):
            part[name] = _IN_PATTERN.sub(_escaped, value)
        elif name in _EXAMPLES or (name in _TEXTS and isinstance(value, str)):
            part[name], count = visible(value)
            found += count
    return found


def _escaped(hidden: re.Match[str]) -> str:
    return f"\\u{ord(hidden[0]):04x}" if hidden[0] <= _LAST_WITH_ESCAPE else hidden[0]
