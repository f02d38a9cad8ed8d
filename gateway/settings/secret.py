"""A value that must not be shown."""

import hmac
from typing import Final, NoReturn

MASK: Final = "***"


class Secret:
    """Text that prints, formats and compares without giving itself away.

    It cannot be pickled or encoded as JSON by accident; `reveal` is the only way out, so that a
    search for it finds every use.
    """

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = text

    def reveal(self) -> str:
        """The text itself, for the one place that sends or digests it."""
        return self._text

    def __repr__(self) -> str:
        return f"Secret({MASK})"

    def __str__(self) -> str:
        return MASK

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and hmac.compare_digest(
            self._text.encode(), other._text.encode()
        )

    def __hash__(self) -> int:
        return hash((Secret, self._text))

    def __reduce__(self) -> NoReturn:
        raise TypeError("a secret is not written anywhere")
