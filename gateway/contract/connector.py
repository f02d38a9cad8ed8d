"""Marks for the functions and mocks of connectors that contracts may name.

Anyone who can change a YAML file can write a contract, so a contract must not decide which code
runs. It may name a function only if the function lies in one of the project's connector packages,
is defined in the named module, and carries the mark of its use. The same holds for mocks.
`gateway lint` and `gateway generate` check this in the source files; the catalogue checks the
imported modules.
"""

import importlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from types import ModuleType
from typing import Any, Final, Literal, TypeVar

from msgspec import Struct

from gateway.contract.mock import Behaviour

Use = Literal["tool", "mapping", "mock", "resource"]

HANDLER_PACKAGES: Final = ("gateway.connectors",)
"""The default connector packages of a project."""

MARKS: Final[Mapping[Use, str]] = {
    "tool": "tool_handler",
    "mapping": "mapping_function",
    "mock": "mock_behaviours",
    "resource": "resource_handler",
}
"""The function of this module that marks each use."""

_ATTRIBUTE: Final = "__gateway_uses__"
_Function = TypeVar("_Function", bound=Callable[..., Any])


class _Uses(Struct, frozen=True, eq=False):
    """The uses for which `function` is marked. On any other function this record is invalid."""

    function: Any
    names: frozenset[Use]


class Behaviours(dict[str, Behaviour]):
    """The behaviours of a mock by operation id, and the module that declares them."""

    def __init__(self, module: str, behaviours: Mapping[str, Behaviour]) -> None:
        super().__init__(behaviours)
        self.module = module


class NamedCode(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Code that a contract names, and the place of the name."""

    use: Use
    module: str
    function: str = ""
    """Empty for a mock, which is a module."""
    path: str
    """The contract file, relative to the schemas folder."""
    pointer: str
    """JSON Pointer of the name in that file."""


def tool_handler(function: _Function) -> _Function:
    """Mark `function` as the handler of a tool: contracts may name it under `x-binding.python`."""
    return _marked(function, "tool")


def mapping_function(function: _Function) -> _Function:
    """Mark `function` for field maps and event maps: `{python: …, with: […]}` may name it."""
    return _marked(function, "mapping")


def resource_handler(function: _Function) -> _Function:
    """Mark `function` for `contents.python` of resources.

    It is async, takes the variables of the URI by name, and returns the content as `str` or
    `bytes`, or None where there is no such resource.
    """
    return _marked(function, "resource")


def mock_behaviours(module: str, behaviours: Mapping[str, Behaviour]) -> Behaviours:
    """Mark the calling module as a mock, which `x-upstream.mock` may name. Pass `__name__`."""
    return Behaviours(module, behaviours)


def is_within(module: str, packages: Iterable[str]) -> bool:
    """Whether `module` is one of `packages` or lies in one."""
    return any(f"{module}.".startswith(f"{package}.") for package in packages)


def outside(module: str, packages: Iterable[str]) -> str:
    """The error message for a `module` that does not lie in `packages`."""
    return f"{module} lies outside the connector packages ({', '.join(packages) or 'none'})"


def unmarked(named: str, use: Use) -> str:
    """The error message for code `named` without the mark of `use`."""
    return f"{named} does not carry the mark {MARKS[use]}"


def import_named(module: str) -> ModuleType:
    """The imported module. Raises `ImportError` with one line of text that names the module."""
    try:
        return importlib.import_module(module)
    except Exception as error:  # a project's module may raise any exception on import
        detail = ": ".join(filter(None, (type(error).__name__, str(error).partition("\n")[0])))
        raise ImportError(f"{module} cannot be imported: {detail}") from error


def faults(module: ModuleType, function: str, use: Use) -> Iterator[str]:
    """The reasons why contracts may not name `function` of `module` for `use`. Empty if they may.

    For a mock, `function` is empty.
    """
    if use == "mock":
        found = vars(module).get("BEHAVIOURS")
        if not isinstance(found, Behaviours) or found.module != module.__name__:
            yield unmarked(f"BEHAVIOURS of {module.__name__}", use)
        return
    found = vars(module).get(function)
    if not callable(found):
        yield f"{module.__name__} has no function {function}"
    elif (_own(found, "__module__"), _own(found, "__qualname__")) != (module.__name__, function):
        yield f"{function} is not defined in {module.__name__}"
    elif use not in _uses(found):
        yield unmarked(f"{module.__name__}:{function}", use)


def _own(found: Any, name: str) -> Any:
    return getattr(found, name, None)


def _uses(function: Any) -> frozenset[Use]:
    uses = getattr(function, "__dict__", {}).get(_ATTRIBUTE)
    return uses.names if isinstance(uses, _Uses) and uses.function is function else frozenset()


def _marked(function: _Function, use: Use) -> _Function:
    names = _uses(function) | {use}
    function.__dict__[_ATTRIBUTE] = _Uses(function, names)
    return function
