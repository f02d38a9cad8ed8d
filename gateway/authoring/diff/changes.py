"""Changes between two versions of contracts, each with its verdict."""

from enum import StrEnum
from typing import Any, Final, Literal

from msgspec import UNSET, Struct, UnsetType


class Direction(StrEnum):
    """Who sends the values of a schema, which says what may grow and what may shrink."""

    TOOL_INPUT = "tool input"
    TOOL_OUTPUT = "tool output"
    WEBHOOK = "webhook in"
    EVENT = "event out"
    UPSTREAM_REQUEST = "upstream request"
    UPSTREAM_RESPONSE = "upstream response"
    REQUEST = "request"
    """To an API that an OpenAPI document describes. We need not be one of its sides."""
    RESPONSE = "response"
    WEBHOOK_REPLY = "webhook reply"
    """Ours, to the sender of a webhook."""
    EVENT_REPLY = "event reply"
    """A subscriber's, to who sends an event, a webhook of a document or a callback."""

    @property
    def is_received(self) -> bool:
        """Whether others send it and we read it: it may grow. What we send may shrink."""
        return self in {Direction.TOOL_INPUT, Direction.WEBHOOK, Direction.UPSTREAM_RESPONSE}

    @property
    def may_grow(self) -> bool:
        """Whether who wrote the contract reads the values, so that it may accept more of them.

        Otherwise it sends them, and may send fewer. A document of an upstream is the upstream's:
        what is a request of ours, it reads.
        """
        return self in _READ


_READ: Final = frozenset(
    {
        Direction.TOOL_INPUT,
        Direction.WEBHOOK,
        Direction.UPSTREAM_REQUEST,
        Direction.REQUEST,
        Direction.EVENT_REPLY,
    }
)


class ChangeVerdict(StrEnum):
    """What is known of a change."""

    SAFE = "safe"
    """Proved: all that worked with the old side works with the new one."""
    BREAKING = "breaking"
    """A witness is accepted by one side and refused by the other. Both were executed."""
    UNDECIDED = "undecided"
    """Neither a proof nor a witness. It fails until it is acknowledged."""
    POLICY = "policy"
    """Nothing to prove: a rule says how severe it is."""


Severity = Literal["error", "warning", "info"]
Level = Literal["wire", "api", "files"]
"""The strictness ladder: `files` forbids all that `api` forbids, and `api` all that `wire` does."""


class ChangePlace(Struct, frozen=True):
    """Where something is written."""

    path: str
    """The file, relative to its side."""
    pointer: str


_NAMED: Final = 3
"""Contracts that are named in a sentence."""


class ContractChange(Struct, frozen=True, kw_only=True):
    """One difference between the old and the new side."""

    rule: str
    """The stable id, such as `tool-input-narrowed`. `gateway.authoring.diff.rules` has all."""
    subject: str
    """The contract: the id of a tool, webhook or event, or method and path of an operation."""
    direction: Direction | None = None
    verdict: ChangeVerdict
    severity: Severity
    text: str
    """One sentence. Names of contracts are data: printed inert."""
    old: ChangePlace | None = None
    new: ChangePlace | None = None
    witness: Any | UnsetType = UNSET
    accepted_by: Literal["old", "new"] | None = None
    """The side that accepts the witness. The other refuses it."""
    refusal: str = ""
    """Why the other refuses it: pointer and message of its validator."""
    unshown: str = ""
    """Why nothing shows it although something might. Empty: all was tried."""
    reached: tuple[str, ...] = ()
    """The other contracts that use the same shared part in this direction. It is said once."""

    @property
    def sentence(self) -> str:
        """The text, with what else is reached."""
        said = f"{self.text}; {self.unshown}" if self.unshown else self.text
        if not self.reached:
            return said
        more = ", …" if len(self.reached) > _NAMED else ""
        others = f"{', '.join(self.reached[:_NAMED])}{more}"
        return f"{said} (a shared part; it reaches {len(self.reached):,} more: {others})"
