"""The ready connectors of the library, and the files that a connector consists of."""

from collections.abc import Collection, Iterator, Mapping
from pathlib import PurePosixPath
from typing import Any, Final

from msgspec import Struct

from gateway.contract.values.nearest import hint
from gateway.contracts.sources.offered import files_of as sent
from gateway.contracts.sources.refs import closure
from gateway.contracts.sources.tree import (
    ENTITIES,
    EVENTS,
    PROMPTS,
    RESOURCES,
    TOOLS,
    UPSTREAMS,
    WEBHOOKS,
    SourceTree,
    ToolSource,
)
from gateway.errors import ConfigurationError

_NAMED: Final[Mapping[str, str]] = {
    "upstream": "upstreams/{}/openapi.yaml",
    "upstreams": "upstreams/{}/openapi.yaml",
    "entity": "entities/{}.json",
    "ref": "entities/{}.json",
}
"""Members of the extensions that name a file, and its path."""
_TOOLS: Final = frozenset({"tool", "grant"})
"""Members of the extensions that name a tool by its operation id."""
_EVENT: Final = "event"
_OWN: Final = frozenset({TOOLS, UPSTREAMS, WEBHOOKS, RESOURCES, PROMPTS})
"""The folders that have a folder for each connector."""


class ReadyConnector(Struct, frozen=True, kw_only=True):
    """A connector of the library."""

    name: str
    tools: tuple[str, ...]
    """Operation ids."""
    has_webhooks: bool
    description: str


def ready_connectors(library: SourceTree) -> tuple[ReadyConnector, ...]:
    """All connectors, sorted by name."""
    index = library.index
    tags = {tag["name"]: tag["description"] for tag in index.value["tags"]} if index else {}
    providers = {webhook.provider for webhook in library.webhooks}
    names = {tool.connector for tool in library.tools} | providers
    return tuple(
        ReadyConnector(
            name=name,
            tools=tuple(tool.id for tool in library.tools if tool.connector == name),
            has_webhooks=name in providers,
            description=tags.get(name, ""),
        )
        for name in sorted(names)
    )


def known_connectors(library: SourceTree, names: Collection[str]) -> None:
    """Raise `ConfigurationError` for a name that is no connector of the library."""
    known = [connector.name for connector in ready_connectors(library)]
    for name in names:
        if name not in known:
            suggestion = hint(name, known, "`gateway add --list` prints all")
            raise ConfigurationError(f"there is no ready connector {name!r}; {suggestion}")


def files_of(library: SourceTree, names: Collection[str]) -> tuple[PurePosixPath, ...]:
    """The contract files of these connectors and all that they refer to, sorted.

    Of a tool that an entity declares, that is the entity's file. A tool of another connector is
    added with that whole connector, whose handlers need the models of all its tools.
    """
    found: set[PurePosixPath] = set()
    waiting = [path for name in names for path in _roots(library, name)]
    while waiting:
        path = waiting.pop()
        if path in found:
            continue
        found.add(path)
        document = library.documents[path]
        waiting.append(document.source)
        waiting.extend(closure(library, path))
        waiting.extend(_named(library, document.value))
    return tuple(sorted(path for path in found if library.documents[path].declared is None))


def sent_files(
    library: SourceTree, paths: Collection[PurePosixPath]
) -> Mapping[PurePosixPath, bytes]:
    """The files that resources and prompts of these paths send as they are."""
    offered = (each for each in (*library.resources, *library.prompts) if each.path in paths)
    found = (each.file(name) for each in offered for _, name, _ in sent(each.document.value))
    return {path: library.files[path] for path in found}


def tools_of(library: SourceTree, paths: Collection[PurePosixPath]) -> tuple[ToolSource, ...]:
    """The tools that these files declare."""
    return tuple(tool for tool in library.tools if tool.document.source in paths)


def _roots(library: SourceTree, name: str) -> Iterator[PurePosixPath]:
    for path in library.documents:
        is_own = len(path.parts) > 1 and path.parts[1] == name
        if is_own and path.suffix == ".yaml" and path.parts[0] in _OWN:
            yield path


def _named(library: SourceTree, value: Any, *, is_extension: bool = False) -> list[PurePosixPath]:
    """The files that extensions in `value` name."""
    if isinstance(value, list):
        parts = [_named(library, each, is_extension=is_extension) for each in value]
        return [path for part in parts for path in part]
    if not isinstance(value, dict):
        return []
    found: list[PurePosixPath] = []
    for member, each in value.items():
        is_inside = is_extension or member.startswith("x-")
        if member == "x-entity":
            # The tools that it declares are in its own file.
            continue
        if is_inside:
            found.extend(_of_member(library, member, each))
        found.extend(_named(library, each, is_extension=is_inside))
    return found


def _of_member(library: SourceTree, member: str, value: Any) -> Iterator[PurePosixPath]:
    for name in value if isinstance(value, list) else [value]:
        if not isinstance(name, str):
            continue
        if member in _TOOLS:
            yield from _roots(library, name.partition(".")[0])
        for path in _paths(member, name):
            if path in library.documents:
                yield path


def _paths(member: str, name: str) -> Iterator[PurePosixPath]:
    if member in _NAMED:
        yield PurePosixPath(_NAMED[member].format(name))
    if member == _EVENT:
        yield PurePosixPath(EVENTS, f"{name.removeprefix('gateway.')}.yaml")


def is_listed(path: PurePosixPath) -> bool:
    """Whether `openapi.yaml` has to list this file."""
    return path.suffix == ".yaml" or path.parts[0] == ENTITIES
