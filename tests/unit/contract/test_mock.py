"""What a mock remembers to tell later."""

from datetime import timedelta

from hypothesis import given
from hypothesis import strategies as st

from gateway.contract import mock
from gateway.contract.mock import MockMessage, MockState
from tests.clocks import NOW


def message(number):
    return MockMessage(id=f"m-{number}", event="happened", payload={"number": number})


@given(st.lists(st.integers(0, 60), max_size=30), st.lists(st.integers(0, 70), max_size=10))
def test_each_message_is_given_once_in_the_order_of_its_moment(delays, looks):
    state = MockState()
    for number, delay in enumerate(delays):
        state.later(NOW + timedelta(minutes=delay), message(number))
    found = []
    for look in [*sorted(looks), 60]:
        now = NOW + timedelta(minutes=look)
        due = state.due(now)
        assert all(delays[each.payload["number"]] <= look for each in due)
        found += due
    expected = sorted(range(len(delays)), key=lambda number: (delays[number], number))
    assert [each.payload["number"] for each in found] == expected


def test_those_farthest_off_are_not_kept(monkeypatch):
    monkeypatch.setattr(mock, "MAX_MESSAGES", 3)
    state = MockState()
    for number in (5, 4, 3, 2, 1):
        state.later(NOW + timedelta(minutes=number), message(number))
    due = state.due(NOW + timedelta(hours=1))
    assert [each.id for each in due] == ["m-1", "m-2", "m-3"]
