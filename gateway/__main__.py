"""`gateway` and `python -m gateway`."""

import sys

from gateway.cli.edge import run


def main() -> None:
    """Run the command line and leave with its exit code."""
    sys.exit(run())


if __name__ == "__main__":
    main()
