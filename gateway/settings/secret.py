"""A text that must not be shown."""

import hmac
from typing import Final, NoReturn

MASK: Final = "***"


class Secret:
    """A text that is masked when it is printed or formatted, and is compared in constant time.

    It cannot be pickled or encoded as JSON by accident. Only `reveal` returns the text, so a search
    for this name finds every use.
    """

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = text

    def reveal(self) -> str:
        """The text itself. Only for code that sends, checks or digests it."""
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
        raise TypeError("a secret cannot be pickled or copied")
