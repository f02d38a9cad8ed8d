"""Which members of tools and results each revision of the protocol has.

The SDK describes all handshake revisions by the types of the newest one. So it would send members
to clients whose revision does not have them.
"""

from collections.abc import Mapping
from typing import Any, Final

from msgspec import Struct


class ProtocolRevision(Struct, frozen=True, kw_only=True):
    """A revision of the protocol."""

    version: str
    has_hints: bool = True
    """Tools have `annotations`, since 2025-03-26."""
    has_audio: bool = True
    """Results have `audio` blocks, since 2025-03-26."""
    has_completions: bool = True
    """Servers declare that they complete arguments, since 2025-03-26."""
    has_progress_text: bool = True
    """Notifications of progress have `message`, since 2025-03-26."""
    has_titles: bool = True
    """Tools, resources and servers have `title`, since 2025-06-18. Before, only annotations have
    it."""
    has_icons: bool = True
    """Servers have `description`, `icons` and `websiteUrl`, since 2025-11-25."""
    has_modes: bool = True
    """An elicitation names its `mode`, since 2025-11-25. Before, all of them are forms."""
    has_structure: bool = True
    """Tools have `outputSchema` and results `structuredContent`, since 2025-06-18."""
    has_links: bool = True
    """Results have `resource_link` blocks, since 2025-06-18."""
    is_modern: bool = False
    """Each request is complete by itself, without `initialize`, since 2026-07-28."""

    @property
    def shape(self) -> tuple[bool, bool, bool]:
        """Equal for revisions whose tools have the same members."""
        return self.has_hints, self.has_titles, self.has_structure


_REVISIONS: Final[Mapping[str, ProtocolRevision]] = {
    each.version: each
    for each in (
        ProtocolRevision(
            version="2024-11-05",
            has_hints=False,
            has_audio=False,
            has_completions=False,
            has_progress_text=False,
            has_titles=False,
            has_icons=False,
            has_modes=False,
            has_structure=False,
            has_links=False,
        ),
        ProtocolRevision(
            version="2025-03-26",
            has_titles=False,
            has_icons=False,
            has_modes=False,
            has_structure=False,
            has_links=False,
        ),
        ProtocolRevision(version="2025-06-18", has_icons=False, has_modes=False),
        ProtocolRevision(version="2025-11-25"),
        ProtocolRevision(version="2026-07-28", is_modern=True),
    )
}


def asked_by(revision: ProtocolRevision, params: dict[str, Any]) -> dict[str, Any]:
    """The parameters of a question, as `revision` has them."""
    return params if revision.has_modes else {k: v for k, v in params.items() if k != "mode"}


def revision_of(version: str) -> ProtocolRevision:
    """The revision `version`, which the SDK or the fast path has accepted."""
    return _REVISIONS[version]
