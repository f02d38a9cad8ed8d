"""Commands in this process, beside those that run as programs."""

from tests.unit.cli.conftest import cli
from tests.unit.conftest import own_log

__all__ = ("cli", "own_log")
