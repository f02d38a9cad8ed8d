"""Lists new contracts in the index, `openapi.yaml`, without touching its other lines."""

from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath

from msgspec import Struct

from gateway.contracts.sources.tree import SourceTree
from gateway.project.drafts.texts import inline
from gateway.project.merging import with_entries
from gateway.project.placing import Files
from gateway.project.staging import Project, read_text
from gateway.project_folder import INDEX


class DraftPart(Struct, frozen=True, kw_only=True):
    """Files of a draft, and what the index gets for them."""

    files: Files
    entries: Mapping[str, Sequence[str]]
    """By section."""
    tags: Mapping[str, str]
    """Descriptions by name."""


def listed_parts(project: Project, tree: SourceTree, *parts: DraftPart) -> Files:
    """The files of `parts`, and the index that names them. Raises `ConfigurationError`."""
    files: dict[PurePosixPath, bytes] = {}
    entries: dict[str, Sequence[str]] = {}
    tags: dict[str, str] = {}
    for each in parts:
        files |= each.files
        entries |= {name: [*entries.get(name, ()), *added] for name, added in each.entries.items()}
        tags |= each.tags
    return {**files, **with_listed(project, tree, entries, tags)}


def with_listed(
    project: Project,
    tree: SourceTree,
    entries: Mapping[str, Sequence[str]],
    tags: Mapping[str, str],
) -> dict[PurePosixPath, bytes]:
    """The index with `entries` by section, and with those of `tags` that it does not describe.

    Raises `ConfigurationError`.
    """
    place = project.place_of(INDEX)
    text = read_text(project.schemas / INDEX)
    value = tree.index.value if tree.index else {}
    known = {tag["name"] for tag in value.get("tags", ())}
    new = [
        f"- name: {name}\n  description: {inline(description)}"
        for name, description in tags.items()
        if name not in known
    ]
    text = with_entries(text, "tags", new, str(place))
    for section, lines in entries.items():
        text = with_entries(text, section, lines, str(place))
    return {place: text.encode()}
