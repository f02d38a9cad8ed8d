"""How many tokens a model reads: an estimate that needs no vocabulary and no network."""

from typing import Final

BYTES_PER_TOKEN: Final = 4
"""Bytes of UTF-8 for one token. Of lists of tools, real tokenizers make 5 % more to 16 % fewer;
docs/contributing/reports/imports.md has the figures."""


def estimated_tokens(size: int) -> int:
    """The tokens of a text of `size` bytes, rounded up."""
    return -(-size // BYTES_PER_TOKEN)
