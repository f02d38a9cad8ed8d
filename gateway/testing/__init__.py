"""The contract suite: one engine behind `gateway verify`, `gateway test` and the pytest plug-in."""

from typing import Final

ALL_OPTION: Final = "--gateway-all"
SEED_OPTION: Final = "--gateway-seed"
BUDGET_OPTION: Final = "--gateway-budget"
REPORT_OPTION: Final = "--gateway-report"
PER_DOCUMENT: Final = 8
"""How many operations of each imported document, and how many links, are tested if not all are."""
