"""Checks of bindings: what they name, what they mean, and the Python code that is called."""

import ast
import sys
from collections.abc import Iterable, Iterator
from itertools import takewhile
from pathlib import Path, PurePosixPath
from typing import Any, Final

import msgspec

from gateway.authoring.contracts.cache import Remember
from gateway.authoring.contracts.document import Document, finding_at
from gateway.authoring.contracts.finding import Finding
from gateway.authoring.contracts.refs import INPUT, OUTPUT
from gateway.authoring.contracts.tree import UPSTREAMS, ToolSource
from gateway.authoring.contracts.upstreams import lower_upstream
from gateway.authoring.lint.draft import Draft, is_sound
from gateway.authoring.lint.upstreams import operations
from gateway.authoring.mapping.event_language import functions as event_functions
from gateway.authoring.mapping.fields import BindingSource, MappingError, check, has_map
from gateway.authoring.mapping.fields.nodes import HandlerMap
from gateway.authoring.mapping.fields.parse import functions, parse
from gateway.contract.connector import HANDLER_PACKAGES, MARKS, Use, is_within, outside, unmarked
from gateway.contract.operation import NOT_FOUND
from gateway.contract.upstream import Upstream
from gateway.contract.values.nearest import did_you_mean
from gateway.contract.values.pointers import child

# Checks of bindings: their upstreams, operations, error codes and fallbacks.

_SAFE_METHODS: Final = frozenset({"get", "head"})


def check_upstreams(draft: Draft) -> Iterator[Finding]:
    """binding/unknown-upstream, binding/unknown-operation, binding/field-map"""
    known = {
        name: {operation.value["operationId"] for operation in operations(document)}
        for name, document in draft.upstreams.items()
    }
    for tool in draft.tools:
        binding = tool.operation["x-binding"]
        for pointer, name in _named(binding):
            if not _is_there(draft, name):
                message = f"there is no upstreams/{name}/openapi.yaml"
                fix = did_you_mean(name, [*draft.tree.upstreams, *draft.tree.imports])
                yield draft.finding(
                    "binding/unknown-upstream", tool.document, pointer, message, fix
                )
        if binding.get("upstream") in draft.tree.imports and has_map(binding):
            message = f"{binding['upstream']} is an import, whose operations have no field map"
            fix = "Remove request, response and fallback, or write a contract of the upstream."
            yield draft.finding("binding/field-map", tool.document, "/post/x-binding", message, fix)
        if binding.get("upstream") in known:
            yield from _operations(draft, tool.document, binding, known[binding["upstream"]])


def check_error_codes(draft: Draft) -> Iterator[Finding]:
    """binding/error-code"""
    for tool in draft.tools:
        binding = tool.operation["x-binding"]
        upstream = draft.upstreams.get(binding.get("upstream", ""))
        if upstream is None:
            continue
        facts = upstream.value["x-upstream"]
        has_codes = "softErrors" in facts
        knows_not_found = any(each["means"] == NOT_FOUND for each in facts.get("refusals", ()))
        for prefix, rules in (("", binding), ("/fallback", binding.get("fallback", {}))):
            for name in rules.get("errors", {}):
                is_known = knows_not_found if name == NOT_FOUND else has_codes
                if not (name[0].isdigit() or is_known):
                    pointer = child(f"/post/x-binding{prefix}/errors", name)
                    lacks = "refusal that means not_found" if name == NOT_FOUND else "softErrors"
                    message = f"{binding['upstream']} has no x-upstream.{lacks}"
                    yield draft.finding("binding/error-code", tool.document, pointer, message)


def check_fallbacks(draft: Draft) -> Iterator[Finding]:
    """binding/fallback-effect"""
    for tool in draft.tools:
        policy, binding = tool.operation["x-policy"], tool.operation["x-binding"]
        fallback = binding.get("fallback")
        upstream = draft.upstreams.get(binding.get("upstream", ""))
        if fallback is None or upstream is None or policy["effect"] != "read":
            continue
        problem = None
        if fallback.get("effect") == "write" and "escalation" not in policy:
            problem = "the fallback writes, but the tool reads and has no escalation"
        elif "effect" not in fallback and not _is_safe(upstream, fallback["operationId"]):
            problem = f"{fallback['operationId']} is not a GET and may change something"
        if problem is not None:
            pointer = "/post/x-binding/fallback"
            yield draft.finding("binding/fallback-effect", tool.document, pointer, problem)


def _is_safe(upstream: Document, operation_id: str) -> bool:
    """Whether the operation's method only reads. True if there is no such operation."""
    methods = [e.method for e in operations(upstream) if e.value["operationId"] == operation_id]
    return all(method in _SAFE_METHODS for method in methods)


def _named(binding: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """The upstreams that a binding names, with the pointers to the names."""
    if "upstream" in binding:
        yield "/post/x-binding/upstream", binding["upstream"]
    for index, name in enumerate(binding.get("upstreams", ())):
        yield f"/post/x-binding/upstreams/{index}", name


def _is_there(draft: Draft, name: str) -> bool:
    """Whether the upstream is an import or has a contract, also if that cannot be read."""
    path = PurePosixPath(UPSTREAMS, name, "openapi.yaml")
    known = {*draft.tree.upstreams, *draft.tree.imports}
    return name in known or draft.tree.is_unread(path)


def _operations(
    draft: Draft, document: Document, binding: dict[str, Any], known: set[str]
) -> Iterator[Finding]:
    named = [("/post/x-binding/operationId", binding["operationId"])]
    if "fallback" in binding:
        named.append(("/post/x-binding/fallback/operationId", binding["fallback"]["operationId"]))
    for pointer, operation_id in named:
        if operation_id not in known:
            message = f"{binding['upstream']} has no operation {operation_id}"
            fix = did_you_mean(operation_id, sorted(known))
            yield draft.finding("binding/unknown-operation", document, pointer, message, fix)


# Checks bindings against the contracts of their tool and upstream.
#
# Runs after the other checks, because it needs valid contracts.

_POINTER: Final = "/post/x-binding"
_decoder = msgspec.json.Decoder(tuple[MappingError, ...])


def check_meaning(
    draft: Draft, unsound: frozenset[PurePosixPath], remember: Remember
) -> Iterator[Finding]:
    """binding/*, for every tool whose files and upstream's files are sound"""
    upstreams = {
        name: lower_upstream(draft.tree, name)
        for name, document in draft.upstreams.items()
        if is_sound(draft, document.path, unsound)
    }
    for tool in (each for each in draft.tools if each.document.declared is None):
        binding = tool.operation["x-binding"]
        name = binding.get("upstream")
        is_call = name in draft.tree.imports and not has_map(binding)
        if (name is None or name in upstreams or is_call) and is_sound(draft, tool.path, unsound):
            source = _source(draft, tool, upstreams.get(name))
            for problem in _problems(source, remember):
                yield _finding_of_map(tool, problem)


def _source(draft: Draft, tool: ToolSource, upstream: Upstream | None) -> BindingSource:
    return BindingSource(
        tool_id=tool.id,
        x_binding=tool.operation["x-binding"],
        input_schema=draft.expanded(tool.path, INPUT),
        output_schema=draft.expanded(tool.path, OUTPUT),
        upstream=upstream,
        declared_errors=frozenset(tool.operation["x-policy"].get("errors", ())),
    )


def _problems(source: BindingSource, remember: Remember) -> tuple[MappingError, ...]:
    """The problems of a binding, from the cache if possible: proofs take milliseconds."""
    basis = msgspec.json.encode(source, order="deterministic").decode()
    problems = remember("binding-check", basis, lambda: msgspec.json.encode(check(source)).decode())
    return _decoder.decode(problems)


def _finding_of_map(tool: ToolSource, problem: MappingError) -> Finding:
    pointer = _POINTER + problem.pointer
    return finding_at(tool.document, pointer, problem.rule, problem.message, problem.fix)


# Checks of the Python code that contracts name: it exists, may be named, and can be called.
#
# Files are parsed, never imported: a check of a contract must not run the code that it names.

_BINDING: Final = "/post/x-binding"
_EVENTS: Final = "/post/x-webhook/events"
_MOCK: Final = "/x-upstream/mock"
_MARKING: Final = "gateway.contract.connector"
_USES: Final[dict[str, Use]] = {mark: use for use, mark in MARKS.items()}

Function = ast.FunctionDef | ast.AsyncFunctionDef
Fault = tuple[str, str, str, str | None]
"""Pointer, rule, message, and a fix if it differs from that of the rule."""


class Handlers:
    """The parsed modules of handlers, found beside the schemas folder or on `sys.path`.

    Modules outside `packages` are not read.
    """

    def __init__(self, schemas: Path, packages: Iterable[str] = HANDLER_PACKAGES) -> None:
        self._packages = tuple(packages)
        self._folders = [schemas.absolute().parent, *map(Path, sys.path)]
        self._modules: dict[str, ast.Module | None] = {}
        self._names: dict[str, tuple[str, ...]] = {}

    def of_binding(self, x_binding: dict[str, Any]) -> Iterator[Fault]:
        """Faults of the functions that a binding names, with pointers inside `x-binding`."""
        written, _ = parse(x_binding)
        use: Use = "tool" if isinstance(written, HandlerMap) else "mapping"
        yield from self.faults(functions(written) if written else (), use)

    def of_event(self, rules: dict[str, Any]) -> Iterator[Fault]:
        """Faults of the functions that an event of a webhook names, with pointers inside it."""
        yield from self.faults(event_functions(rules), "mapping")

    def of_mock(self, module: str) -> Iterator[Fault]:
        """Faults of the module that `x-upstream.mock` names."""
        found = [*self.faults([(_MOCK, module, "BEHAVIOURS")], "mock")]
        yield from found
        bound = self._names.get(module, ())
        for name in ("refuse", "finish") if not found else ():
            if name not in bound:
                yield _MOCK, "unknown-handler", f"{module} has no {name}", None

    def of_resource(self, module: str, function: str) -> Iterator[Fault]:
        """Faults of the function that `contents.python` of a resource names."""
        named = "/contents/python", module, function
        found = [*self.faults([named], "resource")]
        yield from found
        tree = self._module(module) or ast.Module([], [])
        own = [each for each in _functions(tree) if each.name == function]
        if not found and not any(_takes(each, 1) for each in own):
            message = f"{function} is not an async function of the variables"
            yield named[0], "handler-signature", message, "Write `async def f(variables)`."

    def faults(self, named: Iterable[tuple[str, str, str]], use: Use) -> Iterator[Fault]:
        """Faults of code that is named for `use`: `named` has pointers, modules and functions."""
        for pointer, module, function in named:
            if not is_within(module, self._packages):
                yield pointer, "foreign-handler", outside(module, self._packages), None
            elif (tree := self._module(module)) is None:
                yield pointer, "unknown-handler", f"there is no module {module}", None
            else:
                for rule, message, fix in self._of_name(tree, module, function, use):
                    yield pointer, rule, message, fix

    def _of_name(
        self, tree: ast.Module, module: str, function: str, use: Use
    ) -> Iterator[tuple[str, str, str | None]]:
        names = self._bound(module, tree)
        if function not in names:
            message = f"{module} has no {'' if use == 'mock' else 'function '}{function}"
            public = [each for each in names if not each.startswith("_")]
            yield "unknown-handler", message, did_you_mean(function, sorted(public))
        elif names.count(function) > 1 or not any(_defines(each, function) for each in tree.body):
            message = f"{module} does not define {function} itself, once, and at its top level"
            yield "unknown-handler", message, "Name the module that defines it."
        elif not any(_marks(each, function, use, tree) for each in tree.body):
            fix = f"Import {MARKS[use]} from {_MARKING}, and mark {function} with it."
            named = f"BEHAVIOURS of {module}" if use == "mock" else f"{module}:{function}"
            yield "unmarked-handler", unmarked(named, use), fix

    def signature_faults(self, x_binding: dict[str, Any]) -> Iterator[tuple[str, str]]:
        """Pointer inside `x-binding` and message, if the handler has a wrong signature.

        A function that its module imports is not checked.
        """
        written, _ = parse(x_binding) if "python" in x_binding else (None, ())
        if not isinstance(written, HandlerMap) or not is_within(written.module, self._packages):
            return
        tree = self._module(written.module)
        found = [
            each for each in _functions(tree or ast.Module([], [])) if each.name == written.function
        ]
        given = 2 if written.takes_context else 1
        if found and not any(_takes(each, given) for each in found):
            what = "the arguments and the context" if written.takes_context else "the arguments"
            yield written.pointer, f"{written.function} is not an async function of {what}"

    def _bound(self, module: str, tree: ast.Module) -> tuple[str, ...]:
        if module not in self._names:
            self._names[module] = tuple(_names(tree))
        return self._names[module]

    def _module(self, name: str) -> ast.Module | None:
        if name not in self._modules:
            file = self._file(name)
            self._modules[name] = None if file is None else _parsed(file)
        return self._modules[name]

    def _file(self, module: str) -> Path | None:
        path = Path(*module.split("."))
        candidates = (
            folder / name
            for folder in self._folders
            for name in (path.with_suffix(".py"), path / "__init__.py")
        )
        return next((file for file in candidates if file.is_file()), None)


def check_handlers(draft: Draft) -> Iterator[Finding]:
    """binding/unknown-handler binding/foreign-handler binding/unmarked-handler"""
    handlers = Handlers(draft.tree.root, draft.packages)
    for tool in draft.tools:
        for fault in handlers.of_binding(tool.operation["x-binding"]):
            yield _finding(draft, tool.document, _BINDING, fault)
    for webhook in draft.webhooks:
        for name, rules in webhook.rules["events"].items():
            for fault in handlers.of_event(rules):
                yield _finding(draft, webhook.document, child(_EVENTS, name), fault)
    for upstream in draft.upstreams.values():
        module = upstream.value["x-upstream"].get("mock")
        for fault in handlers.of_mock(module) if module else ():
            yield _finding(draft, upstream, "", fault)


def check_resources(draft: Draft) -> Iterator[Finding]:
    """binding/unknown-handler binding/foreign-handler binding/unmarked-handler
    binding/handler-signature
    """
    handlers = Handlers(draft.tree.root, draft.packages)
    for resource in draft.resources:
        named = resource.document.value["contents"].get("python")
        if named:
            module, _, function = named.partition(":")
            for fault in handlers.of_resource(module, function):
                yield _finding(draft, resource.document, "", fault)


def check_signatures(draft: Draft) -> Iterator[Finding]:
    """binding/handler-signature"""
    handlers = Handlers(draft.tree.root, draft.packages)
    for tool in draft.tools:
        for pointer, message in handlers.signature_faults(tool.operation["x-binding"]):
            where = _BINDING + pointer
            yield draft.finding("binding/handler-signature", tool.document, where, message)


def _finding(draft: Draft, document: Document, above: str, fault: Fault) -> Finding:
    pointer, rule, message, fix = fault
    return draft.finding(f"binding/{rule}", document, above + pointer, message, fix)


def _defines(node: ast.stmt, name: str) -> bool:
    """Whether `node` defines the function `name`, or `BEHAVIOURS` if that is the name."""
    match node:
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            return node.name == name
        case ast.Assign(targets=[ast.Name(id=target)]) | ast.AnnAssign(target=ast.Name(id=target)):
            return target == name == "BEHAVIOURS"
        case _:
            return False


def _marks(node: ast.stmt, name: str, use: Use, tree: ast.Module) -> bool:
    """Whether `node` defines `name` with the mark of `use`."""
    if not _defines(node, name):
        return False
    known = _known_marks(tree)
    match node:
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            # A decorator above the mark would replace the marked function.
            names = (known.get(_name(each)) for each in node.decorator_list)
            return use in takewhile(bool, names)
        case ast.Assign(value=ast.Call(func=called)) | ast.AnnAssign(value=ast.Call(func=called)):
            return known.get(_name(called)) == use == "mock"
        case _:
            return False


def _known_marks(tree: ast.Module) -> dict[str, Use]:
    """The names by which a module imports the marks."""
    return {
        alias.asname or alias.name: _USES[alias.name]
        for node in tree.body
        if isinstance(node, ast.ImportFrom) and node.module == _MARKING and node.level == 0
        for alias in node.names
        if alias.name in _USES
    }


def _name(node: ast.expr) -> str:
    return node.id if isinstance(node, ast.Name) else ""


def _parsed(file: Path) -> ast.Module:
    """The module in `file`. Empty if it cannot be read or is not Python."""
    try:
        return ast.parse(file.read_bytes())
    except (OSError, SyntaxError, ValueError):
        return ast.Module([], [])


def _names(node: ast.AST) -> Iterator[str]:
    """Names bound at the top level of a module, including its `if` and `try` blocks.

    `*` for `from … import *`.
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
    """Functions defined at the top level of a module, including its `if` and `try` blocks."""
    for inner in ast.iter_child_nodes(node):
        match inner:
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                yield inner
            case ast.ClassDef() | ast.expr():
                continue
            case _:
                yield from _functions(inner)


def _takes(function: Function, given: int) -> bool:
    """Whether it is async and accepts `given` positional arguments and nothing else."""
    parameters = function.args
    most = len(parameters.posonlyargs) + len(parameters.args)
    least = most - len(parameters.defaults)
    is_callable = least <= given and (given <= most or parameters.vararg is not None)
    needs_names = any(default is None for default in parameters.kw_defaults)
    is_async = isinstance(function, ast.AsyncFunctionDef)
    # The mark does not change the function, but any other decorator may.
    return len(function.decorator_list) > 1 or (is_async and is_callable and not needs_names)
