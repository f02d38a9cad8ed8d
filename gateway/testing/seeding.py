"""The number by which everything is drawn, so that a run finds the same on any machine."""

_planted: int | None = None


def planted() -> int | None:
    """The number. None: this run was given none."""
    return _planted


def plant(number: int) -> None:
    """Draw by `number` from now on."""
    global _planted  # noqa: PLW0603 - one run of pytest has one seed, and its decorators read it
    _planted = number
