"""Conversion of currencies: exact, with today's rates or the fixed ones."""

from decimal import ROUND_HALF_EVEN, Decimal, localcontext
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.connectors.frankfurter import rates as frankfurter_rates
from gateway.connectors.frankfurter.rates import FALLBACK, Rates, read_exchange
from gateway.connectors.frankfurter.tools import convert_currency
from gateway.contract.handler import dump
from gateway.errors import (
    InvalidReply,
    ToolFailed,
    UpstreamRateLimited,
    UpstreamTimeout,
    UpstreamUnavailable,
)
from generated.models.frankfurter.convert_currency import ConvertCurrencyInput
from tests.unit.connectors.travel import HANGS, Scripted, admits_result
from tests.unit.tables import each_of

AMOUNTS = st.decimals(min_value=0, max_value=Decimal("999999999999.999999"), places=6)
RATES = st.decimals(min_value=Decimal("0.000001"), max_value=10_000_000, places=6)


async def convert(amount, source, target, context=None):
    arguments = ConvertCurrencyInput.model_validate(
        {"amount": amount, "from": source, "to": target}
    )
    result = dump(await convert_currency(arguments, context or Scripted()))
    assert admits_result("frankfurter.convert_currency", result)
    return result


async def test_an_amount_is_converted_at_the_live_rate():
    assert await convert("380.00", "EUR", "USD") == {
        "amount": "475.00",
        "currency": "USD",
        "rate": "1.25",
        "date": "2026-11-20",
        "rate_source": "live",
    }


async def test_two_other_currencies_meet_in_the_euro():
    """160 yen and 0.8 pounds are a euro each."""
    result = await convert("1000", "JPY", "GBP")
    assert (result["rate"], result["amount"]) == ("0.005", "5.00")


@pytest.mark.parametrize(
    ("amount", "target", "converted"),
    [
        ("10.55", "JPY", "1350"),
        ("10.55", "KRW", "14123"),
        ("10.55", "BHD", "3.967"),
        ("10.55", "JOD", "7.480"),
        ("10.55", "CHF", "8.76"),
    ],
)
async def test_a_currency_has_the_decimals_of_iso_4217(amount, target, converted):
    result = await convert(amount, "USD", target)
    assert len(result["amount"].partition(".")[2]) == len(converted.partition(".")[2])
    exact = Decimal(amount) * Decimal(result["rate"])
    unit = Decimal(1).scaleb(-len(converted.partition(".")[2]))
    assert Decimal(result["amount"]) == exact.quantize(unit, ROUND_HALF_EVEN)


async def test_the_amount_is_not_sent():
    context = Scripted()
    await convert("123.45", "GBP", "USD", context)
    assert context.queries("readLatestRates") == [{"base": "EUR"}]


async def test_a_currency_into_itself_needs_no_rate():
    result = await convert("999999999999.995", "KES", "KES")
    assert (result["amount"], result["rate"]) == ("1000000000000.00", "1")
    assert (result["rate_source"], result["date"]) == ("same", "2026-11-21")


@each_of(
    "failure",
    [
        UpstreamUnavailable(),
        UpstreamTimeout(),
        UpstreamRateLimited(),
        InvalidReply(),
        (404, {"message": "not found"}),
        (422, {"message": "invalid date"}),
        (200, {"base": "USD", "date": "2026-11-20", "rates": {"EUR": 0.8, "GBP": 0.7}}),
        (200, {"base": "EUR", "date": "2026-11-20", "rates": {"USD": 0}}),
    ],
    ids=["down", "timeout", "429", "invalid", "404", "422", "another base", "a rate of nothing"],
)
async def test_a_fixed_rate_stands_in_when_frankfurter_fails(failure):
    result = await convert("100", "EUR", "USD", Scripted(readLatestRates=failure))
    assert result["rate_source"] == "fallback"
    assert (result["rate"], result["amount"]) == ("1.1269", "112.69")
    assert result["date"] == FALLBACK.date


async def test_a_frankfurter_that_hangs_is_not_waited_for(monkeypatch):
    monkeypatch.setattr(frankfurter_rates, "RATE_SECONDS", 0.01)
    result = await convert("100", "EUR", "USD", Scripted(readLatestRates=HANGS))
    assert result["rate_source"] == "fallback"


async def test_a_currency_that_frankfurter_lacks_has_a_fixed_rate_if_it_is_held_to_the_dollar():
    """3.6725 dirhams are a dollar, whatever a euro is worth."""
    result = await convert("3.6725", "AED", "USD")
    assert (result["amount"], result["rate_source"]) == ("1.00", "fallback")


@pytest.mark.parametrize(("source", "target"), [("KES", "USD"), ("EUR", "XXX"), ("XXX", "YYY")])
async def test_a_currency_without_any_rate_is_a_declared_error(source, target):
    with pytest.raises(ToolFailed) as caught:
        await convert("1", source, target)
    assert caught.value.reason == "unknown_currency"


async def test_live_and_fixed_rates_are_never_mixed():
    """The yen is live here and the dirham is fixed: both come from the fixed table."""
    exchange = await read_exchange(Scripted())
    rate = exchange.find("AED", "JPY")
    assert rate == FALLBACK.find("AED", "JPY")


@given(amount=AMOUNTS, per_euro=RATES)
def test_conversion_is_exact_to_the_cent(amount, per_euro):
    """Against fractions, which do not round: no binary number comes in between."""
    rates = Rates(per_euro={"EUR": Decimal(1), "XXX": per_euro}, date="2026-11-20", source="live")
    found = rates.find("EUR", "XXX")
    exact = Fraction(amount) * Fraction(found.value)
    converted = found.convert(amount)
    assert abs(Fraction(converted) - exact) <= Fraction(1, 200)
    assert converted == converted.quantize(Decimal("0.01"))
    with localcontext(prec=80, rounding=ROUND_HALF_EVEN):
        assert converted == (amount * found.value).quantize(Decimal("0.01"))


@given(amount=AMOUNTS, source=RATES, target=RATES)
async def test_every_amount_and_rate_makes_a_result_that_the_contract_admits(
    amount, source, target
):
    rates = {"GBP": float(source), "USD": float(target)}
    body = {"base": "EUR", "date": "2026-11-20", "rates": rates}
    result = await convert(f"{amount:f}", "GBP", "USD", Scripted(readLatestRates=body))
    assert result["rate_source"] == "live"
    exact = Fraction(amount) * Fraction(target) / Fraction(source)
    assert abs(Fraction(result["amount"]) - exact) <= exact / 10**9 + Fraction(1, 200)


@given(rate=st.decimals(min_value=Decimal("0.00001"), max_value=99_999, places=5))
async def test_a_published_rate_keeps_its_digits(rate):
    """0.84880 arrives as the nearest binary number, and leaves as 0.8488."""
    body = {"base": "EUR", "date": "2026-11-20", "rates": {"USD": float(rate)}}
    result = await convert("1", "EUR", "USD", Scripted(readLatestRates=body))
    assert Decimal(result["rate"]) == rate


def test_halves_go_to_the_even_cent():
    rate = Rates(
        per_euro={"EUR": Decimal(1), "USD": Decimal("0.5")}, date="2026-11-20", source="live"
    ).find("EUR", "USD")
    assert str(rate.convert(Decimal("0.01"))) == "0.00"
    assert str(rate.convert(Decimal("0.03"))) == "0.02"
    assert str(rate.convert(Decimal("0.05"))) == "0.02"


def test_the_fixed_table_is_sound():
    """All that the European Central Bank quotes and six more; the pegs at their official rates."""
    assert len(FALLBACK.per_euro) == 36
    assert all(rate > 0 for rate in FALLBACK.per_euro.values())
    assert FALLBACK.per_euro["EUR"] == 1
    assert str(FALLBACK.find("USD", "SAR").value) == "3.75"
    assert str(FALLBACK.find("USD", "BHD").value) == "0.376"


async def test_what_failed_and_was_passed_over_is_told_to_the_operator():
    context = Scripted(readLatestRates=UpstreamTimeout())

    await convert("100", "EUR", "USD", context)

    assert context.fallbacks == ["frankfurter: The upstream did not answer in time."]


async def test_fixed_rates_that_are_too_old_are_not_used_but_a_fixed_parity_is(monkeypatch):
    monkeypatch.setattr(frankfurter_rates, "MAX_FALLBACK_DAYS", 45)
    down = Scripted(readLatestRates=UpstreamUnavailable())

    with pytest.raises(ToolFailed) as caught:
        await convert("100", "EUR", "USD", down)
    parity = await convert("3.6725", "AED", "USD", down)

    assert caught.value.reason == "rates_unavailable"
    assert (parity["amount"], parity["rate_source"]) == ("1.00", "fallback")
