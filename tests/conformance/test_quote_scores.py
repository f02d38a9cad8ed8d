"""The scores in Python and in SQL are the same to the last digit."""

import json
import random
from typing import Any

import asyncpg
import pytest

from gateway.connectors.supabase.scores import COMFORT, WEIGHTS, calculate_quote_scores

pytestmark = pytest.mark.postgres
ROUNDS = 150
CATEGORIES = [*COMFORT, "turboprop", None]
AMENITIES = ["wifi", "bed", "shower", "Wi-Fi"]


def some(chance: random.Random, *values: Any) -> Any:
    """One of the values, or nothing."""
    return chance.choice([*values, None])


def quote(chance: random.Random, number: int) -> dict[str, Any]:
    found = {
        chance.choice(["id", "quote_id"]): f"q{number}",
        "total_price_usd": some(
            chance, 0, 45000, chance.randrange(1, 99999), chance.uniform(0.01, 1e9)
        ),
        "operator_rating": some(chance, 5, 0, round(chance.uniform(0, 5), 2), chance.uniform(0, 5)),
        "flight_minutes": some(chance, 150, 1, chance.randrange(1, 1000), chance.uniform(1, 1e5)),
        "aircraft_category": chance.choice(CATEGORIES),
        "amenities": some(chance, [], chance.choices(AMENITIES, k=3)),
        "notes": "does not count",
    }
    return {name: value for name, value in found.items() if chance.random() < 0.9 or "id" in name}


def wishes(chance: random.Random) -> dict[str, Any]:
    return {
        "max_budget": some(chance, 0, 40000, chance.uniform(1, 1e6)),
        "min_operator_rating": some(chance, 4, chance.uniform(0, 5)),
        "aircraft_category": chance.choice(CATEGORIES),
        "amenities": some(chance, [], chance.choices(AMENITIES, k=3)),
        "catering": "kosher",
    }


def weights(chance: random.Random) -> dict[str, float]:
    if chance.random() < 0.3:
        return dict(WEIGHTS)
    found = {name: chance.choice([0, 1, 0.5, chance.random()]) for name in WEIGHTS}
    return found if sum(found.values()) > 0 else dict(WEIGHTS)


async def test_python_and_sql_agree(upstream_url) -> None:
    chance = random.Random(20251101)  # noqa: S311 - repeatable by design, guards nothing
    connection = await asyncpg.connect(upstream_url)
    try:
        for _ in range(ROUNDS):
            quotes = [quote(chance, number) for number in range(chance.randrange(0, 8))]
            asked = quotes, wishes(chance), weights(chance)
            answer = await connection.fetchval(
                "select calculate_quote_scores($1, $2, $3)", *map(json.dumps, asked)
            )
            assert json.loads(answer) == calculate_quote_scores(*asked), asked
    finally:
        await connection.close()


async def test_what_is_not_given_has_the_same_default_in_sql(upstream_url) -> None:
    quotes = [{"id": "a", "total_price_usd": 1}, {"id": "b", "operator_rating": 5}]
    connection = await asyncpg.connect(upstream_url)
    try:
        answer = await connection.fetchval("select calculate_quote_scores($1)", json.dumps(quotes))
    finally:
        await connection.close()

    assert json.loads(answer) == calculate_quote_scores(quotes, {}, WEIGHTS)
