"""How often is looked while nothing happens."""

from gateway.clock import Polls


def test_waits_double_until_there_is_work():
    polls = Polls(0.5, 5.0)
    assert [polls.wait_seconds() for _ in range(6)] == [0.5, 1.0, 2.0, 4.0, 5.0, 5.0]
    polls.note_work()
    assert [polls.wait_seconds() for _ in range(2)] == [0.5, 1.0]


def test_without_a_longer_wait_all_are_alike():
    polls = Polls(0.5, 0.0)
    assert [polls.wait_seconds() for _ in range(3)] == [0.5] * 3
