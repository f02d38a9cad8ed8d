"""The airports of the Avinode mock: real codes, positions to about a minute of arc."""

import math
from collections.abc import Mapping
from typing import Final

from msgspec import Struct

from gateway.connectors.folding import without_accents

_EARTH_RADIUS_NM: Final = 3440.1


class Airport(Struct, frozen=True):
    """An airport; coordinates in degrees, north and east positive."""

    icao: str
    iata: str | None
    name: str
    city: str
    country: str
    latitude: float
    longitude: float


AIRPORTS: Final[Mapping[str, Airport]] = {
    airport.icao: airport
    for airport in (
        Airport("KTEB", "TEB", "Teterboro", "Teterboro", "US", 40.8501, -74.0608),
        Airport("KVNY", "VNY", "Van Nuys", "Los Angeles", "US", 34.2098, -118.4900),
        Airport("KOPF", "OPF", "Miami-Opa Locka Executive", "Miami", "US", 25.9070, -80.2784),
        Airport("KHPN", "HPN", "Westchester County", "White Plains", "US", 41.0670, -73.7076),
        Airport(
            "KJFK", "JFK", "John F. Kennedy International", "New York", "US", 40.6398, -73.7789
        ),
        Airport("KLGA", "LGA", "LaGuardia", "New York", "US", 40.7772, -73.8726),
        Airport("KEWR", "EWR", "Newark Liberty International", "Newark", "US", 40.6925, -74.1687),
        Airport("KBOS", "BOS", "Logan International", "Boston", "US", 42.3643, -71.0052),
        Airport("KBED", "BED", "Hanscom Field", "Bedford", "US", 42.4700, -71.2890),
        Airport(
            "KIAD", "IAD", "Washington Dulles International", "Dulles", "US", 38.9445, -77.4558
        ),
        Airport(
            "KPBI", "PBI", "Palm Beach International", "West Palm Beach", "US", 26.683, -80.096
        ),
        Airport(
            "KFLL", "FLL", "Fort Lauderdale-Hollywood", "Fort Lauderdale", "US", 26.073, -80.153
        ),
        Airport("KMIA", "MIA", "Miami International", "Miami", "US", 25.7932, -80.2906),
        Airport("KAPF", "APF", "Naples Municipal", "Naples", "US", 26.1526, -81.7753),
        Airport("KATL", "ATL", "Hartsfield-Jackson", "Atlanta", "US", 33.6367, -84.4281),
        Airport("KPDK", "PDK", "DeKalb-Peachtree", "Atlanta", "US", 33.8756, -84.3020),
        Airport("KORD", "ORD", "O'Hare International", "Chicago", "US", 41.9786, -87.9048),
        Airport("KMDW", "MDW", "Midway International", "Chicago", "US", 41.7860, -87.7524),
        Airport("KPWK", "PWK", "Chicago Executive", "Chicago", "US", 42.1142, -87.9015),
        Airport("KDAL", "DAL", "Love Field", "Dallas", "US", 32.8471, -96.8518),
        Airport("KHOU", "HOU", "William P. Hobby", "Houston", "US", 29.6454, -95.2789),
        Airport("KAUS", "AUS", "Austin-Bergstrom", "Austin", "US", 30.1945, -97.6699),
        Airport("KDEN", "DEN", "Denver International", "Denver", "US", 39.8617, -104.6731),
        Airport("KAPA", "APA", "Centennial", "Denver", "US", 39.5701, -104.8493),
        Airport("KASE", "ASE", "Aspen-Pitkin County", "Aspen", "US", 39.2232, -106.8688),
        Airport("KLAS", "LAS", "Harry Reid International", "Las Vegas", "US", 36.0801, -115.1523),
        Airport("KSDL", "SCF", "Scottsdale", "Scottsdale", "US", 33.6229, -111.9105),
        Airport(
            "KLAX", "LAX", "Los Angeles International", "Los Angeles", "US", 33.9425, -118.4081
        ),
        Airport("KBUR", "BUR", "Bob Hope", "Burbank", "US", 34.2007, -118.3587),
        Airport(
            "KSFO", "SFO", "San Francisco International", "San Francisco", "US", 37.619, -122.375
        ),
        Airport("KSJC", "SJC", "Norman Y. Mineta", "San Jose", "US", 37.3626, -121.9291),
        Airport("KBFI", "BFI", "Boeing Field", "Seattle", "US", 47.5300, -122.3019),
        Airport("CYYZ", "YYZ", "Toronto Pearson", "Toronto", "CA", 43.6772, -79.6306),
        Airport("CYUL", "YUL", "Montreal-Trudeau", "Montreal", "CA", 45.4706, -73.7408),
        Airport("MYNN", "NAS", "Lynden Pindling", "Nassau", "BS", 25.0390, -77.4662),
        Airport("MMMX", "MEX", "Benito Juarez", "Mexico City", "MX", 19.4363, -99.0721),
        Airport("SBGR", "GRU", "Guarulhos", "Sao Paulo", "BR", -23.4356, -46.4731),
        Airport("EGGW", "LTN", "London Luton", "London", "GB", 51.8747, -0.3683),
        Airport("EGLF", "FAB", "Farnborough", "London", "GB", 51.2758, -0.7763),
        Airport("EGKB", "BQH", "London Biggin Hill", "London", "GB", 51.3308, 0.0325),
        Airport("EGLL", "LHR", "London Heathrow", "London", "GB", 51.4706, -0.4619),
        Airport("EIDW", "DUB", "Dublin", "Dublin", "IE", 53.4213, -6.2701),
        Airport("LFPB", "LBG", "Paris-Le Bourget", "Paris", "FR", 48.9694, 2.4414),
        Airport("LFMN", "NCE", "Nice Cote d'Azur", "Nice", "FR", 43.6584, 7.2159),
        Airport("LSGG", "GVA", "Geneva", "Geneva", "CH", 46.2381, 6.1090),
        Airport("LSZH", "ZRH", "Zurich", "Zurich", "CH", 47.4647, 8.5492),
        Airport("EDDM", "MUC", "Munich", "Munich", "DE", 48.3538, 11.7861),
        Airport("EDDB", "BER", "Berlin Brandenburg", "Berlin", "DE", 52.3514, 13.4939),
        Airport("LOWW", "VIE", "Vienna", "Vienna", "AT", 48.1103, 16.5697),
        Airport("LIML", "LIN", "Milan Linate", "Milan", "IT", 45.4451, 9.2767),
        Airport("LIRA", "CIA", "Rome Ciampino", "Rome", "IT", 41.7994, 12.5949),
        Airport("LEMD", "MAD", "Madrid-Barajas", "Madrid", "ES", 40.4936, -3.5668),
        Airport("LEIB", "IBZ", "Ibiza", "Ibiza", "ES", 38.8729, 1.3731),
        Airport("EHAM", "AMS", "Amsterdam Schiphol", "Amsterdam", "NL", 52.3086, 4.7639),
        Airport("OMDB", "DXB", "Dubai International", "Dubai", "AE", 25.2528, 55.3644),
        Airport("OMDW", "DWC", "Al Maktoum International", "Dubai", "AE", 24.8964, 55.1614),
        Airport("VHHH", "HKG", "Hong Kong International", "Hong Kong", "HK", 22.3089, 113.9146),
        Airport("WSSL", "XSP", "Seletar", "Singapore", "SG", 1.4170, 103.8680),
        Airport("RJTT", "HND", "Tokyo Haneda", "Tokyo", "JP", 35.5523, 139.7800),
        Airport("YSSY", "SYD", "Sydney Kingsford Smith", "Sydney", "AU", -33.9461, 151.1772),
    )
}


def _texts(airport: Airport) -> tuple[str, ...]:
    """The texts by which an airport is found, its codes first."""
    found = (airport.icao, airport.iata or airport.icao, airport.city, airport.name)
    return tuple(map(_folded, found))


def _folded(text: str) -> str:
    return without_accents(text).casefold()


_TEXTS: Final = tuple(
    (airport, texts, "\n".join(texts))
    for airport, texts in ((airport, _texts(airport)) for airport in AIRPORTS.values())
)


def find_airports(text: str, country: str | None, is_prefix: bool) -> list[Airport]:
    """The airports with `text` in a code, the city or the name; codes and beginnings first.

    Case and accents are ignored.
    """
    wanted = _folded(text.strip())
    ranked = [
        (rank, airport)
        for airport, texts, text_of_all in _TEXTS
        if wanted in text_of_all
        and country in {None, airport.country}
        and (rank := _rank(texts, wanted)) is not None
        and (rank < 2 or not is_prefix)
    ]
    ranked.sort(key=lambda pair: (pair[0], pair[1].icao))
    return [airport for _, airport in ranked]


def _rank(texts: tuple[str, ...], wanted: str) -> int | None:
    """0 for a code, 1 for the beginning of a text, 2 for another part, None for no match."""
    if wanted in texts[:2]:
        return 0
    if any(text.startswith(wanted) for text in texts):
        return 1
    return 2 if any(wanted in text for text in texts) else None


def distance_nm(start: Airport, end: Airport) -> float:
    """The great-circle distance in nautical miles (haversine formula)."""
    latitudes = math.radians(start.latitude), math.radians(end.latitude)
    half_north = (latitudes[1] - latitudes[0]) / 2
    half_east = math.radians(end.longitude - start.longitude) / 2
    chord = math.sin(half_north) ** 2 + math.prod(map(math.cos, latitudes)) * (
        math.sin(half_east) ** 2
    )
    return 2 * _EARTH_RADIUS_NM * math.asin(math.sqrt(min(chord, 1.0)))
