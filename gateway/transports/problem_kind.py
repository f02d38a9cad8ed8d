"""The record of a kind of problem."""

from msgspec import Struct


class ProblemKind(Struct, frozen=True):
    """What all problems of one kind share."""

    status: int
    code: str
    """The stable name of the kind, for programs."""
    slug: str
    """The last segment of the problem's type, `/problems/<slug>`."""
    title: str
    advice: str
    """What the caller can do about it."""
