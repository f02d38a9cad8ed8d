"""`gateway` and `python -m gateway`.

This module imports almost nothing, because Ctrl-C prints a traceback until `main` runs.
"""

import gc
import os
import signal
import sys
from types import FrameType
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from gateway.job_policy import WorkPolicy

INTERRUPTED: Final = 130
"""That of `gateway.cli.problems`, which may not be loaded yet."""
YOUNG_OBJECTS: Final = 200_000
"""The garbage collector looks after so many new ones: a start makes many objects and drops few, and
to look through them over and over takes a fifth of it."""


def main(work: "WorkPolicy | None" = None) -> None:
    """Run the command line and leave with its exit code.

    `work`: how a gateway that the command starts processes jobs. None: as in `gateway.job_policy`.
    """
    # Another handler than Python's own is from the parent process: SIGINT is ignored behind `&`.
    is_interruptible = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if is_interruptible:
        # Python's own raises an exception, which some imports print, and others replace.
        signal.signal(signal.SIGINT, _leave)
    code = _run(work, is_interruptible=is_interruptible)
    if is_interruptible:
        signal.signal(signal.SIGINT, _leave)
    sys.exit(code)


def _run(work: "WorkPolicy | None", *, is_interruptible: bool) -> int:
    from gateway.cli.edge import run  # noqa: PLC0415 - `main` first makes it interruptible
    from gateway.cli.streams import prepare  # noqa: PLC0415 - as `run`
    from gateway.job_policy import WORK_POLICY  # noqa: PLC0415 - as `run`

    gc.set_threshold(YOUNG_OBJECTS)
    prepare()
    try:
        if is_interruptible:
            signal.signal(signal.SIGINT, signal.default_int_handler)
        return run(work=work or WORK_POLICY)
    except KeyboardInterrupt:
        return INTERRUPTED


def _leave(_number: int, _frame: FrameType | None) -> None:
    os._exit(INTERRUPTED)


if __name__ == "__main__":
    main()
