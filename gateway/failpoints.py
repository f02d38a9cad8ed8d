"""Named places where a test may have the process die, as `kill -9` does."""

import os
import signal
from typing import Final

_POINT: Final = "GATEWAY_FAILPOINT"
"""`<name>`, or `<name>:<nth>` for the nth time that the place is passed."""
_LOG: Final = "GATEWAY_FAILPOINT_LOG"
"""A file that gets a line with the name before the process ends."""

_name, _, _nth = os.environ.get(_POINT, "").partition(":")
_left = int(_nth) if _nth.isdigit() else 1


def hit(name: str) -> None:
    """Pass the place `name`; where the environment names it, the process ends here."""
    if name == _name:
        _die()


def _die() -> None:
    global _left  # noqa: PLW0603 - one process, one count
    _left -= 1
    if _left > 0:
        return
    if path := os.environ.get(_LOG):
        with open(path, "a", encoding="utf-8") as log:  # noqa: PTH123 - nothing more is loaded for it
            log.write(f"{_name}\n")
    os.kill(os.getpid(), signal.SIGKILL)
