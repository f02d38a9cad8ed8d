"""Runtime expressions of workflows: where a value comes from, and texts and values made of them."""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, Literal

from msgspec import Struct

from gateway.authoring.mapping.fields.parse import parse_expression
from gateway.contract.values.pointers import NoSuchPlace, child, follow, pointer_of, steps

Root = Literal["inputs", "request", "response", "status", "steps", "workflows"]

_OUTPUT: Final = re.compile(
    r"\$(?P<root>steps|workflows)\.(?P<of>[A-Za-z0-9_-]+)\.outputs"
    r"(?P<names>(?:\.[A-Za-z0-9_-]+)+)(?:#(?P<pointer>(?:/(?:[^~/]|~[01])*)*))?"
)
_EMBEDDED: Final = re.compile(r"\{(\$[^{}]+)\}")
_FIELD_MAP_ROOTS: Final[Mapping[str, Root]] = {
    "inputs": "inputs",
    "payload": "request",
    "body": "response",
}


class NoValue(LookupError):
    """Nothing is where an expression points."""


class Source(Struct, frozen=True):
    """A parsed expression: where a value comes from."""

    text: str
    root: Root
    of: str = ""
    """The step or the workflow, for `steps` and `workflows`."""
    output: str = ""
    path: tuple[str, ...] = ()

    def read(self, state: "Values") -> Any:
        """The value. Raises `NoValue`."""
        try:
            return follow(state.held(self), pointer_of(self.path))
        except NoSuchPlace:
            raise NoValue(self.text) from None


class Values(Struct):
    """What the expressions of one place may read, at one moment of a run."""

    inputs: Mapping[str, Any] = {}
    steps: Mapping[str, Mapping[str, Any]] = {}
    """The outputs of the steps so far."""
    workflows: Mapping[str, Mapping[str, Any]] = {}
    """The outputs of the workflows that ran before."""
    request: Any = None
    response: Any = None
    status: int | None = None

    def held(self, source: Source) -> Any:
        """The value in which the path of `source` begins. Raises `NoValue`."""
        match source.root:
            case "steps" | "workflows":
                known = self.steps if source.root == "steps" else self.workflows
                if source.output not in known.get(source.of, {}):
                    raise NoValue(source.text)
                return known[source.of][source.output]
            case root:
                return getattr(self, root)


def parse_source(text: str) -> Source | None:
    """The parsed expression. None if `text` is none of those that a workflow can use.

    They are `$inputs.name`, `$request.body#/pointer`, `$response.body#/pointer`, `$statusCode`,
    `$steps.id.outputs.name` and `$workflows.id.outputs.name`, the last two with members by dots or
    with `#` and a pointer.
    """
    if text == "$statusCode":
        return Source(text, "status")
    if found := _OUTPUT.fullmatch(text):
        _, output, *names = found["names"].split(".")
        path = (*names, *steps(found["pointer"] or ""))
        root: Root = "steps" if found["root"] == "steps" else "workflows"
        return Source(text, root, found["of"], output, path)
    known = parse_expression(text)
    if known is None or known.root not in _FIELD_MAP_ROOTS:
        return None
    return Source(text, _FIELD_MAP_ROOTS[known.root], path=known.steps)


def is_expression(text: str) -> bool:
    """Whether a text is to be read as an expression: a price such as `$5` is not."""
    return text[:1] == "$" and text[1:2].isalpha()


def embedded(text: str) -> list[str]:
    """The expressions in `{$…}` of a text."""
    return _EMBEDDED.findall(text)


def expressions_in(value: Any, pointer: str = "") -> Iterator[tuple[str, str]]:
    """Each expression in a value, whole texts and embedded ones, with its pointer."""
    if isinstance(value, str):
        for each in [value] if is_expression(value) else embedded(value):
            yield pointer, each
    elif isinstance(value, dict | list):
        pairs = value.items() if isinstance(value, dict) else enumerate(value)
        for name, each in pairs:
            yield from expressions_in(each, child(pointer, name))


def filled(value: Any, state: Values) -> Any:
    """`value` with the values of its expressions. Raises `NoValue`."""
    if isinstance(value, str):
        if is_expression(value):
            return _read(value, state)
        return replaced(value, state, as_text)
    if isinstance(value, dict):
        return {name: filled(each, state) for name, each in value.items()}
    if isinstance(value, list):
        return [filled(each, state) for each in value]
    return value


def replaced(text: str, state: Values, written: Callable[[Any], str]) -> str:
    """`text` with its embedded expressions as `written` writes their values. Raises `NoValue`."""
    return _EMBEDDED.sub(lambda found: written(_read(found[1], state)), text)


def _read(text: str, state: Values) -> Any:
    source = parse_source(text)
    if source is None:
        raise NoValue(text)
    return source.read(state)


def as_text(value: Any) -> str:
    """A value as it is written inside a text."""
    return value if isinstance(value, str) else json.dumps(value)
