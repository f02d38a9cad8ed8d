"""`gateway` and `python -m gateway`."""

import sys

from gateway.cli.edge import run
from gateway.cli.streams import prepare


def main() -> None:
    """Run the command line and leave with its exit code."""
    prepare()
    sys.exit(run())


if __name__ == "__main__":
    main()
