"""Names and positions of places, for connectors and their mocks."""

import math
import unicodedata
from typing import Final

_WITHOUT_ACCENT: Final = str.maketrans(
    {"ø": "o", "ł": "l", "đ": "d", "\u0131": "i", "ß": "ss", "æ": "ae", "œ": "oe", "ð": "d"}
    | {"Ø": "O", "Ł": "L", "Đ": "D", "Æ": "AE", "Œ": "OE", "Ð": "D", "þ": "th", "Þ": "TH"}
    | {"\u2019": "'"}
)
"""Letters that Unicode does not decompose into an ASCII letter and an accent."""


def without_accents(text: str) -> str:
    """`text` with ASCII letters, so that a search for Zurich finds Zürich and the reverse.

    Characters without an ASCII equivalent stay.
    """
    plain = unicodedata.normalize("NFKD", text.translate(_WITHOUT_ACCENT))
    return "".join(char for char in plain if not unicodedata.combining(char))


def angle(start: tuple[float, float], end: tuple[float, float]) -> float:
    """The angle between two positions along the great circle, in radians (haversine formula).

    A position is a latitude and a longitude in degrees, north and east positive.
    """
    (lat_a, lon_a), (lat_b, lon_b) = start, end
    north, east = math.radians(lat_b) - math.radians(lat_a), math.radians(lon_b - lon_a)
    both = math.cos(math.radians(lat_a)) * math.cos(math.radians(lat_b))
    chord = math.sin(north / 2) ** 2 + both * math.sin(east / 2) ** 2
    return 2 * math.asin(math.sqrt(min(chord, 1.0)))
