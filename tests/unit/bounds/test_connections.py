"""Places for connections: counted by host, and the oldest idle one yields."""

from gateway.bounds.shares import ConnectionTable


class Line:
    """A connection that waits for its client, or is being served."""

    def __init__(self, *, is_waiting: bool = True) -> None:
        self.is_waiting = is_waiting
        self.has_yielded = False

    def evict(self) -> None:
        self.has_yielded = True


def test_one_host_cannot_take_the_places_of_others() -> None:
    table = ConnectionTable(10, 3)
    lines = [Line() for _ in range(5)]
    assert [table.admit(line, "a") for line in lines] == [True] * 5
    assert [line.has_yielded for line in lines] == [True, True, False, False, False]
    assert all(table.admit(Line(), "b") for _ in range(3))
    assert len(table) == 6


def test_when_all_places_are_taken_the_oldest_idle_one_yields_whichever_client_has_it() -> None:
    table = ConnectionTable(3, 3)
    old, served, young = Line(), Line(is_waiting=False), Line()
    for line, host in ((served, "a"), (old, "b"), (young, "c")):
        table.admit(line, host)
    assert table.admit(Line(), "d")
    assert (served.has_yielded, old.has_yielded, young.has_yielded) == (False, True, False)


def test_what_happened_last_counts() -> None:
    table = ConnectionTable(2, 2)
    first, second = Line(), Line()
    table.admit(first, "a")
    table.admit(second, "a")
    table.touch(first)
    table.admit(Line(), "a")
    assert (first.has_yielded, second.has_yielded) == (False, True)


def test_where_all_are_being_served_there_is_no_place() -> None:
    table = ConnectionTable(2, 2)
    lines = [Line(is_waiting=False), Line(is_waiting=False)]
    for line in lines:
        table.admit(line, "a")
    assert not table.admit(Line(), "a")
    assert not table.admit(Line(), "b")
    table.remove(lines[0])
    table.remove(lines[0])
    assert table.admit(Line(), "b")


def test_a_proxy_is_no_host() -> None:
    table = ConnectionTable(100, 1)
    assert all(table.admit(Line(is_waiting=False), None) for _ in range(100))


def test_what_is_gone_is_forgotten() -> None:
    table = ConnectionTable(10, 10)
    for number in range(1000):
        line = Line()
        table.admit(line, number)
        table.remove(line)
        table.touch(line)
    assert len(table) == 0
    assert table._of_host == {}


def test_the_host_with_the_most_places_yields_first() -> None:
    table = ConnectionTable(4, 3)
    idle, crowd = Line(), [Line() for _ in range(3)]
    for line in (idle, *crowd):
        table.admit(line, None)
    table.use(idle, "honest")
    for line in crowd:
        table.use(line, "crowd")
    assert table.admit(Line(), None)
    assert [line.has_yielded for line in (idle, *crowd)] == [False, True, False, False]


def test_a_proxy_uses_no_more_connections_for_a_host_than_one_may_have() -> None:
    table = ConnectionTable(100, 2)
    lines = [Line() for _ in range(4)]
    for line in lines:
        table.admit(line, None)
    assert [table.use(line, "much") for line in lines] == [True, True, False, False]
    assert table.use(lines[2], "little")
    table.release("much")
    assert table.use(lines[3], "much")
    assert not table.use(lines[0], "much")
