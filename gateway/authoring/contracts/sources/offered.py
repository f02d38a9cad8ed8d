"""The contract files of resources and prompts, and what lint and generator know of them."""

from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath
from typing import Any, Final

from msgspec import Struct

from gateway.authoring.contracts.sources.document import Document
from gateway.contract.values.pointers import child

# The contract files of resources and prompts.

FILES: Final = "files"
"""The folder beside contracts of resources and prompts with what they send as it is."""


class OfferedSource(Struct, frozen=True, eq=False):
    """The file of one resource or prompt, `<kind>/<connector>/<name>.yaml`."""

    document: Document

    @property
    def path(self) -> PurePosixPath:
        return self.document.path

    @property
    def connector(self) -> str:
        return self.path.parts[1]

    @property
    def grant(self) -> str:
        """`<kind>/<connector>.<name>`."""
        return f"{self.path.parts[0]}/{self.connector}.{self.path.stem}"

    def file(self, name: str) -> PurePosixPath:
        """The path of the file `name` that belongs to it."""
        return self.path.parent / FILES / name


# Facts about the contracts of resources and prompts that the lint and the generator share.


def needs_grant(offered: OfferedSource) -> bool:
    """Whether agents are granted it by its own name. A resource of a tool follows the tool."""
    return "tool" not in offered.document.value.get("contents", {})


def templates_of(message: Mapping[str, Any], pointer: str) -> Iterator[tuple[str, str]]:
    """The texts of a prompt's message that have placeholders, each with its pointer."""
    if "text" in message:
        yield child(pointer, "text"), message["text"]
    resource = message.get("resource", {})
    for name in ("uri", "text"):
        if name in resource:
            yield child(child(pointer, "resource"), name), resource[name]


def files_of(value: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    """The files that a contract sends: the pointer to the name, the name, the media type."""
    contents = value.get("contents", {})
    if "file" in contents:
        yield "/contents/file", contents["file"], value["mimeType"]
    for index, message in enumerate(value.get("messages", ())):
        for kind in ("image", "resource"):
            part = message.get(kind, {})
            if "file" in part:
                pointer = child(child(child("/messages", index), kind), "file")
                yield pointer, part["file"], part["mimeType"]
