"""Adds ready connectors of the library to a project: the files that each consists of."""

from collections.abc import Collection, Iterator, Mapping
from pathlib import PurePosixPath
from typing import Any, Final

from msgspec import Struct

from gateway.authoring.contracts.refs import closure
from gateway.authoring.contracts.tree import (
    ENTITIES,
    EVENTS,
    POLICIES,
    PROMPTS,
    RESOURCES,
    TOOLS,
    UPSTREAMS,
    WEBHOOKS,
    SourceTree,
    ToolSource,
    read_tree,
)
from gateway.authoring.contracts.tree import files_of as sent
from gateway.authoring.project.changes import Files
from gateway.authoring.project.merging import settings_text, with_entries
from gateway.authoring.project.staging import (
    FILE,
    SETTINGS,
    Pins,
    Project,
    digest_of,
    read_pins,
    read_text,
    with_generated,
)
from gateway.contract.values import jsontext
from gateway.contract.values.nearest import hint
from gateway.errors import ConfigurationError
from gateway.library import library_folder
from gateway.project_folder import INDEX

# The ready connectors of the library, and the files that a connector consists of.

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


# Adds ready connectors of the library to a project.

_MOST_LISTED: Final = 8


class Addition(Struct, frozen=True, kw_only=True):
    """The files that an addition changes."""

    files: Files
    tools: tuple[str, ...]
    """The operation ids that the project did not have."""


def add_connectors(project: Project, names: tuple[str, ...]) -> Addition:
    """What the project's files become with these connectors. Nothing is written.

    Raises `ConfigurationError` for an unknown connector, and if files of the project that were
    edited would be replaced. Raises `ContractRefused` if the project has findings, with or without
    the connectors.
    """
    library = read_tree(library_folder() / "schemas")
    known_connectors(library, names)
    own = read_tree(project.schemas)
    pins = read_pins(project.folder)
    paths = files_of(library, names)
    _refuse_imported(own, paths)
    contents = {path: (library.root / path).read_bytes() for path in paths}
    contents |= sent_files(library, paths)
    copied = {project.place_of(path): content for path, content in contents.items()}
    _refuse_edited(project, pins, copied)
    files = {
        **copied,
        project.place_of(INDEX): _index(project, own, library, paths),
        project.place_of(POLICIES): _policies(project, own, library, names),
        SETTINGS: _settings(project, library, paths),
        FILE: pins.adding(names, project.version, copied).encoded(),
    }
    before = {tool.id for tool in own.tools}
    added = (tool.id for tool in tools_of(library, paths))
    return Addition(
        files=with_generated(project, files).files,
        tools=tuple(each for each in added if each not in before),
    )


def _refuse_imported(own: SourceTree, paths: tuple[PurePosixPath, ...]) -> None:
    """Raise `ConfigurationError` if an import of the project has the name of a connector."""
    folders = {path.parts[1] for path in paths if len(path.parts) > 2}
    if taken := sorted(own.imports & folders):
        raise ConfigurationError(
            f"the name {taken[0]} is taken by an imported document; rename its folder, "
            f"{UPSTREAMS}/{taken[0]} of the schemas, and generate"
        )


def _refuse_edited(project: Project, pins: Pins, copied: Files) -> None:
    edited = []
    for path, content in copied.items():
        file = project.folder / path
        found = file.read_bytes() if file.is_file() else None
        if found not in {None, content} and digest_of(found or b"") != pins.files.get(str(path)):
            edited.append(str(path))
    if edited:
        more = f" and {len(edited) - _MOST_LISTED} more" if edited[_MOST_LISTED:] else ""
        raise ConfigurationError(
            f"{', '.join(edited[:_MOST_LISTED])}{more} would be replaced, but you wrote or edited "
            "that; move it elsewhere or restore the library's text, and run it again"
        )


def _index(
    project: Project, own: SourceTree, library: SourceTree, paths: tuple[PurePosixPath, ...]
) -> bytes:
    """The project's `openapi.yaml` with everything that it has to list."""
    text = read_text(project.schemas / INDEX)
    index = own.index.value if own.index else {}
    for section, entries in _listings(library, paths).items():
        have = index.get(section, ())
        new = [line for name, line in entries.items() if name not in have]
        text = with_entries(text, section, new, str(project.place_of(INDEX)))
    have = {tag["name"] for tag in index.get("tags", ())}
    new = [text for name, text in _tags(library, paths).items() if name not in have]
    return with_entries(text, "tags", new, str(project.place_of(INDEX))).encode()


def _listings(
    library: SourceTree, paths: tuple[PurePosixPath, ...]
) -> Mapping[str, dict[str, str]]:
    """The entries of the index by section and by name."""
    index: dict[str, Any] = library.index.value if library.index else {}
    found: dict[str, dict[str, str]] = {}
    listed = {f"./{path}" for path in paths if is_listed(path)}
    for section in ("paths", "webhooks"):
        entries = {name: each["$ref"] for name, each in index[section].items()}
        found[section] = {
            name: f"{name}: {{$ref: {ref}}}" for name, ref in entries.items() if ref in listed
        }
    for section in ("x-upstreams", "x-entities"):
        found[section] = {ref: f"- {ref}" for ref in index[section] if ref in listed}
    return found


def _tags(library: SourceTree, paths: tuple[PurePosixPath, ...]) -> dict[str, str]:
    index: dict[str, Any] = library.index.value if library.index else {}
    used = {EVENTS} | {path.parts[1] for path in paths if len(path.parts) > 2}
    used |= {tool.connector for tool in tools_of(library, paths)}
    return {tag["name"]: _tag(tag) for tag in index["tags"] if tag["name"] in used}


def _tag(tag: Mapping[str, Any]) -> str:
    text = f"- name: {tag['name']}\n  description: {tag['description']}"
    server = tag.get("x-server")
    return text if server is None else f"{text}\n  x-server: {jsontext.encode(server).decode()}"


def _policies(
    project: Project, own: SourceTree, library: SourceTree, names: tuple[str, ...]
) -> bytes:
    """The project's policies with an agent for each connector, which may call all but destroy."""
    have = own.policies.value.get("agents", {}) if own.policies else {}
    agents = []
    for name in names:
        tools = [tool for tool in library.tools if tool.connector == name]
        granted = [t.id for t in tools if t.operation["x-policy"]["effect"] != "destroy"]
        if granted and name not in have:
            head = f"{name}:\n  description: Uses the tools of {name}.\n  grants:"
            agents.append("\n".join([head, *(f"    - {each}" for each in granted)]))
    text = read_text(project.schemas / POLICIES)
    return with_entries(text, "agents", agents, str(project.place_of(POLICIES))).encode()


def _settings(project: Project, library: SourceTree, paths: tuple[PurePosixPath, ...]) -> bytes:
    """The project's `gateway.toml` with a comment for each added upstream."""
    file = project.folder / SETTINGS
    text = read_text(file) if file.exists() else ""
    for path in paths:
        document = library.upstreams.get(path.parts[1]) if len(path.parts) > 2 else None
        if document is not None and document.path == path:
            text = settings_text(text, document.value["x-upstream"], project.version)
    return text.encode()
