"""How free workers are shared out among lanes."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from gateway.store.sql.jobs import Lane, fair_shares

lanes_found = st.lists(
    st.builds(
        Lane,
        kind=st.just("webhook"),
        name=st.text(max_size=3),
        due=st.integers(1, 20),
        under_way=st.integers(0, 20),
    ),
    max_size=8,
)


@given(lanes=lanes_found, limit=st.integers(0, 60), lane_limit=st.none() | st.integers(1, 10))
def test_no_lane_is_served_while_another_has_fewer_under_way(lanes, limit, lane_limit) -> None:
    shares = dict.fromkeys(range(len(lanes)), 0)
    for lane, share in fair_shares(lanes, limit, lane_limit):
        at = next(n for n, each in enumerate(lanes) if each is lane)
        shares[at] = share

    def may_have_more(at: int) -> bool:
        lane = lanes[at]
        is_below = lane_limit is None or lane.under_way + shares[at] < lane_limit
        return shares[at] < lane.due and is_below

    assert all(shares[at] <= lane.due for at, lane in enumerate(lanes))
    if lane_limit is not None:
        assert all(
            shares[at] == 0 or lane.under_way + shares[at] <= lane_limit
            for at, lane in enumerate(lanes)
        )
    assert sum(shares.values()) == limit or not any(map(may_have_more, shares))
    for at, lane in enumerate(lanes):
        for other, rival in enumerate(lanes):
            if shares[other] and may_have_more(at):
                assert lane.under_way + shares[at] + 1 >= rival.under_way + shares[other]


def test_a_lane_without_room_leaves_its_share_to_others() -> None:
    lanes = [Lane("webhook", name, 20, 0) for name in "abc"]
    shares = {lane.name: share for lane, share in fair_shares(lanes, 12, rooms={"a": 0, "b": 2})}
    assert shares == {"b": 2, "c": 10}


def test_of_lanes_that_are_even_none_always_comes_last() -> None:
    """One free worker and backlogs everywhere: the first by name must not always win."""
    lanes = [Lane("delivery", name, 20, 0) for name in "abcdefgh"]
    served = Counter(fair_shares(lanes, 1)[0][0].name for _ in range(400))
    assert set(served) == set("abcdefgh")
