"""`gateway` and `python -m gateway`."""

import gc
import sys
from typing import Final

from gateway.cli.edge import run
from gateway.cli.streams import prepare
from gateway.job_policy import WORK_POLICY, WorkPolicy

YOUNG_OBJECTS: Final = 200_000
"""The garbage collector looks after so many new ones: a start makes many objects and drops few, and
to look through them over and over takes a fifth of it."""


def main(work: WorkPolicy = WORK_POLICY) -> None:
    """Run the command line and leave with its exit code.

    `work`: how a gateway that the command starts processes jobs.
    """
    gc.set_threshold(YOUNG_OBJECTS)
    prepare()
    sys.exit(run(work=work))


if __name__ == "__main__":
    main()
