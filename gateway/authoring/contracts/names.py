"""Converts names of contracts to Python names."""

import keyword
import re
from collections.abc import Collection, Iterable
from typing import Final

_WORDS: Final = re.compile(r"[A-Za-z0-9]+")
_SEPARATORS: Final = re.compile(r"[^a-z0-9_]")


def camel(text: str) -> str:
    """A class name: `search_flights` becomes `SearchFlights`, `pageSize` becomes `PageSize`."""
    name = "".join(word[0].upper() + word[1:] for word in _WORDS.findall(text))
    return name if name[:1].isalpha() else f"Field{name}"


def identifier(name: str, *, taken: Collection[str] = ()) -> str:
    """`name` as a Python identifier: a keyword or a taken name gets a trailing underscore."""
    return f"{name}_" if keyword.iskeyword(name) or name in taken else name


def payload_stem(event_type: str) -> str:
    """The name of a webhook's event in files and modules: `Deploy-done` becomes `deploy_done`."""
    stem = _SEPARATORS.sub("_", event_type.lower())
    return stem if stem[:1].isalpha() else f"event_{stem}"


def singular(text: str) -> str:
    """The singular of the list name `text`, by simple English rules."""
    for ending, replacement in (("ies", "y"), ("sses", "ss"), ("xes", "x"), ("ches", "ch")):
        if text.endswith(ending) and len(text) > len(ending) + 1:
            return text.removesuffix(ending) + replacement
    is_plural = text.endswith("s") and not text.endswith(("ss", "us", "is"))
    return text[:-1] if is_plural and len(text) > 2 else text


def shortest_free(path: Iterable[str], taken: Collection[str]) -> str | None:
    """The shortest class name for a nested schema that is not in `taken`.

    `path` leads from the model to the schema. The name is made of its last step, with as many
    parents as are needed. Names have no numbers, because numbers would change when a property is
    added. None if the name of the whole path is taken.
    """
    steps = [camel(step) for step in path]
    names = ("".join(steps[start:]) for start in reversed(range(len(steps))))
    return next((name for name in names if name not in taken), None)
