"""Questions as they are sent to clients, and answers as they are kept."""

import hashlib
from collections.abc import Mapping
from typing import Any, Final

import msgspec
from msgspec import Struct

from gateway.contract.policies.questions import AskKind

METHODS: Final[Mapping[AskKind, str]] = {
    "elicitation": "elicitation/create",
    "sampling": "sampling/createMessage",
    "roots": "roots/list",
}


class OpenQuestion(Struct, frozen=True):
    """An open question."""

    method: str
    params: dict[str, Any]

    @property
    def kind(self) -> AskKind:
        """What a client must be able to do to answer it."""
        return next(kind for kind, method in METHODS.items() if method == self.method)

    @property
    def digest(self) -> str:
        """Equal for equal questions."""
        text = msgspec.json.encode([self.method, self.params], order="sorted")
        return hashlib.sha256(text).hexdigest()[:16]


class Given(Struct, frozen=True):
    """An answer, as its client sent it."""

    answer: Any
    digest: str | None = None
    """Of the question that it answers. None: the client was not asked before."""
