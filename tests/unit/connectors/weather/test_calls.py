"""The weather tool against the mock of OpenWeatherMap, and that mock over HTTP."""

import asyncio
import json
from itertools import pairwise

import pytest

from gateway.backends.mock.application import MockApplication
from gateway.backends.mock.backend import asgi_app
from gateway.connectors.weather.mock.upstream import BEHAVIOURS, CITIES
from gateway.errors import (
    InvalidReply,
    ToolFailed,
    UpstreamRateLimited,
    UpstreamRefusedCredentials,
    UpstreamUnavailable,
)
from tests.clocks import ManualClock
from tests.eventually import PATIENCE_SECONDS
from tests.unit import shipped
from tests.unit.connectors.tools import ConnectorTools, over_asgi
from tests.unit.tables import each_of

PARIS = {"lat": "48.8589", "lon": "2.32", "units": "metric"}


def weather(*steps, **options):
    return ConnectorTools("weather", *steps, **options)


async def ask(location, tools=None, **arguments):
    return await (tools or weather()).call("get_weather", location=location, **arguments)


@each_of(
    ("location", "names"),
    [
        ("Paris", {"name": "Paris", "state": "Ile-de-France", "country": "FR"}),
        ("paris, us", {"name": "Paris", "state": "Texas", "country": "US"}),
        ("Springfield, MO, US", {"name": "Springfield", "state": "Missouri", "country": "US"}),
        ("Sao Paulo", {"name": "São Paulo", "state": "São Paulo", "country": "BR"}),
        ("Dublin", {"name": "Dublin", "country": "IE"}),
        ("48.85, 2.35", {"name": "Paris", "country": "FR"}),
        ("0,-150", {}),
    ],
)
async def test_the_answer_says_which_place_it_is_of(location, names):
    found = (await ask(location))["location"]
    assert {name: found[name] for name in found if name not in {"latitude", "longitude"}} == names


class SideBySide(ConnectorTools):
    """Answers neither of the two requests before both have been made."""

    def __init__(self, *steps):
        super().__init__(*steps)
        self.both = asyncio.Barrier(2)

    async def on_request(self, request):
        reply = await super().on_request(request)
        if request.operation != "findPlaces":
            await self.both.wait()
        return reply


async def test_a_name_is_looked_up_and_then_both_are_asked_side_by_side():
    tools = SideBySide("weather")
    async with asyncio.timeout(PATIENCE_SECONDS):
        await ask("Paris, FR", tools, units="metric")
    assert tools.asked == ["findPlaces", "readWeather", "readForecast"]
    assert dict(tools.requests[0].query) == {"q": "Paris,FR", "limit": "1"}
    assert dict(tools.requests[1].query) == {"lat": "48.8589", "lon": "2.3200", "units": "metric"}
    assert tools.requests[1].query == tools.requests[2].query


async def test_a_place_is_looked_up_once_and_coordinates_never():
    tools = weather()
    await ask("Oslo", tools)
    await ask("oslo ", tools)
    await ask("Oslo", tools, units="metric")
    await ask("59.91,10.74", tools)
    assert tools.asked.count("findPlaces") == 2
    assert tools.asked.count("readWeather") == 4


async def test_units_are_those_asked_for():
    metric = await ask("Oslo", units="metric")
    imperial = await ask("Oslo")
    assert imperial["units"] == {**metric["units"], "temperature": "°F", "wind_speed": "mph"}
    celsius, fahrenheit = metric["current"]["temperature"], imperial["current"]["temperature"]
    assert fahrenheit == pytest.approx(celsius * 9 / 5 + 32, abs=0.02)
    assert imperial["current"]["pressure"] == metric["current"]["pressure"]


async def test_the_forecast_is_by_day_and_begins_now():
    found = await ask("48.85,2.35")
    dates = [day["date"] for day in found["forecast"]]
    assert dates[0] == "2026-11-20"
    assert 5 <= len(dates) == len(set(dates)) <= 6
    for day in found["forecast"]:
        assert day["temperature_min"] <= day["temperature_max"]


@pytest.mark.parametrize("location", ["Atlantis", "Paris, XX", "?!", "\u00a0"])
async def test_a_place_that_nobody_knows_is_not_found(location):
    tools = weather()
    with pytest.raises(ToolFailed) as caught:
        await ask(location, tools)
    assert (caught.value.reason, caught.value.status) == ("location_not_found", 404)
    assert tools.asked == ["findPlaces"]


@each_of("operation", ["findPlaces", "readWeather", "readForecast"])
@each_of(
    ("fault", "error"),
    [
        ("status=401", UpstreamRefusedCredentials),
        ("status=429", UpstreamRateLimited),
        ("status=503", UpstreamUnavailable),
        ("status=302", InvalidReply),
        ("truncate", InvalidReply),
        ("close", UpstreamUnavailable),
        ("break-contract", InvalidReply),
    ],
)
async def test_a_failing_upstream_never_becomes_a_result(operation, fault, error):
    """What the caller gets is the error itself, not a group of errors."""
    with pytest.raises(error):
        await ask("Paris", weather(f"{operation} 9 {fault}"))


async def test_a_passing_failure_is_tried_again_but_not_a_blocked_account():
    tools = weather("readWeather 3 status=503")
    await ask("48.85,2.35", tools)
    assert tools.asked.count("readWeather") == 4
    tools = weather("readWeather 3 status=429")
    with pytest.raises(UpstreamRateLimited):
        await ask("48.85,2.35", tools)
    assert tools.asked.count("readWeather") == 1


async def test_when_one_request_fails_the_other_is_given_up():
    tools = weather("readWeather 1 status=401", "readForecast 1 latency=60s")
    async with asyncio.timeout(PATIENCE_SECONDS):
        with pytest.raises(UpstreamRefusedCredentials):
            await ask("48.85,2.35", tools)


@pytest.fixture
async def http():
    application = asgi_app(MockApplication(shipped.upstream("weather"), ManualClock()))
    async with over_asgi(application, params={"appid": "mock_key"}) as client:
        yield client


def test_every_operation_has_a_behaviour():
    assert BEHAVIOURS.keys() == {
        operation.id for operation in shipped.upstream("weather").operations
    }


def test_there_are_forty_cities_and_no_two_are_one():
    assert len({(city.name, city.state, city.country) for city in CITIES}) == len(CITIES) >= 40


async def test_places_are_found_by_name_best_first(http):
    found = (await http.get("/geo/1.0/direct", params={"q": "springfield", "limit": 5})).json()
    assert [place["state"] for place in found] == ["Illinois", "Missouri"]
    one = (await http.get("/geo/1.0/direct", params={"q": "London,CA", "limit": 1})).json()
    assert (one[0]["country"], one[0]["lat"]) == ("CA", 42.9837)
    assert (await http.get("/geo/1.0/direct", params={"q": "Nowhere"})).json() == []


async def test_cod_is_a_number_in_the_weather_and_text_in_the_forecast(http):
    now = (await http.get("/data/2.5/weather", params=PARIS)).json()
    forecast = (await http.get("/data/2.5/forecast", params=PARIS)).json()
    assert (now["cod"], forecast["cod"]) == (200, "200")
    assert (forecast["cnt"], len(forecast["list"])) == (40, 40)
    steps = [entry["dt"] for entry in forecast["list"]]
    assert steps[0] > now["dt"]
    assert {later - earlier for earlier, later in pairwise(steps)} == {10_800}
    assert all(at % 10_800 == 0 for at in steps)


@pytest.mark.parametrize(
    ("path", "params", "status", "cod"),
    [
        ("/geo/1.0/direct", {"q": " , "}, 400, "400"),
        ("/data/2.5/weather", {"lat": "91", "lon": "0"}, 400, "400"),
        ("/data/2.5/nothing", {}, 404, "404"),
    ],
)
async def test_refusals_are_worded_as_the_vendor_words_them(http, path, params, status, cod):
    reply = await http.get(path, params=params)
    assert (reply.status_code, reply.json()["cod"]) == (status, cod)


@pytest.mark.parametrize("status", [401, 429])
async def test_some_refusals_have_a_number(http, status):
    reply = await http.get(
        "/data/2.5/weather", params=PARIS, headers={"Mock-Fault": f"status={status}"}
    )
    assert (reply.status_code, reply.json()["cod"]) == (status, status)


async def test_without_a_key_nothing_is_answered(http):
    http.params = {}
    reply = await http.get("/data/2.5/weather", params=PARIS)
    assert (reply.status_code, reply.json()["cod"]) == (401, 401)
    assert "Invalid API key" in reply.json()["message"]


async def test_the_same_seed_gives_the_same_weather_and_another_gives_another():
    async def answer(seed):
        return json.dumps(await ask("Paris", weather(seed=seed)))

    assert await answer("a") == await answer("a")
    assert await answer("a") != await answer("b")


async def test_it_is_warmer_at_the_equator_than_in_iceland():
    warm = await ask("Nairobi", units="metric")
    cold = await ask("Reykjavik", units="metric")
    assert warm["current"]["temperature"] > cold["current"]["temperature"] + 5
