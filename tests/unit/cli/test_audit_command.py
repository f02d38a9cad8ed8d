"""`gateway audit`: who called what, and what became of it."""

import asyncio
import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from gateway.cli.audit import _new
from gateway.ids import uuid7
from gateway.store.base import AuditRecord
from gateway.store.engine import open_store

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


@pytest.mark.parametrize(
    ("options", "found"),
    [
        (("--agent", "proposal"), [1]),
        (("--agent", "flight_search"), [3, 0]),
        (("--tool", "avinode.*"), [3, 1]),
        (("--tool", "weather.current"), [0]),
        (("--outcome", "error"), [1]),
        (("--since", "1h", "--tool", "avinode.*"), [3]),
        (("--until", "1d"), [0]),
        (("--until", "2020-01-01"), []),
        (("--agent", "flight_search", "--limit", "1"), [3]),
    ],
)
def test_records_are_listed_by_who_what_outcome_and_time(cli, stored, options, found):
    shown = json.loads(cli("audit", "list", "--json", *options).out)
    assert [each["id"] for each in shown["items"]] == [stored[number].id for number in found]


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
    assert "agent        flight_search" in out
    assert '"\\u001b[2J"' in out
    assert json.loads(cli("audit", "show", stored[3].id, "--json").out)["id"] == stored[3].id
    assert cli("audit", "show", "none").code == 1


@pytest.mark.parametrize("moment", ["yesterday", "5x", "", "1h30m"])
def test_what_is_no_moment_is_wrong_usage(cli, moment):
    code, _, err = cli("audit", "list", "--since", moment)
    assert code == 2
    assert "write it as 15m, 2h, 7d" in err


class _Growing:
    """An operator whose gateway records more between two questions."""

    def __init__(self, *pages: list[dict[str, Any]]) -> None:
        self.pages = list(pages)

    async def ask(self, method: str, path: str, *, query: Any = None) -> Any:
        return {"items": self.pages.pop(0), "next": None}


async def test_what_is_followed_comes_once_and_oldest_first(monkeypatch):
    monkeypatch.setattr("gateway.cli.audit._POLL_SECONDS", 0)
    old, late, pending = {"id": "2", "outcome": "ok"}, {"id": "1", "outcome": "ok"}, {"id": "3"}
    begun, ended = {**pending, "outcome": "PENDING"}, {**pending, "outcome": "ok"}
    # A call is recorded when it ends, under the id of its start: `late` began before `old`.
    operator: Any = _Growing([old], [begun, old, late], [ended, old, late])
    following = _new(operator, {})
    assert [await anext(following) for _ in range(3)] == [late, begun, ended]
    await following.aclose()
