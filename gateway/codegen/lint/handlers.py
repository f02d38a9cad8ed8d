"""The Python functions that bindings name are there. Their files are read, never imported."""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from gateway.codegen.fieldmap.functions import functions
from gateway.codegen.fieldmap.parse import parse
from gateway.codegen.finding import Finding
from gateway.codegen.lint.workspace import Workspace
from gateway.codegen.nearest import did_you_mean

_BINDING = "/post/x-binding"


class Handlers:
    """The modules of handlers: beside the schemas folder, or where Python finds modules."""

    def __init__(self, schemas: Path) -> None:
        self._folders = [schemas.absolute().parent, *map(Path, sys.path)]
        self._names: dict[str, frozenset[str] | None] = {}

    def lost(self, x_binding: dict[str, Any]) -> Iterator[tuple[str, str, str | None]]:
        """Pointer inside `x-binding`, message and fix of every function that is not there."""
        written, _ = parse(x_binding)
        for pointer, module, function in functions(written) if written else ():
            names = self._names_of(module)
            if names is None:
                yield pointer, f"there is no module {module}", None
            elif function not in names and "*" not in names:
                message = f"{module} has no function {function}"
                yield pointer, message, did_you_mean(function, sorted(names))

    def _names_of(self, module: str) -> frozenset[str] | None:
        if module not in self._names:
            file = self._file(module)
            self._names[module] = None if file is None else _defined(file)
        return self._names[module]

    def _file(self, module: str) -> Path | None:
        place = Path(*module.split("."))
        candidates = (
            folder / name
            for folder in self._folders
            for name in (place.with_suffix(".py"), place / "__init__.py")
        )
        return next((file for file in candidates if file.is_file()), None)


def check_handlers(workspace: Workspace) -> Iterator[Finding]:
    """binding/unknown-handler"""
    handlers = Handlers(workspace.tree.root)
    for tool in workspace.tools:
        for pointer, message, fix in handlers.lost(tool.operation["x-binding"]):
            where = _BINDING + pointer
            yield workspace.finding("binding/unknown-handler", tool.document, where, message, fix)


def _defined(file: Path) -> frozenset[str]:
    """What the module of `file` calls something; `*` when it takes names from elsewhere at large.

    A file that is no Python defines nothing.
    """
    try:
        module = ast.parse(file.read_bytes())
    except (OSError, SyntaxError, ValueError):
        return frozenset()
    return frozenset(_names(module))


def _names(node: ast.AST) -> Iterator[str]:
    """Names bound at the top of a module, also under its `if` and `try`."""
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
