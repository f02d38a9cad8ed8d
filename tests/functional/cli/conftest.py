"""Commands in this process, beside those that run as programs."""

from tests.unit.cli.conftest import cli

__all__ = ("cli",)
