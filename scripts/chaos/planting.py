"""Which bugs are planted into the gateway's source, and how.

Besides the known bugs of `bugs.py`, a seed chooses bugs in each room of the gateway: small changes
of its syntax tree. The choice depends on the text of a function only, so that a change elsewhere
does not choose others.
"""

import ast
import copy
import hashlib
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final

from bugs import BUGS, EQUIVALENT, Planted
from gateways import ChaosError

Function = ast.FunctionDef | ast.AsyncFunctionDef
Change = tuple[str, ast.AST, str]
"""The operator, the node that it replaces, and the text that replaces it."""

_NO_ROOMS: Final = frozenset({"__init__.py", "__main__.py", "testing"})
_UNSEEN: Final = frozenset({"__repr__", "__str__", "__hash__", "__sizeof__", "__del__"})
_SKIPPED: Final = (
    *(ast.Assert, ast.Raise, ast.JoinedStr, ast.Lambda, ast.pattern),
    *(ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom),
)
"""Texts of errors, and what is not run by the function itself."""
_OPPOSITE: Final[Mapping[type[ast.cmpop], type[ast.cmpop]]] = {
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.Lt: ast.GtE,
    ast.GtE: ast.Lt,
    ast.Gt: ast.LtE,
    ast.LtE: ast.Gt,
}
_BOUNDARY: Final[Mapping[type[ast.cmpop], type[ast.cmpop]]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
}
_VAGUE: Final = re.compile(
    r"(^|_)(age|ago|at|began|bytes|deadline|delay|due|elapsed|ends|expires|expiry|interval|lasts"
    r"|lease|left|monotonic|now|remaining|room|seconds|since|size|time|timeout|ttl|until|waited)(_|$)"
)
"""Names of moments and of amounts of memory: callers hardly hit the boundary, or notice it."""
_TUNED: Final = re.compile(
    r"block|buffering|cache_size|check|check_same_thread|chunk|copy|daemon|default|ensure_ascii"
    r"|exc_info|exist_ok|fd|flush|follow_symlinks|ignore_errors|indent|level|limit|maxsize"
    r"|missing_ok|parents|retries|shell|stacklevel|strict|timeout|wait|weak"
)
"""Arguments by which a call is tuned or made strict: another value seldom changes what it does."""
_TIDY: Final = re.compile(
    r"aclose|add_done_callback|cancel|clear|close|collect|dispose|flush|freeze|hit|join|kill"
    r"|move_to_end|shutdown|shutdown_asyncgens|sleep|stop|terminate|touch|unlink|wait|wait_closed"
)
"""Calls that free, hasten or wait: without them, most programs do the same at another cost."""


_PROBE: Final = '__import__("gateway.reached", fromlist=["reached"]).reached({id!r})'
_REACHED: Final = """\
import os
_written = set()
def reached(bug):
    test = os.environ.get("PYTEST_CURRENT_TEST", "").rpartition(" (")[0]
    if (bug, test) not in _written:
        _written.add((bug, test))
        log = os.open({log!r}, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o666)
        os.write(log, f"{{bug}}\\t{{test}}\\n".encode())
        os.close(log)
"""
"""Inside the package, so that it is wherever the package is: in a wheel, too."""


def bugs_of(tree: Path, seed: int, per_room: int) -> list[Planted]:
    """The known bugs, then the seeded ones of each room."""
    found: dict[str, list[tuple[str, Planted]]] = defaultdict(list)
    for path in sorted((tree / "gateway").rglob("*.py")):
        room = path.relative_to(tree).parts[1]
        if room not in _NO_ROOMS:
            found[room] += _sites(path, tree, seed)
    return [
        *_known(tree),
        *(bug for room in sorted(found) for bug in _chosen(found[room], per_room)),
    ]


def probes(tree: Path, bugs: Iterable[Planted], log: Path) -> dict[str, bytes]:
    """The files to change so that each bug's function writes to `log` which test calls it."""
    functions: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for bug in bugs:
        functions[bug.path][bug.function].append(_PROBE.format(id=bug.id))
    texts = {path: _probed((tree / path).read_text(), calls) for path, calls in functions.items()}
    return texts | {"gateway/reached.py": _REACHED.format(log=str(log)).encode()}


def _probed(source: str, calls: Mapping[str, list[str]]) -> bytes:
    lines = source.split("\n")
    places = {}
    for name, function in _functions(ast.parse(source)):
        has_docstring = ast.get_docstring(function, clean=False) is not None
        body = function.body[has_docstring:]
        if name in calls and body:
            decorators = getattr(body[0], "decorator_list", [])
            places[min(each.lineno for each in [body[0], *decorators])] = (name, body[0].col_offset)
    for line, (name, column) in sorted(places.items(), reverse=True):
        lines.insert(line - 1, " " * column + "; ".join(calls[name]))
    return "\n".join(lines).encode()


def _known(tree: Path) -> Iterator[Planted]:
    for bug in BUGS:
        source = (tree / bug.path).read_bytes()
        number = source.count(bug.was.encode())
        if number != 1:
            raise ChaosError(f"{bug.path} has the text of '{bug.name}' {number} times, not once")
        at = source.index(bug.was.encode())
        line = source.count(b"\n", 0, at + len(bug.was) - len(bug.was.lstrip())) + 1
        around = [n for n, f in _functions(ast.parse(source)) if f.lineno <= line <= _last(f)]
        name = around[-1] if around else ""
        if not name and not bug.tests:
            raise ChaosError(f"'{bug.name}' is outside any function: name its tests")
        yield Planted(bug.name, bug.path, line, at, bug.was, bug.becomes, name, bug.tests)


def _chosen(ranked: list[tuple[str, Planted]], number: int) -> list[Planted]:
    chosen: dict[tuple[str, str], Planted] = {}
    for _, bug in sorted(ranked, key=lambda each: each[0]):
        if len(chosen) < number and bug.id not in EQUIVALENT:
            chosen.setdefault((bug.path, bug.function), bug)
    return list(chosen.values())


def _sites(path: Path, tree: Path, seed: int) -> Iterator[tuple[str, Planted]]:
    """Every place for a bug in a file, each with its rank."""
    source = path.read_bytes()
    name = path.relative_to(tree).as_posix()
    starts = [0, *(at + 1 for at, byte in enumerate(source) if byte == ord("\n"))]
    seen: Counter[tuple[str, ...]] = Counter()
    for function, node in _functions(ast.parse(source)):
        for operator, changed, becomes in _changes(node):
            at, end = _span(changed, starts)
            was = source[at:end].decode()
            seen[function, operator] += 1
            seen[function, operator, was] += 1
            nth = seen[function, operator]
            id_ = f"{name.removeprefix('gateway/')}:{function}:{operator}{nth if nth > 1 else ''}"
            rank = (seed, name, function, operator, was, seen[function, operator, was])
            bug = Planted(id_, name, changed.lineno, at, was, becomes, function)  # type: ignore[attr-defined]  # each is a statement or an expression
            yield hashlib.sha256(repr(rank).encode()).hexdigest(), bug


def _span(node: ast.AST, starts: list[int]) -> tuple[int, int]:
    if not isinstance(node, ast.stmt | ast.expr) or node.end_lineno is None:
        raise TypeError(node)
    end = starts[node.end_lineno - 1] + (node.end_col_offset or 0)
    return starts[node.lineno - 1] + node.col_offset, end


def _last(function: Function) -> int:
    return function.end_lineno or function.lineno


def _functions(node: ast.AST, prefix: str = "") -> Iterator[tuple[str, Function]]:
    """Every function with its qualified name; those inside another after it."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, Function | ast.ClassDef):
            name = f"{prefix}{child.name}"
            if isinstance(child, Function):
                yield name, child
            yield from _functions(child, f"{name}.")
        elif isinstance(child, ast.stmt | ast.ExceptHandler):
            yield from _functions(child, prefix)


def _changes(function: Function) -> Iterator[Change]:
    if function.name in _UNSEEN:
        return
    gives = None if function.returns is None else ast.unparse(function.returns)
    for node, parent in _inside(function):
        if isinstance(node, ast.expr):
            yield from _of_expression(node, parent)
        else:
            yield from _of_statement(node, gives)
        test = getattr(node, "test", None)
        if isinstance(node, ast.If | ast.While | ast.IfExp) and not isinstance(test, ast.Constant):
            yield "condition", node.test, f"(not ({ast.unparse(node.test)}))"


def _inside(parent: ast.AST) -> Iterator[tuple[ast.AST, ast.AST]]:
    """What a function itself runs, each with its parent, except texts for people."""
    if isinstance(parent, Function):
        children: Iterable[ast.AST] = parent.body
    elif isinstance(parent, ast.AnnAssign):
        children = [parent.value] if parent.value else []
    else:
        children = ast.iter_child_nodes(parent)
    for child in children:
        if not (isinstance(child, _SKIPPED) or _is_for_people(child)):
            yield child, parent
            yield from _inside(child)


def _is_for_people(node: ast.AST) -> bool:
    """Whether it is a call of the log, or exists for the type checker."""
    if isinstance(node, ast.If):
        return ast.unparse(node.test) == "TYPE_CHECKING"
    return isinstance(node, ast.Call) and ast.unparse(node.func).lower().startswith(
        ("_log.", "log.", "logger.", "logging.", "warnings.", "cast", "super().__")
    )


def _of_expression(node: ast.expr, parent: ast.AST) -> Iterator[Change]:
    if isinstance(node, ast.Compare):
        other = copy.copy(node)
        other.ops = [_changed(node), *node.ops[1:]]
        yield "compare", node, f"({ast.unparse(other)})"
    elif isinstance(node, ast.BoolOp):
        swapped = ast.Or() if isinstance(node.op, ast.And) else ast.And()
        yield "logic", node, f"({ast.unparse(ast.BoolOp(swapped, node.values))})"
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        other_name = {"min": "max", "max": "min"}.get(node.func.id)
        if other_name:
            yield "extreme", node.func, other_name
    elif isinstance(node, ast.Constant) and not _is_tuned(parent):
        yield from _of_constant(node, parent)


def _of_constant(node: ast.Constant, parent: ast.AST) -> Iterator[Change]:
    if isinstance(node.value, bool):
        yield "flag", node, str(not node.value)
    elif isinstance(node.value, int) and _is_counted(parent) and abs(node.value) <= 10:
        yield "number", node, str(node.value + 1)


def _is_tuned(parent: ast.AST) -> bool:
    return isinstance(parent, ast.keyword) and bool(_TUNED.fullmatch(parent.arg or ""))


def _is_counted(parent: ast.AST) -> bool:
    """Whether a number there counts or selects, and is no size, weight or format."""
    if isinstance(parent, ast.BinOp):
        return isinstance(parent.op, ast.Add | ast.Sub | ast.FloorDiv | ast.Mod)
    return isinstance(parent, ast.Subscript | ast.Slice | ast.Compare | ast.Return | ast.AugAssign)


def _changed(node: ast.Compare) -> ast.cmpop:
    """The boundary moves by one if a caller can hit it; any other comparison is reversed."""
    was = type(node.ops[0])
    names = [
        each.id if isinstance(each, ast.Name) else each.attr
        for each in ast.walk(node)
        if isinstance(each, ast.Name | ast.Attribute)
    ]
    is_vague = any(_VAGUE.search(name) or name.isupper() for name in names)
    return (_OPPOSITE if is_vague or was not in _BOUNDARY else _BOUNDARY)[was]()


def _of_statement(node: ast.AST, gives: str | None) -> Iterator[Change]:
    if isinstance(node, ast.AugAssign):
        yield "removed", node, "pass"
    elif isinstance(node, ast.Expr):
        call = node.value.value if isinstance(node.value, ast.Await) else node.value
        if isinstance(call, ast.Call) and not _is_for_people(call) and not _is_tidy(call):
            yield "removed", node, "pass"
    elif isinstance(node, ast.Return) and gives != "None" and not _is_empty(node.value):
        yield "returned", node, "return None"


def _is_tidy(call: ast.Call) -> bool:
    return bool(_TIDY.fullmatch(ast.unparse(call.func).rpartition(".")[2]))


def _is_empty(value: ast.expr | None) -> bool:
    """Whether a caller would hardly notice None instead."""
    if isinstance(value, ast.Constant):
        return not value.value
    return value is None or ast.unparse(value) in {"()", "[]", "{}", "set()", "frozenset()"}
