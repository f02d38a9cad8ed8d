"""The tools of `tools/list` as JSON texts, each made once for a view and a revision."""

from typing import Final

from msgspec.structs import replace

from gateway.contract.values import jsontext
from gateway.publication.listed import ListedTool, published
from gateway.publication.names import ShownNames
from gateway.publication.own_tools import Listable
from gateway.publication.view import ToolView
from gateway.transports.mcp.revisions import ProtocolRevision

MAX_BYTES: Final = 32 * 2**20
"""The most bytes of texts that are kept. 10,000 tools of real documents have about 15 MB."""


class ToolTexts:
    """Makes and keeps the texts. Agents with the same view share them."""

    def __init__(self, names: ShownNames, max_bytes: int = MAX_BYTES) -> None:
        self._names = names
        self._max_bytes = max_bytes
        self._size = 0
        self._texts: dict[tuple[ToolView, ProtocolRevision, bool], dict[Listable, bytes]] = {}

    def text(
        self, tool: Listable, view: ToolView, revision: ProtocolRevision, connector: str | None
    ) -> bytes:
        """The text of `tool`, under its name at the endpoint of `connector`."""
        texts = self._texts.setdefault((view, revision, connector is not None), {})
        text = texts.get(tool)
        if text is None:
            name = self._names.name(tool.tool, connector, view.profile)
            shown = published(tool.listing, view)
            text = jsontext.encode(known_to(revision, replace(shown, name=name)))
            self._keep(texts, tool, text)
        return text

    def _keep(self, texts: dict[Listable, bytes], tool: Listable, text: bytes) -> None:
        if self._size + len(text) > self._max_bytes:
            for each in self._texts.values():
                each.clear()
            self._size = 0
        texts[tool] = text
        self._size += len(text)


def known_to(revision: ProtocolRevision, tool: ListedTool) -> ListedTool:
    """`tool` with the members that `revision` has.

    Where a tool has no title, its annotations have it, if the revision has annotations.
    """
    hints = tool.annotations if revision.has_hints else None
    if not revision.has_titles and hints is not None and tool.title is not None:
        hints = {"title": tool.title, **hints}
    return replace(
        tool,
        title=tool.title if revision.has_titles else None,
        output_schema=tool.output_schema if revision.has_structure else None,
        annotations=hints,
    )
