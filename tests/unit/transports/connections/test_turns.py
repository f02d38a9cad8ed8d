"""Processes that share connections."""

from gateway.transports.connections.listen import ConnectionCounts, Turn


def test_a_process_is_busier_than_one_with_fewer_connections() -> None:
    counts = ConnectionCounts(3)
    one, two = Turn(counts, 0), Turn(counts, 1)
    assert not one.is_busier(5), "the others have not started"
    assert not two.is_busier(5)
    assert not two.is_busier(4)
    assert one.is_busier(5)
    assert not one.is_busier(4)


def test_nobody_waits_for_a_process_that_has_ended() -> None:
    counts = ConnectionCounts(2)
    one, two = Turn(counts, 0), Turn(counts, 1)
    assert not two.is_busier(0)
    assert one.is_busier(1)
    counts.forget(1)
    assert not one.is_busier(1)
