"""Failpoints: named places in the code where a test can make the process kill itself (SIGKILL)."""

import os
import signal
from typing import Final

_POINT: Final = "GATEWAY_FAILPOINT"
"""`<name>`, or `<name>:<nth>` for the nth time that the failpoint is reached."""
_LOG: Final = "GATEWAY_FAILPOINT_LOG"
"""A file to which the name is appended before the process kills itself."""

FAILPOINT_VARIABLES: Final = frozenset({_POINT, _LOG})

_name, _, _nth = os.environ.get(_POINT, "").partition(":")
_left = int(_nth) if _nth.isdigit() else 1


def hit(name: str) -> None:
    """The failpoint `name`. If the environment names it, the process kills itself here."""
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
