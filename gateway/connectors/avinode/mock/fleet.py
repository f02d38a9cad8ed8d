"""The operators and aircraft of the Avinode mock. All companies are invented."""

from collections.abc import Mapping
from typing import Final

from msgspec import Struct


class CharterOperator(Struct, frozen=True):
    """A company that operates charter flights."""

    id: str
    name: str
    rating: float
    safety_rating: str
    currency: str = "USD"
    """The currency of its quotes."""


class Aircraft(Struct, frozen=True):
    """An aircraft on the market."""

    id: str
    type: str
    category: str
    """Avinode's name of the category."""
    seats: int
    range_nm: int
    speed_kts: int
    hourly_usd: int
    operator: str


OPERATORS: Final[Mapping[str, CharterOperator]] = {
    operator.id: operator
    for operator in (
        CharterOperator("OP-001", "Executive Jet Management", 4.8, "ARGUS Gold"),
        CharterOperator("OP-002", "Summit Air Charter", 4.6, "ARGUS Platinum"),
        CharterOperator("OP-003", "Bluewing Charter", 4.6, "ARGUS Gold"),
        CharterOperator("OP-004", "Harbor Aviation", 4.3, "Wyvern Wingman"),
        CharterOperator("OP-005", "Meridian Global Jets", 4.9, "ARGUS Platinum"),
        CharterOperator("OP-006", "Prairie Sky", 4.1, "ARGUS Gold"),
        CharterOperator("OP-007", "Coastline Executive", 3.9, "Wyvern Registered"),
        CharterOperator("OP-008", "Alpenwind Aviation", 4.7, "IS-BAO Stage 3", "EUR"),
    )
}

# The ids AC-001 to AC-005 must stay: existing clients of this mock use them.
FLEET: Final = (
    Aircraft("AC-001", "Citation X", "Midsize jet", 8, 3242, 604, 6200, "OP-001"),
    Aircraft("AC-002", "Gulfstream G550", "Heavy jet", 14, 6750, 488, 9800, "OP-002"),
    Aircraft("AC-003", "Challenger 350", "Super midsize jet", 9, 3200, 470, 6900, "OP-004"),
    Aircraft("AC-004", "Phenom 300", "Light jet", 7, 2010, 453, 3900, "OP-003"),
    Aircraft("AC-005", "Global 7500", "Ultra long range", 17, 7700, 516, 13900, "OP-005"),
    Aircraft("AC-006", "Citation CJ3+", "Light jet", 7, 2040, 416, 3600, "OP-006"),
    Aircraft("AC-007", "Learjet 75", "Super light jet", 8, 2040, 464, 4400, "OP-007"),
    Aircraft("AC-008", "Hawker 800XP", "Midsize jet", 8, 2540, 447, 4800, "OP-006"),
    Aircraft("AC-009", "Citation Latitude", "Midsize jet", 9, 2700, 446, 5400, "OP-003"),
    Aircraft("AC-010", "Praetor 600", "Super midsize jet", 9, 4018, 466, 7100, "OP-005"),
    Aircraft("AC-011", "Gulfstream G280", "Super midsize jet", 10, 3600, 482, 7000, "OP-001"),
    Aircraft("AC-012", "Falcon 2000LXS", "Heavy jet", 10, 4000, 482, 7900, "OP-008"),
    Aircraft("AC-013", "Challenger 650", "Heavy jet", 12, 4000, 470, 8200, "OP-004"),
    Aircraft("AC-014", "Legacy 600", "Heavy jet", 13, 3400, 455, 7800, "OP-007"),
    Aircraft("AC-015", "Falcon 8X", "Ultra long range", 14, 6450, 488, 10900, "OP-008"),
    Aircraft("AC-016", "Gulfstream G650ER", "Ultra long range", 19, 7500, 516, 12900, "OP-002"),
    Aircraft("AC-017", "Phenom 100", "Entry level jet (VLJ)", 4, 1178, 390, 2700, "OP-003"),
    Aircraft("AC-018", "Pilatus PC-12", "Turbo prop", 8, 1803, 290, 2300, "OP-006"),
    Aircraft("AC-019", "Global 6000", "Ultra long range", 16, 6000, 499, 10500, "OP-001"),
    Aircraft("AC-020", "King Air 350", "Turbo prop", 9, 1806, 312, 2500, "OP-004"),
)
