"""The Python functions that bindings name are there, and can be called as they will be.

Their files are read, never imported.
"""

import ast
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final

from gateway.codegen.eventmap.functions import functions as event_functions
from gateway.codegen.fieldmap.functions import functions
from gateway.codegen.fieldmap.nodes import HandlerMap
from gateway.codegen.fieldmap.parse import parse
from gateway.codegen.finding import Finding
from gateway.codegen.lint.draft import Draft
from gateway.codegen.nearest import did_you_mean
from gateway.contract.pointers import child

_BINDING: Final = "/post/x-binding"
_EVENTS: Final = "/post/x-webhook/events"

Function = ast.FunctionDef | ast.AsyncFunctionDef


class Handlers:
    """The modules of handlers: beside the schemas folder, or where Python finds modules."""

    def __init__(self, schemas: Path) -> None:
        self._folders = [schemas.absolute().parent, *map(Path, sys.path)]
        self._modules: dict[str, ast.Module | None] = {}
        self._names: dict[str, frozenset[str] | None] = {}

    def lost(self, x_binding: dict[str, Any]) -> Iterator[tuple[str, str, str | None]]:
        """Pointer inside `x-binding`, message and fix of every function that is not there."""
        written, _ = parse(x_binding)
        yield from self.missing(functions(written) if written else ())

    def missing(
        self, named: Iterable[tuple[str, str, str]]
    ) -> Iterator[tuple[str, str, str | None]]:
        """Pointer, message and fix of every function that is not there.

        `named` holds pointers with modules and functions.
        """
        for pointer, module, function in named:
            names = self._names_of(module)
            if names is None:
                yield pointer, f"there is no module {module}", None
            elif function not in names and "*" not in names:
                message = f"{module} has no function {function}"
                yield pointer, message, did_you_mean(function, sorted(names))

    def misfit(self, x_binding: dict[str, Any]) -> Iterator[tuple[str, str]]:
        """Pointer inside `x-binding` and message, when the handler cannot be called as it will be.

        A function that its module takes from elsewhere is not looked at.
        """
        written, _ = parse(x_binding) if "python" in x_binding else (None, ())
        tree = self._module(written.module) if isinstance(written, HandlerMap) else None
        if tree is None or not isinstance(written, HandlerMap):
            return
        found = [each for each in _functions(tree) if each.name == written.function]
        given = 2 if written.takes_context else 1
        if found and not any(_takes(each, given) for each in found):
            what = "the arguments and a context" if written.takes_context else "the arguments alone"
            yield written.pointer, f"{written.function} is no async function of {what}"

    def _names_of(self, module: str) -> frozenset[str] | None:
        if module not in self._names:
            tree = self._module(module)
            self._names[module] = None if tree is None else frozenset(_names(tree))
        return self._names[module]

    def _module(self, name: str) -> ast.Module | None:
        if name not in self._modules:
            file = self._file(name)
            self._modules[name] = None if file is None else _parsed(file)
        return self._modules[name]

    def _file(self, module: str) -> Path | None:
        place = Path(*module.split("."))
        candidates = (
            folder / name
            for folder in self._folders
            for name in (place.with_suffix(".py"), place / "__init__.py")
        )
        return next((file for file in candidates if file.is_file()), None)


def check_handlers(draft: Draft) -> Iterator[Finding]:
    """binding/unknown-handler"""
    handlers = Handlers(draft.tree.root)
    for tool in draft.tools:
        for pointer, message, fix in handlers.lost(tool.operation["x-binding"]):
            where = _BINDING + pointer
            yield draft.finding("binding/unknown-handler", tool.document, where, message, fix)
    for webhook in draft.webhooks:
        for name, rules in webhook.rules["events"].items():
            for pointer, message, fix in handlers.missing(event_functions(rules)):
                where = child(_EVENTS, name) + pointer
                yield draft.finding(
                    "binding/unknown-handler", webhook.document, where, message, fix
                )


def check_signatures(draft: Draft) -> Iterator[Finding]:
    """binding/handler-signature"""
    handlers = Handlers(draft.tree.root)
    for tool in draft.tools:
        for pointer, message in handlers.misfit(tool.operation["x-binding"]):
            where = _BINDING + pointer
            yield draft.finding("binding/handler-signature", tool.document, where, message)


def _parsed(file: Path) -> ast.Module:
    """The module in `file`; one that is no Python holds nothing."""
    try:
        return ast.parse(file.read_bytes())
    except (OSError, SyntaxError, ValueError):
        return ast.Module([], [])


def _names(node: ast.AST) -> Iterator[str]:
    """Names bound at the top of a module, also under its `if` and `try`.

    `*` when it takes names from elsewhere at large.
    """
    for inner in ast.iter_child_nodes(node):
        match inner:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                yield name
            case ast.ClassDef(name=name):
                yield name
            case ast.alias(name=name, asname=asname):
                yield asname or name
            case ast.Name(id=name, ctx=ast.Store()):
                yield name
            case ast.expr() if not isinstance(inner, ast.Tuple | ast.List):
                continue
            case _:
                yield from _names(inner)


def _functions(node: ast.AST) -> Iterator[Function]:
    """Functions defined at the top of a module, also under its `if` and `try`."""
    for inner in ast.iter_child_nodes(node):
        match inner:
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                yield inner
            case ast.ClassDef() | ast.expr():
                continue
            case _:
                yield from _functions(inner)


def _takes(function: Function, given: int) -> bool:
    """Whether it can be awaited with `given` positional arguments and nothing else."""
    asked = function.args
    most = len(asked.posonlyargs) + len(asked.args)
    least = most - len(asked.defaults)
    is_callable = least <= given and (given <= most or asked.vararg is not None)
    needs_names = any(default is None for default in asked.kw_defaults)
    # What decorates it may change both.
    is_async = isinstance(function, ast.AsyncFunctionDef)
    return bool(function.decorator_list) or (is_async and is_callable and not needs_names)
