"""Generates Python text: literals, names, and whole modules."""

import re
from collections.abc import Iterable, Mapping, Sequence
from textwrap import wrap
from typing import Any, Final

from gateway.authoring.contracts.names import singular

_WIDTH: Final = 72
_WORD: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_STANDARD: Final = frozenset({"collections.abc", "typing"})
_RESERVED: Final = frozenset(
    {"arguments", "payload", "call", "context", "reply", "body", "item", "run", "BINDING", "EVENT"}
)


def literal(value: Any) -> str:
    """`value` as a Python literal. Long text is split into parts: formatters do not split it."""
    match value:
        case str():
            return _text_literal(value)
        case dict():
            return "{" + ", ".join(f"{literal(k)}: {literal(v)}" for k, v in value.items()) + "}"
        case list():
            return "[" + ", ".join(map(literal, value)) + "]"
        case tuple():
            return tuple_text([literal(part) for part in value])
        case _:
            return repr(value)


def tuple_text(parts: Sequence[str]) -> str:
    """A tuple of `parts`. Only a tuple of one part has a trailing comma."""
    return f"({parts[0]},)" if len(parts) == 1 else "(" + ", ".join(parts) + ")"


def _text_literal(text: str) -> str:
    if len(text) <= _WIDTH:
        return repr(text)
    parts = re.findall(rf"(?s).{{1,{_WIDTH}}}(?:(?<= )|\Z)|.{{1,{_WIDTH}}}", text)
    return "(" + " ".join(map(repr, parts)) + ")"


def snake(name: str) -> str:
    """`name` in snake case: `maxPax` becomes `max_pax`, `page[size]` becomes `page_size`."""
    return "_".join(word.lower() for word in _WORD.findall(name)) or "value"


_PARAMETERS: Final[Mapping[str, tuple[str, tuple[tuple[str, str], ...]]]] = {
    "item": ("Any", ()),
    "arguments": ("Mapping[str, Any]", (("collections.abc", "Mapping"),)),
    "payload": ("Any", ()),
    "call": ("CallFacts", (("gateway.contract.context", "CallFacts"),)),
    "context": ("CallContext", (("gateway.contract.context", "CallContext"),)),
    "body": ("Any", ()),
    "reply": ("ReplyFacts", (("gateway.contract.upstream", "ReplyFacts"),)),
}
"""The parameters of generated functions: their types, and the imports that the types need."""


class Module:
    """Builds the text of one generated module."""

    def __init__(self) -> None:
        self._imports: dict[str, dict[str, str]] = {}
        self._taken: set[str] = set(_RESERVED)
        self.constants: list[str] = []
        self.functions: list[str] = []

    def use(self, module: str, name: str) -> str:
        """Import `name` from `module`. Returns its name in the generated module."""
        known = self._imports.setdefault(module, {})
        if name not in known:
            is_taken = name in self._taken
            known[name] = self.free([module.rsplit(".", 1)[-1], name]) if is_taken else name
            self._taken.add(known[name])
        return known[name]

    def word(self, name: str) -> str:
        """Import the function `name` of `gateway.contract.fields.fieldmap`. Returns its name."""
        return self.use("gateway.contract.fields.fieldmap", name)

    def constant(self, path: Sequence[str], value: str, kind: str = "") -> str:
        """Add a module constant `value`, named after the member at `path`. Returns its name."""
        name = self.free([snake(step).upper() for step in path], prefix="_")
        self.constants.append(f"{name}: Final{kind} = {value}")
        return name

    def function(self, path: Iterable[str]) -> str:
        """A free name for the function that maps one item of the list at `path`."""
        *parents, last = [snake(step) for step in path]
        return self.free([*parents, singular(last)], prefix="_")

    def define(
        self,
        name: str,
        parameters: Sequence[str],
        answer: str,
        statements: Sequence[str],
        *,
        is_async: bool = False,
    ) -> None:
        """Add a function with `statements`, which returns the last one."""
        self.use("typing", "Any")
        for parameter in parameters:
            for module, word in _PARAMETERS[parameter][1]:
                self.use(module, word)
        signature = ", ".join(f"{each}: {_PARAMETERS[each][0]}" for each in parameters)
        *before, last = statements
        body = "".join(f"    {statement}\n" for statement in (*before, f"return {last}"))
        keyword = "async def" if is_async else "def"
        self.functions.append(f"{keyword} {name}({signature}) -> {answer}:\n{body}")

    def free(self, steps: list[str], prefix: str = "") -> str:
        """A new name: the last of `steps`, with as many parents as make it unique."""
        names = (prefix + "_".join(steps[start:]) for start in reversed(range(len(steps))))
        stem = prefix + "_".join(steps)
        numbered = (f"{stem}_{number}" for number in range(2, len(self._taken) + 3))
        name = next(name for name in (*names, *numbered) if name not in self._taken)
        self._taken.add(name)
        return name

    def text(self, summary: str, detail: str, value: str, name: str = "BINDING") -> str:
        """The text of the module. Its last statement defines the constant `name` as `value`."""
        docstring = "\n".join([summary, "", *wrap(detail, 98), ""])
        self.use("typing", "Final")
        standard = self._import_lines(is_standard=True)
        first_party = self._import_lines(is_standard=False)
        parts = [f'"""{docstring}"""', standard, first_party, "\n".join(self.constants)]
        return "\n\n".join(filter(None, [*parts, *self.functions, f"{name}: Final = {value}\n"]))

    def _import_lines(self, *, is_standard: bool) -> str:
        return "\n".join(
            f"from {module} import {', '.join(map(_name_text, sorted(names.items(), key=_order)))}"
            for module, names in sorted(self._imports.items())
            if (module in _STANDARD) is is_standard
        )


def _name_text(import_: tuple[str, str]) -> str:
    name, alias = import_
    return name if name == alias else f"{name} as {alias}"


def _order(import_: tuple[str, str]) -> tuple[int, str]:
    """isort's order: constants, classes, functions."""
    name, _ = import_
    return (0 if name.isupper() else 1 if name[0].isupper() else 2, name)
