"""The exit codes of every command."""

from typing import Final

OK: Final = 0
FINDINGS: Final = 1
"""The command ran, with a negative result: findings, a refused call, a wrong configuration."""
CANNOT_RUN: Final = 2
"""Wrong usage, or a missing or broken requirement of the command."""
INTERRUPTED: Final = 130
"""Interrupted from the keyboard."""
