"""Supabase: the columns that callers are given, and the scoring of quotes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.connectors.supabase.scores import WEIGHTS, calculate_quote_scores
from gateway.connectors.supabase.tools import changes_of, filters_of, new_rows_of, selection_of
from gateway.contract.rows.rows import holds_nul, shape_of
from gateway.errors import InvalidArguments
from tests.unit.tables import each_of

MOMENT = {"type": "string", "format": "date-time", "readOnly": True}
SHAPE = shape_of(
    "books",
    {
        "type": "object",
        "required": ["id", "title", "created_at", "updated_at"],
        "properties": {
            "id": {"type": "string"},
            "title": {"type": "string"},
            "price": {"type": ["number", "null"]},
            "stock": {"type": ["integer", "null"]},
            "facts": {"type": ["object", "null"]},
            "sold_at": {"type": ["string", "null"], "format": "date-time"},
            "created_at": MOMENT,
            "updated_at": MOMENT,
        },
    },
)
names = st.text(max_size=30)
scalars = st.one_of(
    st.none(), st.booleans(), st.text(max_size=30), st.integers(), st.floats(allow_nan=False)
)
kinds = {"text": str, "number": int | float, "integer": int, "moment": str}


@given(name=names.filter(lambda name: name not in SHAPE.columns), value=scalars)
def test_a_name_that_is_no_column_is_refused_wherever_it_stands(name, value) -> None:
    for ask in (
        lambda: filters_of(SHAPE, {name: value}),
        lambda: selection_of(SHAPE, {"orderBy": {"column": name}}),
        lambda: selection_of(SHAPE, {"select": f"id,{name}x"}),
        lambda: new_rows_of(SHAPE, {"title": "t", name: value}),
        lambda: changes_of(SHAPE, {name: value}),
    ):
        with pytest.raises(InvalidArguments) as refused:
            ask()
        assert refused.value.violations


@given(
    column=st.sampled_from(sorted(SHAPE.columns)),
    operator=st.sampled_from(["eq", "neq", "gt", "gte", "lt", "lte"]),
    value=scalars,
)
def test_a_condition_that_passes_holds_a_value_of_its_column(column, operator, value) -> None:
    try:
        [made] = filters_of(SHAPE, {column: {operator: value}})
    except InvalidArguments:
        return
    kind = SHAPE.columns[column].kind
    assert made.value is None or isinstance(made.value, kinds[kind])
    assert not isinstance(made.value, bool)
    assert not holds_nul(made.value)


@each_of(
    ("given_", "canonical"),
    [
        ({"price": 10.0}, 10),
        ({"price": -0.0}, 0),
        ({"price": 0.1}, 0.1),
        ({"stock": 3.0}, 3),
        ({"stock": 2**53 + 1}, 2**53 + 1),
        ({"sold_at": "2025-11-01T12:00:00.5+02:00"}, "2025-11-01T10:00:00.500000Z"),
        ({"sold_at": "2025-11-01t12:00:00z"}, "2025-11-01T12:00:00Z"),
        ({"sold_at": "2016-12-31T23:59:60Z"}, "2016-12-31T23:59:59Z"),
        ({"sold_at": None}, None),
        ({"facts": {"a": 1.0}}, {"a": 1.0}),
    ],
)
def test_values_take_one_form(given_, canonical) -> None:
    [value] = changes_of(SHAPE, given_).values()
    assert value == canonical
    assert str(value) == str(canonical)


@pytest.mark.parametrize("value", [2**63, -(2**63) - 1, 1e300, 1.5, True, "1"])
def test_what_no_integer_column_holds_is_refused(value) -> None:
    with pytest.raises(InvalidArguments):
        filters_of(SHAPE, {"stock": value})


def test_the_refusal_of_an_unknown_column_names_the_known_ones() -> None:
    with pytest.raises(InvalidArguments) as refused:
        filters_of(SHAPE, {"secret_column": "secret value"})

    [violation] = refused.value.violations
    assert violation.pointer == "/filters/secret_column"
    assert violation.detail.startswith("is not a column of books, which has id, title, price,")
    assert "secret" not in violation.detail


def test_every_column_is_selected_once_in_the_order_asked_for() -> None:
    assert selection_of(SHAPE, {"select": "title , id,title"}).columns == ("title", "id")
    assert selection_of(SHAPE, {}).columns == ()
    assert selection_of(SHAPE, {"select": "*"}).columns == ()


numbers = st.one_of(st.none(), st.floats(0, 1e9))
quotes = st.lists(
    st.fixed_dictionaries(
        {"total_price_usd": numbers, "operator_rating": st.one_of(st.none(), st.floats(0, 5))},
        optional={
            "flight_minutes": st.one_of(st.none(), st.floats(1, 1e5)),
            "aircraft_category": st.sampled_from(["light", "heavy", "balloon", None]),
            "amenities": st.lists(st.sampled_from(["wifi", "bed"]), max_size=3),
        },
    ),
    max_size=8,
).map(lambda found: [{"id": f"q{n}", **each} for n, each in enumerate(found)])
preferences = st.fixed_dictionaries(
    {}, optional={"max_budget": numbers, "amenities": st.lists(st.just("wifi"), max_size=1)}
)


def scored(*given_, wishes=None, weights=WEIGHTS):
    rows = [{"id": chr(97 + n), **each} for n, each in enumerate(given_)]
    return calculate_quote_scores(rows, wishes or {}, weights)["scores"]


def points(name, *given_, **asked):
    by_id = {each["quote_id"]: each[f"{name}_score"] for each in scored(*given_, **asked)}
    return [by_id[key] for key in sorted(by_id)]


@given(quotes, preferences)
def test_points_are_bounded_and_ranks_follow_the_totals(found, wishes) -> None:
    scores = calculate_quote_scores(found, wishes, WEIGHTS)["scores"]

    assert {each["quote_id"] for each in scores} == {each["id"] for each in found}
    totals = [each["total_score"] for each in scores]
    assert totals == sorted(totals, reverse=True)
    for each in scores:
        assert each["rank"] == 1 + sum(total > each["total_score"] for total in totals)
        for name in (*WEIGHTS, "total"):
            assert 0 <= each[f"{name}_score"] <= 100
        for name in each["missing"]:
            assert each[f"{name}_score"] == 50


@given(quotes, preferences)
def test_the_same_quotes_get_the_same_points_in_any_order(found, wishes) -> None:
    def by_id(rows):
        scores = calculate_quote_scores(rows, wishes, WEIGHTS)["scores"]
        return {each["quote_id"]: each for each in scores}

    assert by_id(found) == by_id(found[::-1])


@given(quotes)
def test_weights_count_in_proportion(found) -> None:
    tenfold = {name: weight / 10 for name, weight in WEIGHTS.items()}
    one = calculate_quote_scores(found, {}, WEIGHTS)
    other = calculate_quote_scores(found, {}, tenfold)

    assert one["weights"] == other["weights"] == WEIGHTS
    totals = {each["quote_id"]: each["total_score"] for each in other["scores"]}
    for each in one["scores"]:
        # The last digit may fall the other way, for a tenth of a weight is no exact double.
        assert each["total_score"] == pytest.approx(totals[each["quote_id"]], abs=0.0101)


def test_a_total_is_the_weighted_mean_of_the_points_shown() -> None:
    [best, _] = scored(
        {"total_price_usd": 45000, "operator_rating": 4.6, "flight_minutes": 150},
        {"total_price_usd": 38250, "operator_rating": 1, "flight_minutes": 117},
        wishes={"aircraft_category": None},
    )

    assert (best["price_score"], best["safety_score"], best["speed_score"]) == (85, 92, 78)
    assert best["total_score"] == 79.4  # 85 x 0.30 + 92 x 0.35 + 78 x 0.15 + 50 x 0.20


def test_equal_totals_share_a_rank_and_the_next_stays_empty() -> None:
    scores = scored(*[{"operator_rating": rating} for rating in (3, 5, 4, 4, 3, 1)])

    assert [(each["quote_id"], each["rank"]) for each in scores] == [
        ("b", 1),
        ("c", 2),
        ("d", 2),
        ("a", 4),
        ("e", 4),
        ("f", 6),
    ]


def test_the_cheapest_gets_all_points_and_others_their_share() -> None:
    prices = [{"total_price_usd": price} for price in (200, 100, 400)]

    assert points("price", *prices) == [50, 100, 25]
    assert points("price", *prices, wishes={"max_budget": 200}) == [50, 100, 12.5]
    assert points("price", {"total_price_usd": 0}, {"total_price_usd": 5}, {}) == [100, 0, 50]


def test_safety_is_the_rating_halved_below_what_the_client_accepts() -> None:
    ratings = [{"operator_rating": rating} for rating in (5, 4, 3.9)]

    assert points("safety", *ratings) == [100, 80, 78]
    assert points("safety", *ratings, wishes={"min_operator_rating": 4}) == [100, 80, 39]


def test_speed_is_measured_against_the_fastest() -> None:
    assert points("speed", {"flight_minutes": 100}, {"flight_minutes": 150}, {}) == [100, 66.67, 50]


def test_comfort_is_the_aircraft_and_what_is_on_board() -> None:
    category = [{"aircraft_category": name} for name in ("light", "heavy", "balloon")]
    assert points("comfort", *category) == [40, 80, 50]
    assert points("comfort", *category, wishes={"aircraft_category": "light"}) == [100, 80, 50]
    assert points("comfort", *category, wishes={"aircraft_category": "balloon"}) == [40, 80, 100]

    wishes = {"amenities": ["wifi", "bed", "wifi"]}
    some = {"aircraft_category": "heavy", "amenities": ["wifi", "wifi"]}
    assert points("comfort", some, category[0], {}, wishes=wishes) == [65, 20, 50]


def test_rounding_is_half_upwards() -> None:
    prices = [{"total_price_usd": 1}, {"total_price_usd": 800}]
    assert points("price", *prices) == [100, 0.13]
