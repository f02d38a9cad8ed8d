"""The parts that tools, events and webhooks have in common: sources, models and examples."""

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import PurePosixPath
from typing import Any

from gateway.codegen.ir import ContractSource, Example, Model
from gateway.codegen.lowering.sharing import model
from gateway.contract.values.pointers import follow
from gateway.contracts.sources.refs import resolve
from gateway.contracts.sources.tree import SourceTree


def source_of(
    tree: SourceTree, path: PurePosixPath, files: Iterable[PurePosixPath]
) -> ContractSource:
    """The source with the main file `path` and the closure `files`.

    Of files that follow from another file, it is that file.
    """
    path = tree.documents[path].source
    members = tuple(sorted({tree.documents[each].source for each in files}))
    lines = [f"{member} {tree.documents[member].text_sha256}\n" for member in members]
    digest = hashlib.sha256("".join(lines).encode()).hexdigest()
    return ContractSource(path=path, closure=members, sha256=digest)


def model_at(tree: SourceTree, path: PurePosixPath, name: str, pointer: str) -> Model:
    """The model of the schema at `pointer`. If it is a reference, the model of its target."""
    schema = follow(tree.documents[path].value, pointer)
    if "$ref" not in schema:
        return model(tree, name, path, pointer)
    target = resolve(tree, path, schema["$ref"], pointer)
    return model(tree, name, target.document.path, target.pointer)


def examples_of(media: Mapping[str, Any]) -> Iterator[Example]:
    """The examples of a Media Type Object."""
    for name, facts in media.get("examples", {}).items():
        yield Example(name=name, summary=facts.get("summary", ""), value=facts["value"])
