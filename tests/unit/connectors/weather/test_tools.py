"""The weather tool: its pure functions, and its calls against the mock of OpenWeatherMap."""

import asyncio
import json
import re
from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.backends.mock.application import MockApplication
from gateway.backends.mock.backend import asgi_app
from gateway.connectors.weather.mock.upstream import BEHAVIOURS, CITIES
from gateway.connectors.weather.tools import (
    MAX_DAYS,
    Coordinates,
    current_of,
    days_of,
    parse_coordinates,
    place_query,
    units_of,
)
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


def is_admitted(location):
    entry = shipped.catalogue().find("weather.get_weather")
    return entry.input.admits({"location": location})


LETTERLESS = re.compile(r"[0-9 +.,\t\r\n-]*")
START = 1_795_186_800
latitudes = st.decimals(-90, 90, places=4)
longitudes = st.decimals(-180, 180, places=4)


def step(at, low=10.0, high=12.0, kind="Clear", pop=0.0, speed=3.0, **more):
    return {
        "dt": at,
        "main": {"temp_min": low, "temp_max": high},
        "weather": [{"main": kind, "description": kind.lower()}],
        "wind": {"speed": speed},
        "pop": pop,
        **more,
    }


@given(latitude=latitudes, longitude=longitudes, blank=st.sampled_from(["", " "]))
def test_every_point_of_the_globe_can_be_asked_for(latitude, longitude, blank):
    text = f"{latitude},{blank}{longitude}"
    assert parse_coordinates(text) == Coordinates(float(latitude), float(longitude))
    assert is_admitted(text)


@given(text=st.one_of(st.text("0123456789+-., ", min_size=1, max_size=24), st.text(max_size=24)))
def test_what_the_contract_admits_without_a_letter_is_a_point_on_the_globe(text):
    """So that nothing which looks like coordinates is ever looked up as a name."""
    point = parse_coordinates(text)
    if is_admitted(text) and LETTERLESS.fullmatch(text):
        assert point is not None
    if point is not None:
        assert abs(point.latitude) <= 90
        assert abs(point.longitude) <= 180
        assert is_admitted(text)


@each_of(
    "text",
    [
        "90.1,0",
        "-91,0",
        "0,180.01",
        "0,-181",
        "1",
        "1,2,3",
        "1e1,2",
        "\u0661,\u0662",
        "0x1,2",
        ",",
        "1,",
        "",
    ],
)
def test_what_is_no_point_on_the_globe_is_not_parsed(text):
    assert parse_coordinates(text) is None


@each_of("text", ["90.1,0", "0,180.01", "12345", "1,2,3", ", ,", " ", "1 2", "Paris\nFR"])
def test_what_is_neither_a_point_nor_a_name_is_refused(text):
    assert not is_admitted(text)


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("Paris", "Paris"),
        ("Paris, FR", "Paris,FR"),
        (" Springfield ,IL,  US ", "Springfield,IL,US"),
        ("Paris,,FR,", "Paris,FR"),
        ("\u00a0,", ""),
    ],
)
def test_only_commas_stand_between_the_parts_of_a_name(text, query):
    assert place_query(text) == query


@given(
    count=st.integers(0, 40),
    start=st.integers(0, 250_000_000_000 - 40 * 10_800),
    offset=st.integers(-43_200, 50_400),
    lows=st.lists(st.floats(-60, 60), min_size=40, max_size=40),
)
def test_days_are_whole_ordered_and_local(count, start, offset, lows):
    """Every step lies in exactly one day, and a day spans what its steps span."""
    steps = [step(start + n * 10_800, low=lows[n], high=lows[n] + 2) for n in range(count)]
    days = days_of(steps, offset)
    dates = [day["date"] for day in days]
    zone = timedelta(seconds=offset)
    local = [(datetime.fromtimestamp(each["dt"], UTC) + zone).date().isoformat() for each in steps]
    assert dates == sorted(set(local))
    assert len(days) <= MAX_DAYS
    for day in days:
        own = [low for low, date in zip(lows, local, strict=False) if date == day["date"]]
        assert day["temperature_min"] == min(own)
        assert day["temperature_max"] == max(own) + 2


def test_a_day_is_reported_by_its_most_frequent_weather_and_its_extremes():
    steps = [
        step(START, kind="Rain", pop=0.4, speed=2, rain={"3h": 0.25}),
        step(START + 10_800, kind="Clouds", pop=0.644, speed=9),
        step(START + 21_600, kind="Clouds", snow={"3h": 1.5}, rain={"3h": 0.5}),
    ]
    (day,) = days_of(steps, 0)
    assert (day["condition"], day["description"]) == ("Clouds", "clouds")
    assert day["precipitation_probability"] == 64
    assert (day["precipitation"], day["wind_speed_max"]) == (2.25, 9)


def test_of_two_kinds_that_are_as_frequent_the_earlier_counts():
    steps = [step(START, kind="Rain"), step(START + 10_800, kind="Clear")]
    assert days_of(steps[::-1], 0)[0]["condition"] == "Rain"


def test_what_a_reply_lacks_is_left_out():
    weather = {
        "dt": START,
        "main": {"temp": 1, "feels_like": 0, "pressure": 1000, "humidity": 50},
        "weather": [{"main": "Snow", "description": "light snow"}],
        "wind": {"speed": 2},
    }
    assert not {"wind_gust", "visibility", "cloud_cover"} & current_of(weather).keys()
    assert current_of(weather)["precipitation_last_hour"] == 0
    assert current_of({**weather, "snow": {"1h": 0.6}})["precipitation_last_hour"] == 0.6


@pytest.mark.parametrize(("system", "degrees"), [("metric", "°C"), ("imperial", "°F")])
def test_units_have_names(system, degrees):
    assert units_of(system)["temperature"] == degrees


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
