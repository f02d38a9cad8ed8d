"""The cities and airports of the Amadeus mock: real codes, positions to a tenth of a degree."""

from collections.abc import Mapping
from typing import Final

from msgspec import Struct

from gateway.connectors.places import angle

_EARTH_RADIUS_KM: Final = 6371.0


class CityAirport(Struct, frozen=True):
    """An airport; coordinates in degrees, north and east positive."""

    code: str
    name: str
    latitude: float
    longitude: float


class City(Struct, frozen=True):
    """A city with its airports, busiest first."""

    code: str
    name: str
    country: str
    hours: float
    """Offset from UTC in hours, in winter."""
    currency: str
    score: int
    """Traveller score, from 0 to 100."""
    airports: tuple[CityAirport, ...]


COUNTRIES: Final[Mapping[str, tuple[str, str]]] = {
    "AE": ("UNITED ARAB EMIRATES", "MEAST"),
    "AR": ("ARGENTINA", "SAMER"),
    "AT": ("AUSTRIA", "EUROP"),
    "AU": ("AUSTRALIA", "SPACI"),
    "BE": ("BELGIUM", "EUROP"),
    "BR": ("BRAZIL", "SAMER"),
    "CA": ("CANADA", "NAMER"),
    "CH": ("SWITZERLAND", "EUROP"),
    "CN": ("CHINA", "ASIA"),
    "CZ": ("CZECH REPUBLIC", "EUROP"),
    "DE": ("GERMANY", "EUROP"),
    "DK": ("DENMARK", "EUROP"),
    "ES": ("SPAIN", "EUROP"),
    "FR": ("FRANCE", "EUROP"),
    "GB": ("UNITED KINGDOM", "EUROP"),
    "HK": ("HONG KONG", "ASIA"),
    "IE": ("IRELAND", "EUROP"),
    "IN": ("INDIA", "ASIA"),
    "IT": ("ITALY", "EUROP"),
    "JP": ("JAPAN", "ASIA"),
    "KE": ("KENYA", "AFRIC"),
    "KR": ("SOUTH KOREA", "ASIA"),
    "MX": ("MEXICO", "NAMER"),
    "NL": ("NETHERLANDS", "EUROP"),
    "NO": ("NORWAY", "EUROP"),
    "PL": ("POLAND", "EUROP"),
    "PT": ("PORTUGAL", "EUROP"),
    "QA": ("QATAR", "MEAST"),
    "SE": ("SWEDEN", "EUROP"),
    "SG": ("SINGAPORE", "ASIA"),
    "TH": ("THAILAND", "ASIA"),
    "TR": ("TURKIYE", "EUROP"),
    "US": ("UNITED STATES OF AMERICA", "NAMER"),
    "ZA": ("SOUTH AFRICA", "AFRIC"),
}
"""Name and region by ISO 3166-1 alpha-2 code."""


def _city(place: str, currency: str, hours: float, score: int, *airports: str) -> City:
    """`place` is `NYC US NEW YORK`; an airport is `JFK 40.6 -73.8 JOHN F KENNEDY INTL`."""
    code, country, name = place.split(" ", 2)
    rows = (airport.split(" ", 3) for airport in airports)
    return City(
        code,
        name,
        country,
        hours,
        currency,
        score,
        tuple(CityAirport(row[0], row[3], float(row[1]), float(row[2])) for row in rows),
    )


CITIES: Final[Mapping[str, City]] = {
    city.code: city
    for city in (
        _city(
            "NYC US NEW YORK",
            "USD",
            -5,
            97,
            "JFK 40.6 -73.8 JOHN F KENNEDY INTL",
            "EWR 40.7 -74.2 NEWARK LIBERTY INTL",
            "LGA 40.8 -73.9 LAGUARDIA",
        ),
        _city(
            "LON GB LONDON",
            "GBP",
            0,
            99,
            "LHR 51.5 -0.5 HEATHROW",
            "LGW 51.1 -0.2 GATWICK",
            "STN 51.9 0.2 STANSTED",
            "LCY 51.5 0.1 CITY",
        ),
        _city(
            "PAR FR PARIS",
            "EUR",
            1,
            95,
            "CDG 49.0 2.6 CHARLES DE GAULLE",
            "ORY 48.7 2.4 ORLY",
        ),
        _city(
            "TYO JP TOKYO",
            "JPY",
            9,
            93,
            "HND 35.6 139.8 HANEDA",
            "NRT 35.8 140.4 NARITA",
        ),
        _city(
            "CHI US CHICAGO",
            "USD",
            -6,
            84,
            "ORD 42.0 -87.9 O'HARE INTERNATIONAL",
            "MDW 41.8 -87.8 MIDWAY INTERNATIONAL",
        ),
        _city(
            "WAS US WASHINGTON",
            "USD",
            -5,
            78,
            "IAD 38.9 -77.5 DULLES INTL",
            "DCA 38.9 -77.0 RONALD REAGAN NATIONAL",
        ),
        _city(
            "MIL IT MILAN",
            "EUR",
            1,
            70,
            "MXP 45.6 8.7 MALPENSA",
            "LIN 45.4 9.3 LINATE",
        ),
        _city(
            "ROM IT ROME",
            "EUR",
            1,
            72,
            "FCO 41.8 12.2 FIUMICINO",
            "CIA 41.8 12.6 CIAMPINO",
        ),
        _city(
            "SAO BR SAO PAULO",
            "BRL",
            -3,
            74,
            "GRU -23.4 -46.5 GUARULHOS INTL",
            "CGH -23.6 -46.7 CONGONHAS",
        ),
        _city(
            "BJS CN BEIJING",
            "CNY",
            8,
            82,
            "PEK 40.1 116.6 CAPITAL INTL",
            "PKX 39.5 116.4 DAXING INTL",
        ),
        _city(
            "IST TR ISTANBUL",
            "TRY",
            3,
            83,
            "IST 41.3 28.7 ISTANBUL AIRPORT",
            "SAW 40.9 29.3 SABIHA GOKCEN",
        ),
        _city("SEL KR SEOUL", "KRW", 9, 85, "ICN 37.5 126.4 INCHEON INTL"),
        _city("YTO CA TORONTO", "CAD", -5, 76, "YYZ 43.7 -79.6 LESTER B PEARSON INTL"),
        _city("YVR CA VANCOUVER", "CAD", -8, 60, "YVR 49.2 -123.2 VANCOUVER INTL"),
        _city("LAX US LOS ANGELES", "USD", -8, 90, "LAX 33.9 -118.4 LOS ANGELES INTL"),
        _city("SFO US SAN FRANCISCO", "USD", -8, 80, "SFO 37.6 -122.4 SAN FRANCISCO INTL"),
        _city("SJC US SAN JOSE", "USD", -8, 40, "SJC 37.4 -121.9 NORMAN Y MINETA INTL"),
        _city("SEA US SEATTLE", "USD", -8, 68, "SEA 47.4 -122.3 TACOMA INTERNATIONAL"),
        _city("MIA US MIAMI", "USD", -5, 75, "MIA 25.8 -80.3 MIAMI INTL"),
        _city("BOS US BOSTON", "USD", -5, 71, "BOS 42.4 -71.0 EDWARD L LOGAN INTL"),
        _city("YXU CA LONDON", "CAD", -5, 8, "YXU 43.0 -81.2 LONDON INTL"),
        _city("MEX MX MEXICO CITY", "MXN", -6, 77, "MEX 19.4 -99.1 BENITO JUAREZ INTL"),
        _city("BUE AR BUENOS AIRES", "USD", -3, 66, "EZE -34.8 -58.5 MINISTRO PISTARINI"),
        _city("MAD ES MADRID", "EUR", 1, 79, "MAD 40.5 -3.6 ADOLFO SUAREZ BARAJAS"),
        _city("BCN ES BARCELONA", "EUR", 1, 73, "BCN 41.3 2.1 EL PRAT"),
        _city("LIS PT LISBON", "EUR", 0, 67, "LIS 38.8 -9.1 AIRPORT"),
        _city("DUB IE DUBLIN", "EUR", 0, 65, "DUB 53.4 -6.3 DUBLIN INTL"),
        _city("AMS NL AMSTERDAM", "EUR", 1, 81, "AMS 52.3 4.8 SCHIPHOL"),
        _city("BRU BE BRUSSELS", "EUR", 1, 55, "BRU 50.9 4.5 BRUSSELS AIRPORT"),
        _city("FRA DE FRANKFURT", "EUR", 1, 82, "FRA 50.0 8.6 FRANKFURT INTL"),
        _city("MUC DE MUNICH", "EUR", 1, 72, "MUC 48.4 11.8 MUNICH INTERNATIONAL"),
        _city("BER DE BERLIN", "EUR", 1, 64, "BER 52.4 13.5 BRANDENBURG"),
        _city("ZRH CH ZURICH", "CHF", 1, 69, "ZRH 47.5 8.5 ZURICH AIRPORT"),
        _city("VIE AT VIENNA", "EUR", 1, 58, "VIE 48.1 16.6 VIENNA INTL"),
        _city("PRG CZ PRAGUE", "CZK", 1, 52, "PRG 50.1 14.3 VACLAV HAVEL"),
        _city("WAW PL WARSAW", "PLN", 1, 53, "WAW 52.2 21.0 FREDERIC CHOPIN"),
        _city("CPH DK COPENHAGEN", "DKK", 1, 63, "CPH 55.6 12.7 KASTRUP"),
        _city("STO SE STOCKHOLM", "SEK", 1, 57, "ARN 59.7 17.9 ARLANDA"),
        _city("OSL NO OSLO", "NOK", 1, 56, "OSL 60.2 11.1 GARDERMOEN"),
        _city("DXB AE DUBAI", "AED", 4, 91, "DXB 25.3 55.4 DUBAI INTL"),
        _city("DOH QA DOHA", "QAR", 3, 78, "DOH 25.3 51.6 HAMAD INTERNATIONAL"),
        _city("NBO KE NAIROBI", "KES", 3, 45, "NBO -1.3 36.9 JOMO KENYATTA INTL"),
        _city("JNB ZA JOHANNESBURG", "ZAR", 2, 54, "JNB -26.1 28.2 O R TAMBO INTL"),
        _city("DEL IN DELHI", "INR", 5.5, 86, "DEL 28.6 77.1 INDIRA GANDHI INTL"),
        _city("BKK TH BANGKOK", "THB", 7, 84, "BKK 13.7 100.7 SUVARNABHUMI INTL"),
        _city("SIN SG SINGAPORE", "SGD", 8, 87, "SIN 1.4 104.0 CHANGI"),
        _city("HKG HK HONG KONG", "HKD", 8, 85, "HKG 22.3 113.9 INTL"),
        _city("SYD AU SYDNEY", "AUD", 10, 76, "SYD -33.9 151.2 KINGSFORD SMITH"),
    )
}

CITY_OF: Final[Mapping[str, City]] = {
    airport.code: city for city in CITIES.values() for airport in city.airports
}
"""By the code of an airport."""
AIRPORTS: Final[Mapping[str, CityAirport]] = {
    airport.code: airport for city in CITIES.values() for airport in city.airports
}


def city_at(code: str) -> City | None:
    """The city that a code of a city or of an airport means."""
    return CITIES.get(code) or CITY_OF.get(code)


def airports_at(code: str) -> tuple[CityAirport, ...]:
    """The airports that a code means: all of a city, or the one of that code."""
    if code in CITIES:
        return CITIES[code].airports
    return (AIRPORTS[code],) if code in AIRPORTS else ()


def distance_km(start: CityAirport, end: CityAirport) -> float:
    """Along the great circle."""
    places = ((each.latitude, each.longitude) for each in (start, end))
    return _EARTH_RADIUS_KM * angle(*places)
