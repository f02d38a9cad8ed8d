"""`gateway events list` looks back from the end of the log, in few requests."""

from gateway.cli.operating.events import _newest


class Log:
    """`GET /operator/events` of a log in which every third event is of the type `rare`."""

    def __init__(self, end: int, begin: int = 1) -> None:
        self.end = end
        self.begin = begin
        self.requests = 0

    async def ask(self, _method, _path, *, query=None):
        self.requests += 1
        if query is None:
            return {"items": [], "next": self.end}
        places = range(max(self.begin, query["after"] + 1), self.end + 1)
        wanted = [p for p in places if not query["types"] or p % 3 == 0][: query["limit"]]
        is_full = len(wanted) == query["limit"]
        return {
            "items": [{"position": p} for p in wanted],
            "next": wanted[-1] if is_full else self.end,
        }


async def places(log: Log, types: str, limit: int) -> list[int]:
    return [each["position"] for each in await _newest(log, types, limit)]


async def test_the_newest_are_listed_oldest_first():
    assert await places(Log(1000), "", 3) == [998, 999, 1000]
    assert await places(Log(10), "", 50) == list(range(1, 11))
    assert await places(Log(0), "", 5) == []


async def test_a_long_list_has_no_gap_and_no_double():
    assert await places(Log(1000), "", 700) == list(range(301, 1001))
    assert await places(Log(1000), "rare", 200) == list(range(402, 1001, 3))


async def test_what_was_removed_costs_few_requests():
    log = Log(1_000_000, begin=999_999)
    assert await places(log, "", 5) == [999_999, 1_000_000]
    assert log.requests < 40
