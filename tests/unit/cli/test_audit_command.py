"""`gateway audit`: who called what, and what became of it."""

import asyncio
import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from gateway.cli.operating.audit import _new
from gateway.contract.fields.conversion import rfc3339
from gateway.ids import uuid7
from gateway.store.records import AuditRecord
from gateway.store.sql.engine import open_store

pytestmark = pytest.mark.usefixtures("small")
NOW = datetime.now(UTC)


def record(age: timedelta = timedelta(), **changes: Any) -> AuditRecord:
    at = NOW - age
    known = {
        "id": uuid7(at),
        "at": at,
        "request_id": "request",
        "transport": "rest",
        "operation": "avinode.search_airports",
        "subject": "key_1",
        "agent": "flight_search",
        "outcome": "ok",
        "stage": None,
        "status": 200,
        "backend": "mock",
        "duration_ms": 12.4,
        "arguments": {"query": "\x1b[2J"},
    }
    return AuditRecord(**{**known, **changes})


@pytest.fixture
def stored(tmp_path) -> list[AuditRecord]:
    """Four records, the oldest first."""
    (tmp_path / "data").mkdir()
    records = [
        record(timedelta(days=3), operation="weather.current"),
        record(timedelta(hours=2), outcome="TIMEOUT_ERROR", status=504, agent="proposal"),
        record(timedelta(minutes=30), agent=None, operation="\x1b[31m\u202e"),
        record(timedelta(minutes=1)),
    ]

    async def store() -> None:
        opened = await open_store(f"sqlite:///{tmp_path}/data/gateway.db")
        try:
            await opened.audit.append(records)
        finally:
            await opened.close()

    asyncio.run(store())
    return records


def test_records_are_listed_by_who_what_outcome_and_time(cli, stored):
    wanted = {
        ("--agent", "flight_search"): [3, 0],
        ("--tool", "weather.current"): [0],
        ("--outcome", "error"): [1],
        ("--since", "1h", "--tool", "avinode.*"): [3],
        ("--until", "1d"): [0],
        ("--until", "2020-01-01"): [],
    }
    for options, found in wanted.items():
        shown = json.loads(cli("audit", "list", "--json", *options).out)
        ids = [stored[number].id for number in found]
        assert [each["id"] for each in shown["items"]] == ids, options


def test_the_cursor_of_a_page_leads_to_the_next(cli, stored):
    options = ("--tool", "avinode.*", "--limit", "1")
    first = json.loads(cli("audit", "list", "--json", *options).out)
    second = json.loads(cli("audit", "list", "--json", *options, "--after", first["next"]).out)
    assert [each["id"] for each in second["items"]] == [stored[1].id]
    err = cli("audit", "list", *options).err
    assert f"--after {first['next']}" in err


def test_a_table_holds_whole_ids_and_nothing_that_a_terminal_obeys(cli, stored):
    out = cli("audit", "list").out
    assert all(each.id in out for each in stored)
    assert not {"\x1b", "\u202e"} & set(out)
    assert "\\x1b[31m\\u202e" in out


def test_a_record_is_shown_with_its_arguments(cli, stored):
    code, out, _ = cli("audit", "show", stored[3].id)
    assert code == 0
    assert "agent             flight_search" in out
    assert "hidden_characters 0" in out
    assert '"\\u001b[2J"' in out
    assert json.loads(cli("audit", "show", stored[3].id, "--json").out)["id"] == stored[3].id
    assert cli("audit", "show", "none").code == 1


BEYOND = ["999999d", "0001-01-01T00:00:00+05:00", "9999-12-31T23:59:59-05:00"]


@pytest.mark.parametrize("moment", ["yesterday", "5x", "", "1h30m", *BEYOND])
def test_what_is_no_moment_is_wrong_usage(cli, moment):
    code, _, err = cli("audit", "list", "--since", moment)
    assert code == 2
    assert "write it as 15m, 2h, 7d" in err


Records = list[dict[str, Any]]


class _Recorded:
    """An operator of a gateway that holds `records`; more happens before the polls numbered so."""

    def __init__(self, *records: dict[str, Any], **happens: Callable[[Records], None]) -> None:
        self.records = list(records)
        self.happens = happens
        self.polls: Records = []

    async def ask(self, method: str, path: str, *, query: dict[str, Any]) -> Any:
        if query["limit"] > 1:
            self.polls.append(query)
            self.happens.get(f"poll_{len(self.polls)}", list)(self.records)
        found = [each for each in self.records if self._fits(each, query)]
        found = sorted(found, key=lambda each: each["id"], reverse=True)
        page = found[: query["limit"]]
        return {"items": page, "next": page[-1]["id"] if len(page) < len(found) else None}

    def _fits(self, each: dict[str, Any], query: dict[str, Any]) -> bool:
        wanted = {name: query.get(name) for name in ("outcome", "agent")}
        since = query.get("since") or ""
        return each["at"] >= since and all(
            value in {None, each[name]} for name, value in wanted.items()
        )


def kept(number: int, outcome: str = "ok", **age: float) -> dict[str, Any]:
    at = rfc3339(datetime.now(UTC) - timedelta(**age))
    return {"id": str(number), "at": at, "agent": "golf", "outcome": outcome}


@pytest.fixture
def hurried(monkeypatch) -> None:
    monkeypatch.setattr("gateway.cli.operating.audit._POLL_SECONDS", 0)


async def test_what_is_followed_comes_once_and_oldest_first(hurried):
    # A call is recorded when it ends, under the id of its start: `late` began before `old`.
    old, late, begun = kept(2), kept(1), kept(3, "PENDING")
    ended = {**begun, "outcome": "ok"}
    operator: Any = _Recorded(
        old,
        poll_2=lambda records: records.extend([late, begun]),
        poll_3=lambda records: records.__setitem__(-1, ended),
    )
    following = _new(operator, {})
    assert [await anext(following) for _ in range(3)] == [late, begun, ended]
    await following.aclose()


async def test_a_poll_reads_the_last_minutes_alone_however_rare_what_it_looks_for(hurried):
    rare = {**kept(5), "agent": "rare"}
    operator: Any = _Recorded(
        *(kept(1, days=80), kept(2, days=2), kept(3, minutes=20), kept(4)),
        poll_4=lambda records: records.append(rare),
    )
    following = _new(operator, {"agent": "rare"})
    assert await anext(following) == rare
    await following.aclose()
    hour_ago = rfc3339(datetime.now(UTC) - timedelta(hours=1))
    assert len(operator.polls) == 4
    assert all(query["since"] > hour_ago for query in operator.polls)


async def test_pending_records_that_were_there_before_do_not_come_when_others_end(
    hurried, monkeypatch
):
    monkeypatch.setattr("gateway.cli.operating.audit._WINDOW", 2)
    fresh = kept(5, "PENDING")
    operator: Any = _Recorded(
        *(kept(number, "PENDING", seconds=10 - number) for number in range(1, 5)),
        poll_2=lambda records: records[3].update(outcome="ok"),
        poll_4=lambda records: records.append(fresh),
    )
    following = _new(operator, {"outcome": "PENDING"})
    assert await anext(following) == fresh
    await following.aclose()


async def test_a_record_that_is_dated_ahead_hides_none_of_those_to_come(hurried):
    fresh = kept(5)
    operator: Any = _Recorded(kept(9, hours=-5), poll_2=lambda records: records.append(fresh))
    following = _new(operator, {})
    assert await anext(following) == fresh
    await following.aclose()
