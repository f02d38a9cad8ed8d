"""The Frankfurter mock over HTTP, asked as its documentation says."""

from contextlib import asynccontextmanager
from datetime import UTC, datetime

import httpx
import pytest

from gateway.backends.mock.application import MockApplication
from gateway.backends.mock.backend import asgi_app
from gateway.testing.asgi_server import serving
from tests.clients.contracts import upstream

QUOTED = 29
"""Currencies that the European Central Bank quotes against the euro."""


class Friday:
    def now(self):
        return datetime(2026, 11, 20, 14, 30, tzinfo=UTC)

    def monotonic(self):
        return 0.0


class Sunday(Friday):
    def now(self):
        return datetime(2026, 11, 22, 14, 30, tzinfo=UTC)


@asynccontextmanager
async def client(clock=None):
    mock = MockApplication(upstream("frankfurter"), clock or Friday())
    async with serving(asgi_app(mock)) as url, httpx.AsyncClient(base_url=url) as http:
        yield http


async def rates(http, **query):
    reply = await http.get("/latest", params=query)
    assert reply.status_code == 200
    return reply.json()


async def test_all_rates_are_per_euro_unless_another_base_is_asked_for():
    async with client() as http:
        euro = await rates(http)
        dollar = await rates(http, base="USD")
    assert (euro["amount"], euro["base"], euro["date"]) == (1.0, "EUR", "2026-11-20")
    assert len(euro["rates"]) == len(dollar["rates"]) == QUOTED
    assert "EUR" not in euro["rates"]
    assert dollar["rates"]["EUR"] == pytest.approx(1 / euro["rates"]["USD"], abs=0.00001)


async def test_only_the_symbols_are_reported_and_the_base_is_not_among_them():
    async with client() as http:
        found = await rates(http, base="usd", symbols="gbp,USD,JPY")
    assert found["base"] == "USD"
    assert list(found["rates"]) == ["GBP", "JPY"]


async def test_a_weak_currency_has_few_digits_left():
    """Six decimals: this is why the gateway asks for euros."""
    async with client() as http:
        found = await rates(http, base="IDR", symbols="USD")
    assert found["rates"]["USD"] == round(found["rates"]["USD"], 6) < 0.0001


async def test_the_day_is_the_last_working_day():
    async with client(Sunday()) as http:
        sunday = await http.get("/latest")
    async with client() as http:
        friday = await http.get("/latest")
    assert sunday.json() == friday.json()
    assert sunday.headers["etag"] == friday.headers["etag"]
    assert friday.headers["cache-control"] == "public, max-age=86400"


@pytest.mark.parametrize(
    ("query", "status", "message"),
    [
        ({"base": "USD", "symbols": "USD"}, 422, "bad currency pair"),
        ({"base": "AED"}, 404, "not found"),
        ({"symbols": "AED"}, 404, "not found"),
        ({"symbols": "EUR"}, 404, "not found"),
    ],
)
async def test_what_has_no_rate_is_refused(query, status, message):
    async with client() as http:
        reply = await http.get("/latest", params=query)
    assert (reply.status_code, reply.json()) == (status, {"message": message})


async def test_a_path_that_is_not_there_reports_its_status_too():
    async with client() as http:
        reply = await http.get("/newest")
    assert (reply.status_code, reply.json()) == (404, {"status": 404, "message": "not found"})
