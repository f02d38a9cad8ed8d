"""The market of the Avinode mock: airports, operators, aircraft, prices and days.

Airports have real codes, and positions to about a minute of arc.
"""

from collections.abc import Mapping
from datetime import date, datetime, timedelta
from typing import Any, Final

from msgspec import Struct

from gateway.connectors.places import angle, without_accents
from gateway.contract.mock import MockRequest

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
    """The great-circle distance in nautical miles."""
    places = ((each.latitude, each.longitude) for each in (start, end))
    return _EARTH_RADIUS_NM * angle(*places)


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


_FAMILIES: Final[Mapping[str, frozenset[str]]] = {
    "Light jet": frozenset({"Light jet", "Super light jet", "Entry level jet (VLJ)"}),
    "Midsize jet": frozenset({"Midsize jet", "Super midsize jet"}),
}
_CLASSES: Final[Mapping[str, frozenset[str]]] = {
    "light-jet": _FAMILIES["Light jet"],
    "mid-jet": _FAMILIES["Midsize jet"],
    "heavy-jet": frozenset({"Heavy jet"}),
    "ultra-long-range-jet": frozenset({"Ultra long range"}),
}
_LANDING_FEE_USD: Final = 1500
_MAX_DAYS: Final = 31
_AMENITIES: Final = (("refreshments", 0), ("wifi", 7), ("lavatory", 8), ("galley", 10), ("bed", 13))
_EMPTY_LEG_CHANCE: Final = 0.3
_ON_REQUEST_CHANCE: Final = 0.2


def seller_company(company: str) -> dict[str, Any]:
    """An operator as in replies."""
    operator = OPERATORS[company]
    return {
        "id": operator.id,
        "displayName": operator.name,
        "rating": operator.rating,
        "safetyRating": operator.safety_rating,
    }


def airports(text: str, country: str | None, is_prefix: bool) -> list[dict[str, Any]]:
    """The airports that match, as in replies."""
    return [_shown_airport(airport) for airport in find_airports(text, country, is_prefix)]


def charter_options(request: MockRequest, segment: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The aircraft that can fly the segment and meet the criteria, cheapest first."""
    criteria = request.body.get("criteria", {})
    day = segment["dateTime"]["date"]
    distance = _distance(request, segment)
    options = [
        _option(request, aircraft, day, _price(request, aircraft, distance, day))
        for aircraft in FLEET
        if aircraft.seats >= int(segment["paxCount"])
        and aircraft.range_nm >= distance
        and _meets(aircraft, criteria)
    ]
    cap = criteria.get("maximumPrice")
    options = [each for each in options if cap is None or each["price"]["amount"] <= cap]
    return sorted(options, key=lambda option: (option["price"]["amount"], option["id"]))


def empty_legs(request: MockRequest) -> list[dict[str, Any]]:
    """The empty legs between two airports in a range of dates, cheapest first."""
    body = request.body
    distance, days = _distance(request, body), _days(body["dateRange"])
    legs = [
        leg
        for aircraft in FLEET
        if days and aircraft.seats >= int(body["paxCount"]) and aircraft.range_nm >= distance
        for leg in _empty_leg(request, aircraft, distance, days)
    ]
    cap = body.get("maximumPrice")
    legs = [each for each in legs if cap is None or each["price"]["amount"] <= cap]
    return sorted(legs, key=lambda leg: (leg["price"]["amount"], leg["id"]))


def segment_passengers(request: MockRequest) -> int:
    """The number of passengers on the first segment."""
    return int(request.body["segments"][0]["paxCount"])


def has_seats(company: str, passengers: int) -> bool:
    """Whether an operator has an aircraft with enough seats."""
    return any(each.operator == company and each.seats >= passengers for each in FLEET)


def quoted_aircraft(request: MockRequest, company: str) -> tuple[Aircraft, int]:
    """The aircraft that an operator with `has_seats` offers, and its price before fees."""
    segment = request.body["segments"][0]
    distance = _distance(request, segment)
    passengers = segment_passengers(request)
    fit = [each for each in FLEET if each.operator == company and each.seats >= passengers]
    aircraft = min(fit, key=lambda each: (each.range_nm < distance, each.hourly_usd))
    return aircraft, _price(request, aircraft, distance, segment["dateTime"]["date"])


def flight_minutes(request: MockRequest, aircraft: Aircraft) -> int:
    """From departure to arrival of the first leg, with climb and approach."""
    distance = _distance(request, request.body["segments"][0])
    return max(round(60 * _hours(aircraft, distance)), 1)


def amenities_of(aircraft: Aircraft) -> list[str]:
    """The amenities on board. Larger aircraft have more."""
    return [name for name, seats in _AMENITIES if aircraft.seats >= seats]


def _shown_airport(airport: Airport) -> dict[str, Any]:
    return {
        "id": airport.icao,
        "type": "airports",
        "icao": airport.icao,
        "iata": airport.iata,
        "name": airport.name,
        "city": airport.city,
        "country": {"code": airport.country},
        "coordinates": {"latitude": airport.latitude, "longitude": airport.longitude},
    }


def _distance(request: MockRequest, ends: Mapping[str, Any]) -> float:
    """Nautical miles. For an unknown airport, the distance is made up but always the same."""
    codes = ends["startAirport"]["icao"], ends["endAirport"]["icao"]
    start, end = (AIRPORTS.get(code) for code in codes)
    if start is None or end is None:
        return 200 + 2300 * request.fraction("distance", *sorted(codes))
    return distance_nm(start, end)


def _meets(aircraft: Aircraft, criteria: Mapping[str, Any]) -> bool:
    category = criteria.get("aircraftCategory", aircraft.category)
    family = _FAMILIES.get(category, frozenset({category}))
    types = [text.casefold() for text in criteria.get("aircraftTypes", ())]
    is_wanted = not types or any(
        text == aircraft.type.casefold() or aircraft.category in _CLASSES.get(text, ())
        for text in types
    )
    rating = OPERATORS[aircraft.operator].rating
    return (
        aircraft.category in family
        and is_wanted
        and rating >= criteria.get("minimumSellerRating", 0)
    )


def _hours(aircraft: Aircraft, distance: float) -> float:
    return distance / aircraft.speed_kts + 0.4


def _price(request: MockRequest, aircraft: Aircraft, distance: float, day: str) -> int:
    """US dollars, rounded to fifty. The price varies by up to a tenth from day to day."""
    hours = max(_hours(aircraft, distance), 1.0)
    market = 0.9 + 0.2 * request.fraction("price", aircraft.id, day)
    return 50 * round((hours * aircraft.hourly_usd * market + _LANDING_FEE_USD) / 50)


def _option(request: MockRequest, aircraft: Aircraft, day: str, price: int) -> dict[str, Any]:
    is_asked = request.fraction("free", aircraft.id, day) < _ON_REQUEST_CHANCE
    return {
        **_lift(aircraft),
        "type": "lifts",
        "rangeNauticalMiles": aircraft.range_nm,
        "cruiseSpeedKnots": aircraft.speed_kts,
        "sellerCompany": seller_company(aircraft.operator),
        "availability": "ON_REQUEST" if is_asked else "AVAILABLE",
        "price": {"amount": price, "currency": "USD"},
    }


def _lift(aircraft: Aircraft) -> dict[str, Any]:
    return {
        "id": aircraft.id,
        "aircraftType": {"name": aircraft.type},
        "aircraftCategory": {"name": aircraft.category},
        "maximumPassengers": aircraft.seats,
    }


def _days(period: Mapping[str, str]) -> list[date]:
    """The days of a range, at most `_MAX_DAYS`; empty for a year outside the range of `date`."""
    try:
        first, last = (date.fromisoformat(period[end]) for end in ("from", "to"))
    except ValueError:
        return []
    count = min((last - first).days + 1, _MAX_DAYS)
    return [first + timedelta(days=offset) for offset in range(count)]


def _empty_leg(
    request: MockRequest, aircraft: Aircraft, distance: float, days: list[date]
) -> list[dict[str, Any]]:
    """The first day in the range on which the aircraft flies this leg empty, if there is one.

    A leg that can depart no more is not offered.
    """
    codes = request.body["startAirport"]["icao"], request.body["endAirport"]["icao"]
    for day in days:
        salt = ("empty", aircraft.id, *codes, day.isoformat())
        if request.fraction(*salt) < _EMPTY_LEG_CHANCE:
            chance = request.random(*salt)
            discount, hour = chance.randrange(25, 75, 5), chance.randrange(6, 15)
            latest = f"{day.isoformat()}T{hour + 6:02d}:00:00.000Z"
            if datetime.fromisoformat(latest) <= request.now:
                continue
            usual = _price(request, aircraft, distance, day.isoformat())
            return [
                {
                    "id": f"EL-{aircraft.id}-{day.isoformat()}",
                    "lift": _lift(aircraft),
                    "sellerCompany": seller_company(aircraft.operator),
                    "earliestDeparture": f"{day.isoformat()}T{hour:02d}:00:00.000Z",
                    "latestDeparture": latest,
                    "price": {"amount": round(usual * (100 - discount) / 100), "currency": "USD"},
                    "discountPercent": discount,
                }
            ]
    return []
