"""Amadeus Self-Service, Frankfurter v1, OpenWeather and ntfy, by their documents and sources."""

from typing import Any

from tests.fakes.wire import Answer, Asked, Fake


def amadeus_error(status: int, code: int, title: str, **source: str) -> Answer:
    facts = {"status": status, "code": code, "title": title, "detail": f"{title}."}
    return Answer(status, {"errors": [facts | ({"source": source} if source else {})]})


class AmadeusFake(Fake):
    """The test environment."""

    kind = "application/vnd.amadeus+json"

    def answer(self, asked: Asked) -> Answer:
        if asked.path == "/v1/security/oauth2/token":
            self.require(asked.form["grant_type"] == "client_credentials", "grant_type")
            token = {"type": "amadeusOAuth2Token", "access_token": "t-1", "expires_in": 1799}
            return Answer(200, token | {"token_type": "Bearer", "state": "approved", "scope": ""})
        self.require(asked.headers.get("authorization") == "Bearer t-1", "the access token")
        given = asked.parameters
        match asked.path:
            case "/v1/reference-data/locations":
                self.require(set(given["subType"].split(",")) <= {"AIRPORT", "CITY"}, "subType")
                self.require(given["keyword"], "keyword")
                return Answer(200, {"meta": {"count": 1}, "data": [LOCATION]})
            case "/v2/shopping/flight-offers":
                needed = {"originLocationCode", "destinationLocationCode", "departureDate"}
                self.require(needed | {"adults"} <= given.keys(), "parameters of flight-offers")
                self.require(int(given.get("max", "250")) <= 250, "max")
                return Answer(200, OFFERS)
            case "/v1/reference-data/locations/hotels/by-city":
                self.require(len(given["cityCode"]) == 3, "cityCode")
                return Answer(200, {"data": [HOTEL]})
            case "/v3/shopping/hotel-offers":
                ids = given["hotelIds"].split(",")
                self.require(all(len(each) == 8 for each in ids), "hotelIds")
                return Answer(200, {"data": [ROOM]})
        return amadeus_error(404, 38196, "Resource not found")


LOCATION = {
    "type": "location",
    "subType": "CITY",
    "id": "CNYC",
    "name": "NEW YORK",
    "detailedName": "NEW YORK/NY/US",
    "iataCode": "NYC",
    "geoCode": None,
    "address": {"cityName": "NEW YORK", "cityCode": "NYC", "countryCode": "US"},
    "analytics": {"travelers": {"score": 50}},
}
SEGMENT = {
    "departure": {"iataCode": "JFK", "terminal": None, "at": "2027-03-15T18:00:00"},
    "arrival": {"iataCode": "LHR", "at": "2027-03-16T06:00:00"},
    "carrierCode": "BA",
    "number": "178",
    "aircraft": {"code": "777"},
    "operating": None,
    "duration": "PT7H",
    "id": "1",
    "numberOfStops": 0,
    "blacklistedInEU": False,
}
OFFERS = {
    "meta": {"count": 1},
    "data": [
        {
            "type": "flight-offer",
            "id": "1",
            "source": "GDS",
            "instantTicketingRequired": False,
            "lastTicketingDate": None,
            "itineraries": [{"duration": "PT7H", "segments": [SEGMENT]}],
            "price": {"currency": "EUR", "total": "380.00", "base": "300.00", "grandTotal": None},
            "validatingAirlineCodes": ["BA"],
            "travelerPricings": [],
        }
    ],
    "dictionaries": {"carriers": {"BA": "BRITISH AIRWAYS"}, "aircraft": {}},
}
HOTEL = {
    "chainCode": "MC",
    "iataCode": "LON",
    "dupeId": 700,
    "name": "HOTEL ONE",
    "hotelId": "MCLONGHM",
    "geoCode": {"latitude": 51.5, "longitude": -0.1},
    "address": {"countryCode": "GB"},
    "distance": {"value": 0.9, "unit": "KM"},
}
ROOM = {
    "type": "hotel-offers",
    "hotel": {"hotelId": "MCLONGHM", "name": "HOTEL ONE", "cityCode": "LON", "latitude": None},
    "available": True,
    "offers": [{"id": "A", "price": {"currency": "USD", "total": "540.00", "base": None}}],
    "self": "https://test.api.amadeus.com/v3/shopping/hotel-offers?hotelIds=MCLONGHM",
}


class FrankfurterFake(Fake):
    """Version 1."""

    def answer(self, asked: Asked) -> Answer:
        if asked.path != "/v1/latest":
            return Answer(404, {"status": 404, "message": "not found"})
        self.require(set(asked.parameters) <= {"base", "symbols", "amount", "from", "to"}, "names")
        rates = {"USD": 1.08, "GBP": 0.84, "JPY": 165.2}
        return Answer(200, {"amount": 1.0, "base": "EUR", "date": "2026-11-19", "rates": rates})


class WeatherFake(Fake):
    """The free plan."""

    def answer(self, asked: Asked) -> Answer:
        given = asked.parameters
        self.require(given.get("appid"), "appid")
        match asked.path:
            case "/geo/1.0/direct":
                self.require(int(given.get("limit", "1")) <= 5, "limit")
                place = {"name": "Paris", "lat": 48.85, "lon": 2.35, "country": "FR"}
                return Answer(200, [place | {"local_names": {"fr": "Paris"}, "state": None}])
            case "/data/2.5/weather":
                self._place(given)
                return Answer(200, NOW)
            case "/data/2.5/forecast":
                self._place(given)
                return Answer(200, {"cod": "200", "message": 0, "cnt": 1, "list": [LATER]} | CITY)
        return Answer(404, {"cod": "404", "message": "Internal error"})

    def _place(self, given: dict[str, str]) -> None:
        self.require(-90 <= float(given["lat"]) <= 90 and "lon" in given, "lat and lon")
        self.require(given.get("units") in {"standard", "metric", "imperial", None}, "units")


MAIN = {
    "temp": 9.1,
    "feels_like": 7,
    "temp_min": 8,
    "temp_max": 10,
    "pressure": 1012,
    "humidity": 81,
}
SKY = {
    "weather": [{"id": 500, "main": "Rain", "description": "light rain", "icon": "10d"}],
    "clouds": {"all": 90},
    "wind": {"speed": 4.1, "deg": 240, "gust": None},
    "visibility": 10000,
    "dt": 1795183200,
}
NOW = {
    **SKY,
    "coord": {"lon": 2.35, "lat": 48.85},
    "base": "stations",
    "main": MAIN,
    "rain": {"1h": 0.4},
    "snow": None,
    "sys": {"country": "FR", "sunrise": 1795160000, "sunset": 1795190000},
    "timezone": 3600,
    "id": 2988507,
    "name": "Paris",
    "cod": 200,
}
LATER = {**SKY, "main": MAIN, "pop": 0.4, "rain": {"3h": 1.7}, "dt_txt": "2026-11-20 15:00:00"}
CITY: dict[str, Any] = {
    "city": {"id": 1, "name": "Paris", "country": "FR", "timezone": 3600, "sunrise": 1}
}


class NtfyFake(Fake):
    """ntfy.sh."""

    def answer(self, asked: Asked) -> Answer:
        self.require((asked.method, asked.path) == ("POST", "/"), "JSON is published at the root")
        given = asked.json
        self.require(len(given["message"].encode()) <= 4096, "4,096 bytes at most")
        self.require(given.get("priority", 3) in range(1, 6), "priority")
        told = {name: given.get(name) for name in ("topic", "message", "title", "priority")}
        facts = {"id": "hwQ2YpKdmg12", "time": 1795185000, "expires": 1795228200}
        return Answer(200, {**facts, "event": "message", **told})


def ntfy_error(code: int, text: str) -> Answer:
    return Answer(code // 100, {"code": code, "http": code // 100, "error": text, "link": None})
