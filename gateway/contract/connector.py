"""The marks by which connectors say which of their functions contracts may name.

A contract is text that anyone with a change of YAML can write, so it must not decide which code
runs. It may name a function that lies in one of the project's connector packages, is defined in the
module that is named, and carries the mark of the use that is made of it. The same holds for mocks.
`gateway lint` and `gateway generate` read this from the files, the catalogue asks the modules.
"""

import importlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from types import ModuleType
from typing import Any, Final, Literal, TypeVar

from msgspec import Struct

from gateway.contract.mock import Behaviour

Use = Literal["tool", "mapping", "mock"]

HANDLER_PACKAGES: Final = ("gateway.connectors",)
"""The connector packages of a project that names no others."""

MARKS: Final[Mapping[Use, str]] = {
    "tool": "tool_handler",
    "mapping": "mapping_function",
    "mock": "mock_behaviours",
}
"""What marks each use: the functions of this module."""

_ATTRIBUTE: Final = "__gateway_uses__"
_Function = TypeVar("_Function", bound=Callable[..., Any])


class _Uses(Struct, frozen=True, eq=False):
    """What `function` may be used for; a copy on another function says nothing about that one."""

    function: Any
    names: frozenset[Use]


class Behaviours(dict[str, Behaviour]):
    """What a mock does, by operation id, and the module that declares it."""

    def __init__(self, module: str, behaviours: Mapping[str, Behaviour]) -> None:
        super().__init__(behaviours)
        self.module = module


class NamedCode(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Code that a contract names, and where it does so."""

    use: Use
    module: str
    function: str = ""
    """Empty for a mock, which is a module."""
    path: str
    """The contract file, relative to the schemas folder."""
    pointer: str
    """JSON Pointer of the name in that file."""


def tool_handler(function: _Function) -> _Function:
    """Let contracts name `function` under `x-binding.python`, as what answers a tool."""
    return _marked(function, "tool")


def mapping_function(function: _Function) -> _Function:
    """Let contracts name `function` in field maps and event maps: `{python: …, with: […]}`."""
    return _marked(function, "mapping")


def mock_behaviours(module: str, behaviours: Mapping[str, Behaviour]) -> Behaviours:
    """Let contracts name `module`, given as `__name__`, under `x-upstream.mock`."""
    return Behaviours(module, behaviours)


def is_within(module: str, packages: Iterable[str]) -> bool:
    """Whether `module` is one of `packages` or lies in one."""
    return any(f"{module}.".startswith(f"{package}.") for package in packages)


def outside(module: str, packages: Iterable[str]) -> str:
    """Why `module` is refused, when it does not lie in `packages`."""
    return f"{module} lies outside the connector packages ({', '.join(packages) or 'none'})"


def unmarked(named: str, use: Use) -> str:
    """Why `named` is refused, when it does not carry the mark of `use`."""
    return f"{named} does not carry the mark {MARKS[use]}"


def import_named(module: str) -> ModuleType:
    """The module, imported. Raises `ImportError`, whose text is one line and says which it is."""
    try:
        return importlib.import_module(module)
    except Exception as error:  # a project's own module may raise anything when it is run
        said = ": ".join(filter(None, (type(error).__name__, str(error).partition("\n")[0])))
        raise ImportError(f"{module} cannot be imported: {said}") from error


def faults(module: ModuleType, function: str, use: Use) -> Iterator[str]:
    """Why contracts may not name this function of `module` for `use`; nothing when they may.

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
    held = getattr(function, "__dict__", {}).get(_ATTRIBUTE)
    return held.names if isinstance(held, _Uses) and held.function is function else frozenset()


def _marked(function: _Function, use: Use) -> _Function:
    names = _uses(function) | {use}
    function.__dict__[_ATTRIBUTE] = _Uses(function, names)
    return function
