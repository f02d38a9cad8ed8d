"""Dereferences schemas for models and for the published OpenAPI document.

A full dereference would repeat a shared schema at every use. Models import it instead, and the
OpenAPI document refers to a component.
"""

from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Any, Final

from gateway.codegen.ir import Model
from gateway.contract.values.pointers import child, steps
from gateway.contracts.names import camel
from gateway.contracts.sources.expanding import dereference
from gateway.contracts.sources.refs import RefTarget, schema_name
from gateway.contracts.sources.tree import COMMON, SourceTree
from gateway.errors import ContractError

_BARE: Final = frozenset({"$schema", "$id", "$defs", "$comment", "title", "description"})
"""The members that a file of only definitions may have."""


def model(tree: SourceTree, name: str, path: PurePosixPath, pointer: str = "") -> Model:
    """The model `name` of the schema at `pointer` of the file `path`.

    A reference to a shared definition stays, as `common/<file>.json#/$defs/<Name>`. Raises
    `ContractRefused` for a reference that cannot be resolved.
    """
    schema = dereference(tree, path, pointer, _shared_definition)
    document = tree.documents[path]
    where, place, _ = document.place(pointer) if document.declared else (path, pointer, 0)
    return Model(name=name, path=where, pointer=place, schema=schema)


def shared_models(tree: SourceTree, path: PurePosixPath) -> Iterator[Model]:
    """The models of a file of `common/`: its `$defs`, and the file itself if it is a schema.

    Raises `ContractError` if two models have the same class name.
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
    targets: dict[str, RefTarget] = {}

    def component(target: RefTarget) -> str | None:
        if target.document.path.suffix != ".json":
            return None
        name = schema_name(target)
        targets[name] = target
        return f"#/components/schemas/{name}"

    item = dereference(tree, path, keep=component)
    schemas = {
        name: dereference(tree, target.document.path, target.pointer)
        for name, target in targets.items()
    }
    return item, schemas


def _shared_definition(target: RefTarget) -> str | None:
    """The reference to a class of `shared_models`. None if the target is not one."""
    path = target.document.path
    where = steps(target.pointer)
    if path.parts[0] != COMMON or (where and (len(where) != 2 or where[0] != "$defs")):
        return None
    return f"{path}#/$defs/{camel(where[1] if where else path.stem)}"


def _clash(path: PurePosixPath, one: str, other: str, name: str) -> ContractError:
    return ContractError(
        f"schemas/{path}: {one} and {other} have the same Python name {name}; rename one of them"
    )
