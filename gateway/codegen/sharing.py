"""References that stay and references that go: a file's parts as models and documents see them.

A full dereference repeats a shared schema wherever it is used. Models import it instead, and the
published OpenAPI document refers to a component.
"""

from collections.abc import Callable, Iterator
from pathlib import PurePosixPath
from typing import Any, Final

from gateway.codegen import keywords
from gateway.codegen.ir import Model
from gateway.codegen.names import camel
from gateway.codegen.pointers import child, follow, steps
from gateway.codegen.refs import Target, dereference, resolve
from gateway.codegen.source import Document
from gateway.codegen.tree import SourceTree
from gateway.errors import ContractError

Keep = Callable[[Target], str | None]
"""What a reference to this target becomes; None when its content takes its place."""

COMMON: Final = "common"
_BARE: Final = frozenset({"$schema", "$id", "$defs", "$comment", "title", "description"})
"""Members of a file that only holds definitions."""
_DROPPED: Final = frozenset({"$ref", "$defs", "$schema", "$id", "$comment"})


def model(tree: SourceTree, name: str, path: PurePosixPath, pointer: str = "") -> Model:
    """The schema at `pointer` of `path`, to become the type `name`.

    A reference to a shared definition is left as `common/<file>.json#/$defs/<Name>`. Raises
    `ContractRefused` for a reference that cannot be resolved.
    """
    document = tree.documents[path]
    value = follow(document.value, pointer)
    schema = _Expansion(tree, _shared_definition).value(document, pointer, value)
    return Model(name=name, path=path, pointer=pointer, schema=schema)


def shared_models(tree: SourceTree, path: PurePosixPath) -> Iterator[Model]:
    """The definitions of a file of `common/`: its `$defs`, then itself when it is a schema.

    Raises `ContractError` when two of them would be one class.
    """
    value = tree.documents[path].value
    names: dict[str, str] = {}
    for key in value.get("$defs", {}):
        name = camel(key)
        if name in names:
            raise _clash(path, f"$defs {names[name]!r}", f"$defs {key!r}", name)
        names[name] = key
        yield model(tree, name, path, child("/$defs", key))
    own = camel(path.stem)
    if value.keys() <= _BARE or value.get("$ref") == f"#{child('/$defs', names.get(own, ''))}":
        return
    if own in names:
        raise _clash(path, f"$defs {names[own]!r}", "the file itself", own)
    yield model(tree, own, path)


def published(
    tree: SourceTree, path: PurePosixPath
) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
    """The Path Item of `path` with schema files as components, and those components by name.

    Raises `ContractRefused` for a reference that cannot be resolved.
    """
    targets: dict[str, Target] = {}

    def component(target: Target) -> str | None:
        if target.document.path.suffix != ".json":
            return None
        name = component_name(target)
        targets[name] = target
        return f"#/components/schemas/{name}"

    document = tree.documents[path]
    item = _Expansion(tree, component).value(document, "", document.value)
    schemas = {
        name: dereference(tree, target.document.path, target.pointer)
        for name, target in targets.items()
    }
    return item, schemas


def component_name(target: Target) -> str:
    """`avinode.search_flights.input` for that file of `tools/`; a definition's name comes last."""
    folder, *rest = target.document.path.with_suffix("").parts
    parents = rest if folder in {COMMON, "tools"} else [folder, *rest]
    return ".".join([*parents, *steps(target.pointer)[-1:]])


class _Expansion:
    """Inlines every reference that `keep` does not keep."""

    def __init__(self, tree: SourceTree, keep: Keep) -> None:
        self._tree = tree
        self._keep = keep

    def value(self, document: Document, pointer: str, value: Any) -> Any:
        if isinstance(value, list):
            members = enumerate(value)
            return [self.value(document, child(pointer, i), member) for i, member in members]
        if not isinstance(value, dict):
            return value
        own = {
            name: self._member(document, child(pointer, name), name, member)
            for name, member in value.items()
            if name not in _DROPPED
        }
        return self._referred(document, pointer, value["$ref"]) | own if "$ref" in value else own

    def _referred(self, document: Document, pointer: str, ref: str) -> dict[str, Any]:
        target = resolve(self._tree, document.path, ref, pointer)
        kept = self._keep(target)
        if kept is not None:
            return {"$ref": kept}
        expanded: dict[str, Any] = self.value(target.document, target.pointer, target.value)
        return expanded

    def _member(self, document: Document, pointer: str, name: str, value: Any) -> Any:
        if name in keywords.DATA:
            return value
        if name in keywords.NAME_MAPS and isinstance(value, dict):
            return {
                key: self.value(document, child(pointer, key), member)
                for key, member in value.items()
            }
        return self.value(document, pointer, value)


def _shared_definition(target: Target) -> str | None:
    """A place that `shared_models` makes a class of keeps its reference."""
    path = target.document.path
    where = steps(target.pointer)
    if path.parts[0] != COMMON or (where and (len(where) != 2 or where[0] != "$defs")):
        return None
    return f"{path}#/$defs/{camel(where[1] if where else path.stem)}"


def _clash(path: PurePosixPath, one: str, other: str, name: str) -> ContractError:
    return ContractError(
        f"schemas/{path}: {one} and {other} are both {name} in Python; rename one of them"
    )
