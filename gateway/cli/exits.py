"""The exit codes of every command."""

from typing import Final

OK: Final = 0
FINDINGS: Final = 1
"""The command ran and the answer is no: findings, a refused call, something misconfigured."""
CANNOT_RUN: Final = 2
"""Wrong usage, or something that the command needs is missing or broken."""
INTERRUPTED: Final = 130
"""Stopped from the keyboard."""
