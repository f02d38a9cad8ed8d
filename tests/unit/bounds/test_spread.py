"""What is put off falls due one after the other."""

import pytest

from gateway.bounds.rates import Spread


def test_what_comes_at_once_falls_due_one_after_the_other() -> None:
    spread = Spread(1.0, 0.25, 9.0)
    assert [spread.next(10.0) for _ in range(4)] == [11.0, 11.25, 11.5, 11.75]


def test_what_comes_alone_waits_for_nobody() -> None:
    spread = Spread(1.0, 0.25, 9.0)
    spread.next(10.0)
    assert spread.next(20.0) == pytest.approx(21.0)


def test_nothing_is_put_off_for_longer_however_much_there_was() -> None:
    """A host that leaves before its refusals are due does not put off those of others."""
    spread = Spread(1.0, 0.25, 2.0)
    assert max(spread.next(10.0) for _ in range(1000)) == pytest.approx(12.0)
