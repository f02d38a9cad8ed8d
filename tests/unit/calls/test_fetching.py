"""A read that no caller asked for is answered by the upstream, and by nothing that was kept."""

from gateway.calls.fetching import Fetcher
from tests.clocks import ManualClock
from tests.entity_rows import NoEntities
from tests.unit.calls.shop import connection, reply


async def test_a_fetch_is_never_answered_by_a_kept_reply() -> None:
    """`rate` may be kept for a minute, and a message says that it has just changed."""
    shop, backend = connection(reply(body={"n": 1}), reply(body={"n": 2}))
    fetcher = Fetcher({"shop": shop}, ManualClock(), NoEntities())

    found = [await fetcher("shop", "rate", {}, {}) for _ in range(2)]

    assert found == [{"n": 1}, {"n": 2}]
    assert len(backend.sent) == 2
