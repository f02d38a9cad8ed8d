"""The gateway's own definitions of the protocol, so that it starts without loading the SDK.

Each definition has the meaning of the SDK's own. `tests/unit/transports/test_protocol.py` compares
them.
"""

import base64
import re
from collections.abc import Mapping
from typing import Any, Final, Literal

import msgspec
from msgspec import Struct, field

from gateway.contract.operation import Requirement
from gateway.contract.policies.questions import ASK_KINDS
from gateway.transports.http.asgi import Headers
from gateway.transports.json_rpc import Refusal, invalid

HANDSHAKE_VERSIONS: Final = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
"""The revisions in which a client starts with `initialize`."""
MODERN_VERSIONS: Final = ("2026-07-28",)
"""The revisions in which each request is complete by itself, without `initialize`."""
VERSIONS: Final = tuple(sorted((*HANDSHAKE_VERSIONS, *MODERN_VERSIONS), reverse=True))
"""All revisions, the newest first."""
PROGRESS: Final = "progressToken"
"""The member of `_meta` by which a client asks for notifications of progress."""
LOG_LEVEL: Final = "io.modelcontextprotocol/logLevel"
"""The member of `_meta` by which a client asks for messages about its call."""
TASKS: Final = "io.modelcontextprotocol/tasks"
"""The extension by which a client takes tasks in place of results (SEP-2663)."""
CAPABILITIES: Final = "io.modelcontextprotocol/clientCapabilities"
"""The member of `_meta` with what the client of a request can do."""
_WITHOUT_ELICITATION: Final = ("2024-11-05", "2025-03-26")
_DEFAULT_VERSION: Final = "2025-03-26"
_VERSION: Final = b"mcp-protocol-version"
_ENCODED: Final = re.compile(r"=\?base64\?(.*)\?=")


NOTHING: Final[frozenset[Requirement]] = frozenset()
CAPABILITY_OF: Final[Mapping[Requirement, dict[str, Any]]] = {
    "tasks": {"extensions": {TASKS: {}}},
    "elicitation": {"elicitation": {}},
    "sampling": {"sampling": {}},
    "roots": {"roots": {}},
}
"""What a client declares for each requirement, in the form of its capabilities."""


class Freshness(Struct, frozen=True):
    """How long a client may keep an answer, in milliseconds, and for whom."""

    ttl_ms: int
    scope: Literal["public", "private"]


def declared_by(meta: Mapping[str, Any]) -> frozenset[Requirement]:
    """What the `_meta` of a request declares, of what tools can require."""
    capabilities = meta.get(CAPABILITIES)
    if not capabilities or not isinstance(capabilities, Mapping):
        return NOTHING
    extensions = capabilities.get("extensions")
    has_tasks = isinstance(extensions, Mapping) and isinstance(extensions.get(TASKS), Mapping)
    asks = asks_of(capabilities)
    return asks | {"tasks"} if has_tasks else asks


def asks_of(capabilities: Mapping[str, Any]) -> frozenset[Requirement]:
    """What a client with these capabilities can be asked."""
    found: set[Requirement] = {
        each for each in ASK_KINDS if isinstance(capabilities.get(each), Mapping)
    }
    if "elicitation" in found and {*capabilities["elicitation"]} == {"url"}:
        found.remove("elicitation")  # it has no forms
    return frozenset(found) if found else NOTHING


def asks_in_handshake(params: Any) -> frozenset[Requirement]:
    """What a client can be asked that starts with these `params` of `initialize`."""
    known = params if isinstance(params, dict) else {}
    capabilities = known.get("capabilities")
    found = asks_of(capabilities) if isinstance(capabilities, dict) else NOTHING
    has_elicitation = known.get("protocolVersion") not in _WITHOUT_ELICITATION
    return found if has_elicitation else found - {"elicitation"}


def version_of(header: bytes | None) -> str:
    """The revision that the header names. Without the header, it is a handshake revision."""
    return _DEFAULT_VERSION if header is None else header.decode("latin-1")


def is_of_handshake_era(headers: Headers) -> bool:
    """Whether the SDK serves a request with these `headers` by a handshake revision."""
    return version_in(headers) in HANDSHAKE_VERSIONS


def version_in(headers: Headers) -> str:
    """The revision that a request with these `headers` names: see `version_of`."""
    return version_of(next((value for name, value in headers if name == _VERSION), None))


def header_text(value: str) -> str | None:
    """The text of a routing header: its value, or the decoded text if it is in base64.

    None if the base64 is malformed or not canonical.
    """
    encoded = _ENCODED.fullmatch(value)
    if encoded is None:
        return value
    payload = encoded[1]
    try:
        decoded = base64.b64decode(payload, validate=True)
        is_canonical = base64.b64encode(decoded).decode("ascii") == payload
        return decoded.decode("utf-8") if is_canonical else None
    except ValueError:  # characters outside base64, or bytes that are not UTF-8
        return None


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


class Initialize(Struct, tag_field="method", tag="initialize"):
    """The first request of a client, in the handshake revisions."""

    params: Any = None

    @property
    def client(self) -> str:
        """The name with which the client introduces itself. Empty if it says none."""
        params = self.params
        return client_name(params.get("clientInfo") if isinstance(params, dict) else None)

    @property
    def asks(self) -> frozenset[Requirement]:
        """What the client can be asked."""
        return asks_in_handshake(self.params)


class _CancelledParams(Struct):
    request: int | str = field(name="requestId")


class Cancelled(Struct, tag_field="method", tag="notifications/cancelled"):
    """The client no longer waits for the answer to a request."""

    params: _CancelledParams


_controls: Final[msgspec.json.Decoder[Initialize | Cancelled]] = msgspec.json.Decoder(
    Initialize | Cancelled
)


def client_name(info: Any) -> str:
    """The name in a `clientInfo`. Empty if there is none: the SDK then refuses the message."""
    name = info.get("name") if isinstance(info, dict) else None
    return name if isinstance(name, str) else ""


def control_of(text: bytes) -> Initialize | Cancelled | None:
    """The message, if it concerns the transport itself; None for every other message."""
    try:
        return _controls.decode(text)
    except msgspec.DecodeError:
        return None


def not_awaited(request_id: str) -> Refusal:
    """The refusal of an answer that no call waits for."""
    detail = (
        "No call of this key and session waits for this answer. It was answered before, the call"
        " has ended, or another gateway has asked."
    )
    return invalid(None, detail, request_id)
