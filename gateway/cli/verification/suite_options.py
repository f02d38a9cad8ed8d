"""The options of the contract suite. They apply to imported operations."""

from typing import Final

ALL_OPTION: Final = "--gateway-all"
SEED_OPTION: Final = "--gateway-seed"
PER_DOCUMENT: Final = 8
"""How many operations of each document, and how many links, are tested without `ALL_OPTION`."""
